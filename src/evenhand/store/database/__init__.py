"""The SQLite file: replies by the key of their call, texts by their hash, regimes by their model."""
