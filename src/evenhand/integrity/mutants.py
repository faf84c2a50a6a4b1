"""Mutants: a right implementation with one small fault each, as people make them.

Each is made from the syntax tree by one change; what the change means is in its label. Whether a mutant is incorrect is
not known here: the checks decide, and one that passes them all says nothing.
"""

import ast
import copy
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Mutant", "mutants"]

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add,), ast.Div: (ast.FloorDiv,),
    ast.FloorDiv: (ast.Div,), ast.Mod: (ast.FloorDiv,), ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,), ast.BitXor: (ast.BitOr,),
    ast.LShift: (ast.RShift,), ast.RShift: (ast.LShift,),
}  # fmt: skip
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "abs": "int", "upper": "lower",
           "lower": "upper", "append": "extend", "startswith": "endswith", "endswith": "startswith"}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One mutant: what was changed, and the whole module."""

    label: str
    code: str


def mutants(source: str, entry_point: str, *, most: int, seed: int) -> tuple[Mutant, ...]:
    """Mutants of a module, each another program than the rest.

    Only what stands in functions is changed, and never a docstring, an annotation or an import.

    Args:
        source: a right implementation, a whole module; it is parsed, never run.
        entry_point: the function that checks call.
        most: how many; where more can be made, as many are drawn.
        seed: of the drawing.
    Raises:
        SyntaxError: the source is not Python, or has no function of that name.

    >>> [made.label for made in mutants("def f(a): return a < 2", "f", most=9, seed=0)]
    ['line 1: returns None', 'line 1: a < 2 as a <= 2', 'line 1: a < 2 as a > 2', 'line 1: 2 as 3', 'line 1: 2 as 1']
    """
    tree = _parsed(source, entry_point)
    inside = _inside(tree)
    places = [
        (number, label, change)
        for number, node in enumerate(ast.walk(tree))
        if number in inside
        for label, change in _changes(node)
    ]
    order: Sequence[int] = range(len(places))
    if len(order) > most:
        order = sorted(order, key=lambda which: hashlib.sha256(f"{seed} {which}".encode()).digest())
    known = {ast.unparse(tree)}
    made: dict[int, Mutant] = {}
    for which in order:
        number, label, change = places[which]
        code = _applied(tree, number, change)
        if code is not None and code not in known and len(made) < most:
            known.add(code)
            made[which] = Mutant(label=label, code=code)
        if len(made) == most:
            break
    return tuple(made[which] for which in sorted(made))


def _parsed(source: str, entry_point: str) -> ast.Module:
    try:
        tree = ast.parse(source)
    except (ValueError, RecursionError, MemoryError) as error:  # a null byte, or nested too deep
        raise SyntaxError(str(error)) from error
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    if entry_point not in names:
        raise SyntaxError(f"it has no function {entry_point}")
    return tree


def _applied(tree: ast.Module, number: int, change: "Change") -> str | None:
    """The module with one change; None where that is no program."""
    other = copy.deepcopy(tree)
    change(next(found for place, found in enumerate(ast.walk(other)) if place == number))
    try:
        code = ast.unparse(ast.fix_missing_locations(other))
        ast.parse(code)
    except (ValueError, RecursionError, SyntaxError):
        return None
    return code


def _inside(tree: ast.Module) -> frozenset[int]:
    """Numbers, in the order of `ast.walk`, of what is code of a function: no docstring, no annotation."""
    numbers = {id(node): number for number, node in enumerate(ast.walk(tree))}
    found: set[int] = set()
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        found |= {numbers[id(node)] for statement in body for node in _code(statement)}
    return frozenset(found)


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is below it, without annotations and inner functions, which have their own turn."""
    if isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _code(child)


Change = Callable[[ast.AST], None]


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """What can be changed at one node, each with its label."""
    for kind, make in _MAKERS:
        if isinstance(node, kind):
            yield from ((f"line {getattr(node, 'lineno', 0)}: {label}", change) for label, change in make(node))


def _comparisons(node: ast.Compare) -> Iterator[tuple[str, Change]]:
    for place, operator in enumerate(node.ops):
        for other in _COMPARED.get(type(operator), ()):
            yield _labelled(node, _replaced("ops", other, place))


def _operations(node: ast.BinOp | ast.AugAssign) -> Iterator[tuple[str, Change]]:
    for other in _COMPUTED.get(type(node.op), ()):
        yield _labelled(node, _replaced("op", other))


def _connections(node: ast.BoolOp) -> Iterator[tuple[str, Change]]:
    yield _labelled(node, _replaced("op", ast.Or if isinstance(node.op, ast.And) else ast.And))


def _constants(node: ast.Constant) -> Iterator[tuple[str, Change]]:
    value = node.value
    others: tuple[object, ...] = ()
    if isinstance(value, bool):
        others = (not value,)
    elif isinstance(value, int | float) and abs(value) < 1e12:
        others = (value + 1, value - 1)
    elif isinstance(value, str):
        others = ("",) if value else ("x",)
    for other in others:
        yield _labelled(node, _set("value", other))


def _conditions(node: ast.If | ast.While | ast.IfExp) -> Iterator[tuple[str, Change]]:
    def negate(found: ast.AST) -> None:
        found.test = ast.UnaryOp(op=ast.Not(), operand=found.test)  # type: ignore[attr-defined]

    if not isinstance(node, ast.While):  # a loop with its condition turned seldom ends
        yield f"if {_short(node.test)} as if not", negate


def _negations(node: ast.UnaryOp) -> Iterator[tuple[str, Change]]:
    if isinstance(node.op, ast.Not):
        yield _labelled(node, _replaced("op", _Nothing))
    elif isinstance(node.op, ast.USub):
        yield _labelled(node, _replaced("op", ast.UAdd))


class _Nothing(ast.Not):
    """Stands for a `not` that was taken out; written as two of them."""


def _calls(node: ast.Call) -> Iterator[tuple[str, Change]]:
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if name in _CALLED:
        field = "id" if isinstance(function, ast.Name) else "attr"

        def rename(found: ast.AST) -> None:
            setattr(found.func, field, _CALLED[name])  # type: ignore[attr-defined]

        yield _labelled(node, rename)


def _returns(node: ast.Return) -> Iterator[tuple[str, Change]]:
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield "returns None", _set("value", None)


def _blocks(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """A statement left out of a block of several; an assignment or a call, since the rest steers the function."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and len(body) > 1:
        for place, statement in enumerate(body):
            if isinstance(statement, ast.AugAssign | ast.Expr | ast.If | ast.Break | ast.Continue):
                yield f"without {_short(statement)}", _dropped(place)


def _set(field: str, value: object) -> Change:
    return lambda found: setattr(found, field, value)


def _dropped(place: int) -> Change:
    def drop(found: ast.AST) -> None:
        del found.body[place]  # type: ignore[attr-defined]

    return drop


def _replaced(field: str, kind: type[ast.AST], place: int | None = None) -> Change:
    """A field, or one place of it, as another kind of node."""

    def replace(found: ast.AST) -> None:
        if kind is _Nothing:
            found.operand = ast.UnaryOp(op=ast.Not(), operand=found.operand)  # type: ignore[attr-defined]
        elif place is None:
            setattr(found, field, kind())
        else:
            getattr(found, field)[place] = kind()

    return replace


def _labelled(node: ast.AST, change: Change) -> tuple[str, Change]:
    other = copy.deepcopy(node)
    change(other)
    return f"{_short(node)} as {_short(ast.fix_missing_locations(other))}", change


def _short(node: ast.AST) -> str:
    line = ast.unparse(node).split("\n")[0]
    return line if len(line) <= 40 else line[:39] + "…"


_MAKERS: tuple[tuple[type[ast.AST] | tuple[type[ast.AST], ...], Callable[..., Iterator[tuple[str, Change]]]], ...] = (
    (ast.Compare, _comparisons), ((ast.BinOp, ast.AugAssign), _operations), (ast.BoolOp, _connections),
    (ast.Constant, _constants), ((ast.If, ast.IfExp), _conditions), (ast.UnaryOp, _negations), (ast.Call, _calls),
    (ast.Return, _returns), ((ast.If, ast.For, ast.While, ast.With), _blocks),
)  # fmt: skip
