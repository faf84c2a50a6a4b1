"""Each module says what it offers, and offers what it says. (ruff's RUF022 keeps the lists in order.)"""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src"
MODULES = {
    ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SRC / "evenhand").rglob("*.py"))
    if path.name != "__main__.py"
}


def listed(tree: ast.Module) -> list[str] | None:
    """The contents of `__all__`, or None where there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return None


def defined(body: list[ast.stmt], *, imports: bool) -> Iterator[str]:
    """Names that a module's own statements define; with `imports`, also those it imports, as a package's page does."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif imports and isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from defined(node.body, imports=imports)


@pytest.mark.parametrize("name", MODULES)
def test_all_equals_the_public_contents(name: str) -> None:
    path = MODULES[name]
    tree = ast.parse(path.read_text("utf-8"))
    package = path.name == "__init__.py"
    public = {found for found in defined(tree.body, imports=package) if not found.startswith("_")}
    names = listed(tree)
    if names is None:
        assert not public, f"{name}: public names without __all__; list them or give them an underscore"
        return
    assert len(names) == len(set(names)), f"{name}: __all__ names something twice"
    # A package may hand out names on demand, so that importing it stays cheap: these are tried below.
    lazy = package and "__getattr__" in set(defined(tree.body, imports=False))
    assert public - {"TYPE_CHECKING"} <= set(names), f"{name}: public, but not in __all__"
    assert lazy or set(names) - {"__version__"} <= public, f"{name}: in __all__, but not defined here"


@pytest.mark.parametrize("name", MODULES)
def test_every_listed_name_is_there(name: str) -> None:
    module = importlib.import_module(name)
    assert not [entry for entry in getattr(module, "__all__", ()) if not hasattr(module, entry)]
