"""Integrity of an evaluator: the criteria, and how evidence becomes a verdict. PURE."""
