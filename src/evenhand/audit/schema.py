"""The published form of what `evenhand audit --json` prints; a change that breaks a reader is a new version."""

from importlib.resources import files

__all__ = ["schema_text"]


def schema_text() -> str:
    """JSON Schema (2020-12) of an audit, `evenhand.audit/1`."""
    return files("evenhand.audit").joinpath("data", "audit.schema.json").read_text("utf-8")
