"""Each module says what it offers, and offers what it says. (ruff's RUF022 keeps the lists in order.)"""

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src"
MODULES = {
    ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SRC / "evenhand").rglob("*.py"))
    if path.name != "__main__.py"
}


@cache
def parsed(name: str) -> ast.Module:
    """The syntax of a module."""
    return ast.parse(MODULES[name].read_text("utf-8"))


def listed(tree: ast.Module) -> list[str] | None:
    """The contents of `__all__`, or None where there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return None


def defined(body: list[ast.stmt]) -> Iterator[str]:
    """Functions and classes that a module's own statements define."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from defined(node.body)


@pytest.mark.parametrize("name", MODULES)
def test_all_equals_the_public_contents(name: str) -> None:
    """What a module defines is listed or has an underscore. Constants may be either: a name explains a number."""
    tree = parsed(name)
    public = {found for found in defined(tree.body) if not found.startswith("_")}
    names = listed(tree)
    if names is None:
        assert not public, f"{name}: public names without __all__; list them or give them an underscore"
        return
    assert len(names) == len(set(names)), f"{name}: __all__ names something twice"
    assert public <= set(names), f"{name}: public, but not in __all__"
    private = {entry for entry in names if entry.startswith("_") and not entry.startswith("__")}
    assert not private, f"{name}: private, but in __all__"


@pytest.mark.parametrize("name", MODULES)
def test_nothing_is_listed_that_another_module_defines(name: str) -> None:
    """One place for each name; only a package's own page hands on what its modules define."""
    path = MODULES[name]
    if path.name != "__init__.py":
        tree = parsed(name)
        handed_on = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not handed_on & set(listed(tree) or ())


@pytest.mark.parametrize("name", MODULES)
def test_every_listed_name_is_there(name: str) -> None:
    module = importlib.import_module(name)
    assert not [entry for entry in getattr(module, "__all__", ()) if not hasattr(module, entry)]
