"""Arrays to estimates: plain functions, no I/O."""
