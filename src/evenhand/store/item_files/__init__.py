"""How items lie in files: rows, tables and folders, and which column is which field."""
