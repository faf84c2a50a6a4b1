"""The rule language: its text to a tree, the tree printed back, and its value or the interval of it on every row."""
