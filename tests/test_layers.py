"""Who imports whom: downwards only, never in a circle, neither inside a function nor for type hints alone.

Each folder can then be read and tested alone. The imports are read from the syntax, so nothing is executed.
"""

import ast
import graphlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src"

# From the ground up. The parts of one floor do not know each other, save where MAY_ALSO says so.
FLOORS = (
    ("errors",),
    ("terms",),
    ("keys",),
    ("json_text", "wording"),
    ("identity", "repository_text"),
    ("scoring", "stats", "composite", "matching"),
    ("judges", "integrity"),
    ("providers", "sandbox", "trace", "store", "detectors"),
    ("engine", "analysis"),
    ("evaluate",),
    ("audit", "report", "bench"),
    ("cli", "skills"),
    ("__main__",),
)
FLOOR = {part: number for number, parts in enumerate(FLOORS) for part in parts}
GROUND = {"errors", "terms", "keys", "json_text", "wording", "identity", "repository_text"}
MAY_ALSO = {("scoring", "stats")}

# Parts that know less than all the floors below them.
ONLY = {
    **dict.fromkeys(("providers", "sandbox", "trace", "store", "detectors"), GROUND),
    # The engine introduces judges to providers, and meets the store in evaluate alone.
    "engine": GROUND
    | {"scoring", "stats", "composite", "matching", "integrity"}
    | {"judges.protocol", "providers.base"},
}


@cache
def modules() -> dict[str, Path]:
    """Dotted name to file, for every module of the package."""
    names = {}
    for path in sorted((SRC / "evenhand").rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def last_name(called: ast.expr) -> str:
    """What follows the last point: `import_module` of `importlib.import_module`."""
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def imported(module: str, source: str, *, is_package: bool, known: frozenset[str]) -> Iterator[tuple[str, int]]:
    """(imported module of evenhand, line), wherever in the file the import stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".")[: None if is_package else -1]
                above = package[: len(package) - node.level + 1]
                base = ".".join([*above, *([node.module] if node.module else [])])
            # `from package import name` means the module of that name, where there is one.
            names = [f"{base}.{a.name}" if f"{base}.{a.name}" in known else base for a in node.names]
        elif isinstance(node, ast.Call) and last_name(node.func) in ("import_module", "__import__"):
            names = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        else:
            continue
        yield from ((name, node.lineno) for name in names if name.split(".")[0] == "evenhand")


@cache
def imports() -> dict[str, tuple[tuple[str, int], ...]]:
    """Module to what it imports of evenhand."""
    known = frozenset(modules())
    return {
        name: tuple(imported(name, path.read_text("utf-8"), is_package=path.name == "__init__.py", known=known))
        for name, path in modules().items()
    }


def part(module: str) -> str:
    """The folder or file under `evenhand` to which a module belongs; empty for the package itself."""
    return [*module.split("."), ""][1]


def refusal(importer: str, target: str) -> str | None:
    """Why one module may not import another, or None."""
    here, there = part(importer), part(target)
    if here == "":
        return None if there else "the package imports itself"
    if there == "":
        return "the package's own page of names is for users; import the module that holds the name"
    if here == there or (here, there) in MAY_ALSO:
        return None
    if not {here, there} <= set(FLOOR):
        return "one of them has no floor yet"
    if FLOOR[there] == FLOOR[here]:
        return f"{here} and {there} stand on one floor"
    if FLOOR[there] > FLOOR[here]:
        return f"{there} stands above {here}"
    if here in ONLY and there not in ONLY[here] and target.removeprefix("evenhand.") not in ONLY[here]:
        return f"{here} knows only {', '.join(sorted(ONLY[here]))}"
    return None


def test_every_part_has_its_floor() -> None:
    parts = {part(name) for name in modules()} - {""}
    assert parts <= set(FLOOR), f"give these a floor in FLOORS and in the design: {sorted(parts - set(FLOOR))}"


def test_imports_go_downwards_only() -> None:
    wrong = [
        f"{modules()[importer].relative_to(SRC.parent)}:{line}: imports {target}: {reason}"
        for importer, targets in imports().items()
        for target, line in targets
        if (reason := refusal(importer, target))
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_is_in_a_circle() -> None:
    graph = {name: {target for target, _ in targets if target != name} for name, targets in imports().items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail("imports go in a circle: " + " -> ".join(error.args[1]))


@pytest.mark.parametrize(
    ("importer", "target", "allowed"),
    [
        ("evenhand.terms", "evenhand.errors", True),
        ("evenhand.errors", "evenhand.terms", False),
        ("evenhand.scoring.impact", "evenhand.stats.intervals", True),
        ("evenhand.stats.intervals", "evenhand.scoring.impact", False),
        ("evenhand.scoring.impact", "evenhand.judges.parse", False),
        ("evenhand.judges.evidence", "evenhand.scoring.impact", True),
        ("evenhand.store.database.sql", "evenhand.scoring.impact", False),
        ("evenhand.store.database.sql", "evenhand.providers.base", False),
        ("evenhand.engine.run", "evenhand.judges.protocol", True),
        ("evenhand.engine.run", "evenhand.judges.parse", False),
        ("evenhand.engine.run", "evenhand.providers.base", True),
        ("evenhand.engine.run", "evenhand.providers.chat", False),
        ("evenhand.engine.run", "evenhand.store.database.sql", False),
        ("evenhand.analysis.misses", "evenhand.engine.run", False),
        ("evenhand.evaluate", "evenhand.store.database.sql", True),
        ("evenhand.cli.judge", "evenhand.evaluate", True),
        ("evenhand.evaluate", "evenhand.cli.output", False),
        ("evenhand.cli.judge", "evenhand", False),
    ],
)
def test_the_floors_are_read_as_the_design_states_them(importer: str, target: str, allowed: bool) -> None:
    assert (refusal(importer, target) is None) is allowed


@pytest.mark.parametrize(
    "source",
    [
        "import evenhand.cli.output",
        "from evenhand.cli import output",
        "from evenhand.cli.output import shown",
        "from ..cli.output import shown",
        "from ..cli import output",
        "def f():\n    from evenhand.cli.output import shown",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from evenhand.cli.output import shown",
        "import importlib\nimportlib.import_module('evenhand.cli.output')",
    ],
)
def test_an_import_is_seen_wherever_and_however_it_is_written(source: str) -> None:
    known = frozenset({"evenhand.cli", "evenhand.cli.output"})
    found = imported("evenhand.scoring.impact", source, is_package=False, known=known)
    assert [name for name, _ in found] == ["evenhand.cli.output"]
