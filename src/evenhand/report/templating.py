"""The one way in which pages are filled in: every template escapes, and a policy allows our own text by its hash."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import BaseLoader, Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from evenhand.report.visible import markup, plain

__all__ = ["digest", "environment", "template_text"]


def environment(**names: Any) -> Environment:
    """Templates that can use these names; text that is no markup yet is escaped when printed, and can hide nothing."""
    loader: BaseLoader = FunctionLoader(template_text)
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_shown
    )
    made.globals.update(names, label=_label)
    return made


@cache
def template_text(name: str) -> str:
    """A file of templates/, as it stands."""
    return files("evenhand.report").joinpath("templates", name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """A script or stylesheet as a content security policy names it.

    >>> digest("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _label(text: str) -> Markup:
    """Text of an attribute, where no mark-up can show what is invisible in it."""
    return escape(plain(text, 200))


def _shown(value: Any) -> Any:
    return markup(value) if isinstance(value, str) and not isinstance(value, Markup) else value
