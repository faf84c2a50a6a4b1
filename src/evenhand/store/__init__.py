"""The disk: replies in SQLite, and the files that users write and read."""
