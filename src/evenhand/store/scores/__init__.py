"""Scores of any system as one typed table, from CSV, JSON, Parquet and evenhand's own records."""
