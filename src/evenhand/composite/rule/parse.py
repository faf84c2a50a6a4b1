"""A rule's text to its tree, by precedence climbing over tokens; nothing is ever evaluated as Python.

    rule       = { name "=" expression ";" | "missing" "=" policy ";" } ( expression | name "=" expression )
    binding    = or | and | not | < <= > >= == != | + - | * / | unary - | ^ (from the right)
    call       = function "(" argument { "," argument } ")"    argument = expression [ ":" weight ] | option

docs/composites.md describes the language for those who write rules.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NoReturn, TypeGuard, cast

from evenhand.composite.rule.calls import build_call
from evenhand.composite.rule.functions import FUNCTIONS
from evenhand.composite.rule.names import FUNCTION_NAMES, function_named, meant, safe_name, weighed
from evenhand.composite.rule.syntax import (
    Binary,
    ColumnRef,
    Comparison,
    Condition,
    Conditional,
    Expression,
    Logic,
    Missing,
    Negation,
    Node,
    Number,
    Rule,
    Text,
    depth_of,
    size_of,
)
from evenhand.composite.rule.tokens import Token, refuse, tokens_of

__all__ = ["parse_condition", "parse_rule"]

MAX_NESTING = 60
"""Brackets within brackets that are read."""
MAX_DEPTH = 160
"""Levels of a tree; long sums are written sum(...), which is one level."""
MAX_NODES = 20_000
"""Nodes of a tree, definitions written out."""

_BINARY = {"+": 10, "-": 10, "*": 20, "/": 20, "^": 30}
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_UNARY = 25
_LOGIC = {"or": 1, "and": 2}
_NOT, _COMPARISON = 3, 5
_WORDS = ("and", "or", "not")


def parse_rule(text: str, *, columns: Sequence[str] | None = None, aliases: Mapping[str, str] | None = None) -> Rule:
    """The rule that a text states.

    Args:
        text: see docs/composites.md; definitions and sugar are written out in the tree.
        columns: the table's; None leaves names unchecked.
        aliases: name in the rule to name of the column.
    Raises:
        InvalidInput: with the text, a caret below the character that is wrong, and what was expected.

    >>> parse_rule("mean(a, b)") == parse_rule("m = avg(`a`, b); m")
    True
    """
    return _Parser(text, columns, aliases or {}).rule()


def parse_condition(
    text: str, *, columns: Sequence[str] | None = None, aliases: Mapping[str, str] | None = None
) -> Condition:
    """A condition alone, such as `year >= 2012 and country == "FR"`.

    Raises:
        InvalidInput: as `parse_rule`.
    """
    parser = _Parser(text, columns, aliases or {})
    found = parser.condition()
    if parser.token.kind != "end":
        parser.unexpected("the end of the condition")
    return found


class _Parser:
    """One pass over the tokens of one text."""

    def __init__(self, text: str, columns: Sequence[str] | None, aliases: Mapping[str, str]) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.place = 0
        self.nesting = 0
        self.nodes = 0
        self.columns = None if columns is None else dict.fromkeys(columns)
        self.aliases = aliases
        self.definitions: dict[str, Expression] = {}
        self.missing: Missing | None = None

    @property
    def token(self) -> Token:
        """The token that is looked at."""
        return self.tokens[self.place]

    @property
    def ended(self) -> bool:
        """Whether nothing is left."""
        return self.token.kind == "end"

    def take(self) -> Token:
        """The token that is looked at, and on to the next."""
        token = self.token
        self.place += token.kind != "end"
        return token

    def sees(self, *operators: str) -> bool:
        """Whether one of these operators comes next."""
        return self.token.kind == "operator" and self.token.text in operators

    def fail(self, at: int, what: str) -> NoReturn:
        """Point at a character."""
        refuse(self.text, at, what)

    def unexpected(self, wanted: str) -> NoReturn:
        """Say what came instead of what was wanted."""
        token = self.token
        came = "the rule ends" if token.kind == "end" else f"`{safe_name(self.text[token.at : token.end])}` came"
        self.fail(token.at, f"{came}; expected {wanted}")

    def expect(self, operator: str, wanted: str) -> Token:
        """The operator that has to come."""
        if not self.sees(operator):
            self.unexpected(wanted)
        return self.take()

    # --- statements ----------------------------------------------------------------------------------------------

    def rule(self) -> Rule:
        """Definitions and settings, then the expression."""
        found: Expression | None = None
        while not self.ended:
            if self.sees(";"):
                self.take()
                continue
            if found is not None and not self.is_setting():
                self.unexpected("the end, since only definitions (`name = ...;`) stand before the rule's expression")
            found = self.statement() or found
            if not self.ended:
                self.expect(";", "an operator, `;` or the end")
        if found is None:
            self.fail(len(self.text), "a rule has an expression, such as mean(a, b)")
        return Rule(found, self.missing)

    def is_setting(self) -> bool:
        """Whether `missing = ...` comes next."""
        return self.token.text == "missing" and self.tokens[self.place + 1].text == "="

    def statement(self) -> Expression | None:
        """One statement; None for a definition or setting, unless it is the last of the rule."""
        token, after = self.token, self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        if token.kind not in ("name", "quoted") or after.kind != "operator" or after.text != "=":
            return self.numeric(0)
        self.take(), self.take()
        if token.kind == "name" and token.text == "missing":
            if self.missing is not None:
                self.fail(token.at, "`missing` is set twice; set it once")
            self.missing = self.policy()
            return None
        value = self.numeric(0)
        if not self.more():
            return value
        if token.text in (self.columns or ()) or token.text in self.aliases:
            self.fail(token.at, f"`{safe_name(token.text)}` is a column; a definition needs a name of its own")
        if token.text in self.definitions:
            self.fail(token.at, f"`{safe_name(token.text)}` is defined twice")
        self.definitions[token.text] = value
        return None

    def more(self) -> bool:
        """Whether an expression follows: another statement that is no setting."""
        ahead = self.tokens[self.place :]
        words = [token for token in ahead if token.text != ";" or token.kind != "operator"]
        settings = len(words) > 2 and words[0].text == "missing" and words[1].text == "="
        return words[0].kind != "end" and not (settings and words[min(3, len(words) - 1)].kind == "end")

    def policy(self) -> Missing:
        """What stands after `missing =`."""
        token = self.token
        if token.kind == "name" and token.text.lower() in _POLICIES:
            self.take()
            return _POLICIES[token.text.lower()]
        sign = -1.0 if self.sees("-") else 1.0
        if sign < 0:
            self.take()
        if self.token.kind != "number":
            self.unexpected("drop, zero, renormalise or a number")
        return sign * float(self.take().text) + 0.0

    # --- expressions ---------------------------------------------------------------------------------------------

    def numeric(self, least: int) -> Expression:
        """An expression that is a number."""
        at = self.token.at
        found = self.node(least)
        if not _is_expression(found):
            self.fail(at, "a condition stands here; expected a number, such as if(condition, 1, 0)")
        if isinstance(found, Text):
            self.fail(at, "a text stands here; texts can only be compared with a column, in a condition")
        return found

    def condition(self) -> Condition:
        """A condition."""
        at = self.token.at
        found = self.node(0)
        if _is_expression(found) and self.sees("="):
            self.fail(self.token.at, "`=` names a definition; two sides are compared by ==")
        if _is_expression(found):
            self.fail(at, "a number stands here; expected a condition, such as year >= 2012")
        return cast("Condition", found)

    def node(self, least: int) -> Node:
        """What stands here, with every operator that binds more tightly than `least`."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.fail(self.token.at, f"brackets stand more than {MAX_NESTING} deep")
        left = self.prefix()
        while (binding := self.binding()) > least:
            left = self.infix(left, binding)
        self.nesting -= 1
        return left

    def binding(self) -> int:
        """How tightly the operator that comes next binds; 0 where none comes."""
        token = self.token
        if token.kind == "name":
            return _LOGIC.get(token.text.lower(), 0)
        if token.kind != "operator":
            return 0
        return _COMPARISON if token.text in _COMPARISONS else _BINARY.get(token.text, 0)

    def infix(self, left: Node, binding: int) -> Node:
        """An operator and what stands on its right."""
        token = self.take()
        word = token.text.lower()
        if word in _LOGIC and token.kind == "name":
            return self.logic(left, cast('Literal["and", "or"]', word), binding, token)
        if token.text in _COMPARISONS:
            return self.comparison(left, token)
        if not _is_expression(left) or isinstance(left, Text):
            self.fail(token.at, f"`{token.text}` stands behind a {'text' if isinstance(left, Text) else 'condition'}")
        operator = cast('Literal["+", "-", "*", "/", "^"]', token.text)
        right = self.numeric(binding - (operator == "^"))
        return self.counted(Binary(operator, left, right, at=token.at))

    def logic(self, left: Node, word: Literal["and", "or"], binding: int, token: Token) -> Condition:
        """A chain of one word, flat."""
        args = [left, self.node(binding)]
        while self.token.kind == "name" and self.token.text.lower() == word:
            self.take()
            args.append(self.node(binding))
        if any(_is_expression(arg) for arg in args):
            self.fail(token.at, f"`{word}` joins conditions, such as year >= 2012")
        return Logic(word, tuple(cast("list[Condition]", args)), at=token.at)

    def comparison(self, left: Node, token: Token) -> Condition:
        """Two sides; texts only against a column, and only for equality."""
        right = self.node(_COMPARISON)
        if not _is_expression(left) or not _is_expression(right):
            self.fail(token.at, "comparisons do not chain; join them with `and`")
        for text, other in ((left, right), (right, left)):
            if isinstance(text, Text) and (token.text not in ("==", "!=") or not isinstance(other, ColumnRef)):
                self.fail(token.at, "a text is compared with a column, by == or !=")
        if self.sees(*_COMPARISONS, "="):
            self.fail(self.token.at, "comparisons do not chain; join them with `and`")
        operator = cast('Literal["<", "<=", ">", ">=", "==", "!="]', token.text)
        return Comparison(operator, left, right, at=token.at)

    def prefix(self) -> Node:
        """A number, text, column, call, bracket, minus or `not`."""
        token = self.take()
        if token.kind == "number":
            return self.counted(Number(float(token.text), at=token.at))
        if token.kind == "text":
            return self.counted(Text(token.text, at=token.at))
        if token.kind == "quoted":
            return self.column(token)
        if token.kind == "name":
            return self.named(token)
        if token.kind == "operator" and token.text == "(":
            found = self.node(0)
            self.expect(")", "an operator or `)`")
            return found
        if token.kind == "operator" and token.text == "-":
            return self.counted(Negation(self.numeric(_UNARY), at=token.at))
        if token.kind == "operator" and token.text == "+":
            return self.numeric(_UNARY)
        self.place -= token.kind != "end"
        return self.unexpected("a number, a column or a function")

    def named(self, token: Token) -> Node:
        """A word: `not`, a function, a definition, an alias or a column."""
        word = token.text.lower()
        if word == "not":
            found = self.node(_NOT)
            if _is_expression(found):
                self.fail(token.at, "`not` stands before a condition")
            return Logic("not", (cast("Condition", found),), at=token.at)
        if word in _WORDS:
            self.place -= 1
            self.unexpected("a number, a column or a function")
        return self.call(token) if self.sees("(") else self.column(token)

    def column(self, token: Token) -> Expression:
        """A column of the table, or what its name is defined as."""
        name = token.text
        if name in self.definitions:
            found = self.definitions[name]
            self.nodes += size_of(found)
            return self.counted(found)
        target = self.aliases.get(name, name)
        if self.columns is not None and target not in self.columns:
            target = self.in_other_case(target)
        if self.columns is not None and target not in self.columns:
            known = {**self.columns, **dict.fromkeys(self.aliases), **dict.fromkeys(self.definitions)}
            via = f" (alias of `{safe_name(target)}`)" if target != name else ""
            hint = "a function needs brackets: " + name + "(...)" if function_named(name) else meant(target, known)
            self.fail(token.at, f"no column `{safe_name(name)}`{via}; {hint}")
        return self.counted(ColumnRef(target, at=token.at))

    def in_other_case(self, name: str) -> str:
        """The one column that differs in case alone, else that of the one such alias; the name where none does."""
        word = name.casefold()
        same = {column for column in self.columns or () if column.casefold() == word}
        same = same or {column for alias, column in self.aliases.items() if alias.casefold() == word}
        return same.pop() if len(same) == 1 else name

    def counted(self, node: Expression) -> Expression:
        """The node, counted and measured."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self.fail(max(self.token.at - 1, 0), f"the rule has more than {MAX_NODES:,} parts")
        if self.nodes > MAX_DEPTH and depth_of(node) > MAX_DEPTH:
            self.fail(
                max(node.at, 0), f"the rule is more than {MAX_DEPTH} levels deep; write long sums as sum(a, b, ...)"
            )
        return node

    # --- calls ---------------------------------------------------------------------------------------------------

    def call(self, token: Token) -> Node:
        """A function and its arguments."""
        name = function_named(token.text)
        if name is None:
            hint = weighed(token.text) or meant(token.text, FUNCTION_NAMES)
            self.fail(token.at, f"no function `{safe_name(token.text)}`; {hint}")
        self.take()
        if name == "missing":
            return self.is_missing(token)
        if name == "if":
            return self.conditional(token)
        return self.counted(build_call(name, token, *self.arguments(name), fail=self.fail))

    def arguments(self, name: str) -> tuple[list[Expression], list[Expression | None], list[tuple[str, Token]]]:
        """(arguments, their weights, options) up to the closing bracket."""
        args: list[Expression] = []
        weights: list[Expression | None] = []
        options: list[tuple[str, Token]] = []
        while not self.sees(")"):
            option = self.option(name)
            if option is not None:
                options.append(option)
            else:
                args.append(self.numeric(0))
                weights.append(self.weight() if self.sees(":") else None)
            if not self.sees(")"):
                self.expect(",", "an operator, `,` or `)`")
                if self.sees(")"):
                    self.unexpected("another argument")
        self.take()
        return args, weights, options

    def weight(self) -> Expression:
        """What stands after the colon."""
        self.take()
        return self.numeric(0)

    def option(self, name: str) -> tuple[str, Token] | None:
        """`lower`, `higher` or `ties=...`, where the function has such options."""
        function = FUNCTIONS.get(name)
        if function is None or not function.options or self.token.kind != "name":
            return None
        word, after = self.token.text.lower(), self.tokens[self.place + 1]
        if word in ("lower", "higher") and after.text in (",", ")") and "direction" in function.options:
            return "direction", self.take()
        if after.kind != "operator" or after.text != "=":
            return None
        if word not in function.options:
            self.unexpected(f"an option of {name}: {', '.join(function.options)}")
        self.take(), self.take()
        value = self.token
        if value.kind != "name" or value.text.lower() not in function.options[word]:
            self.unexpected(f"one of {', '.join(filter(None, function.options[word]))}")
        return word, self.take()

    def is_missing(self, token: Token) -> Condition:
        """`missing(column)`."""
        column = self.numeric(0)
        if not isinstance(column, ColumnRef):
            self.fail(token.at, "missing(...) asks about one column")
        self.expect(")", "`)`")
        return Comparison("missing", column, column, at=token.at)

    def conditional(self, token: Token) -> Expression:
        """`if(condition, then, otherwise)`."""
        condition = self.condition()
        self.expect(",", "`,` and what holds where the condition does")
        then = self.numeric(0)
        self.expect(",", "`,` and what holds elsewhere")
        otherwise = self.numeric(0)
        self.expect(")", "`)`; for more cases put another if(...) in the last place")
        return self.counted(Conditional(condition, then, otherwise, at=token.at))


_POLICIES: Mapping[str, Missing] = {
    "drop": "drop",
    "zero": 0.0,
    "renormalise": "renormalise",
    "renormalize": "renormalise",
}
Fail = Callable[[int, str], NoReturn]


def _is_expression(node: Node) -> TypeGuard[Expression]:
    return not isinstance(node, Comparison | Logic)
