"""The keys of a judge file, a group of them a module."""
