"""PURE: whether two answers are the same, decided outside any model. What is slow or unsure is passed in, or left open."""
