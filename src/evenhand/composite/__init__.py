"""PURE: composite scores. A rule is parsed, never evaluated as Python; a table is columns of printed numbers."""
