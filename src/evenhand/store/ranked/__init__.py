"""Published tables with components and a composite, from CSV, JSON, Parquet, Markdown and HTML."""
