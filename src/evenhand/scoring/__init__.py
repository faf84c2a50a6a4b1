"""Verdicts and evidence to scores: plain functions, no I/O."""
