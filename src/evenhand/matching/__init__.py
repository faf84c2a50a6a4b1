"""PURE: whether two answers are the same, decided outside any model; what is slow is passed in."""
