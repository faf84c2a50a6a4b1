r"""Ignore rules of a repository: the lines of `.gitignore` files, as git reads them.

    rules = IgnoreRules.of("node_modules/\n*.log\n!keep.log\n", folder="")
    rules.verdict("src/a.log", is_folder=False)      True: ignored, False: taken back by `!`, None: not spoken of

Written here, since git itself must not be run on a repository of a stranger (its settings name programs to run), and
the tests hold it to git's own answers. What is in an ignored folder cannot be taken back, as with git: callers do not
go into one. Rules are the candidate's own and only leave files out; they never cause one to be read.
"""

import re
from dataclasses import dataclass

__all__ = ["IgnoreRules"]

_MOST_RULES = 1_000  # of one file; more are no rules that people write
_LONGEST = 500
_MOST_CROSSINGS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One line: what it matches, whether it takes back, whether it speaks of folders alone."""

    pattern: re.Pattern[str]
    takes_back: bool
    folders_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoreRules:
    """The rules of one `.gitignore`.

    Args:
        folder: the folder that it lies in, with `/`; empty for the top.
    """

    folder: str
    rules: tuple[_Rule, ...]

    @classmethod
    def of(cls, text: str, folder: str) -> "IgnoreRules":
        """The rules of a file's text; a line that git could not read either is passed over."""
        lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")[:_MOST_RULES]
        return cls(folder=folder, rules=tuple(rule for line in lines if (rule := _rule(line)) is not None))

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        r"""Whether a path below the rules' folder is ignored; None where no rule speaks of it. The last one decides.

        >>> rules = IgnoreRules.of("*.log\n!keep.log\nbuild/\n", folder="")
        >>> [rules.verdict(name, is_folder=False) for name in ("a/b.log", "keep.log", "build", "a.py")]
        [True, False, None, None]
        """
        inside = path[len(self.folder) + 1 :] if self.folder else path
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(inside):
                return not rule.takes_back
        return None


def _rule(line: str) -> _Rule | None:
    """One line of the file; None for a blank one, a comment, or a broken pattern."""
    if line.startswith("#") or len(line) > _LONGEST:
        return None
    text = _without_trailing_spaces(line)
    takes_back = text.startswith("!")
    text = text[1:] if takes_back else text
    folders_only = text.endswith("/")
    text = text[:-1] if folders_only else text
    if not text or text == "/":
        return None
    anchored = "/" in text
    source = _expression(text.removeprefix("/"))
    if source is None:
        return None
    try:
        pattern = re.compile(source if anchored else f"(?:[^/]+/)*{source}", re.DOTALL)
    except re.error:
        return None
    return _Rule(pattern=pattern, takes_back=takes_back, folders_only=folders_only)


def _without_trailing_spaces(line: str) -> str:
    """The line without spaces at its end, unless a backslash keeps one."""
    stripped = line.rstrip(" ")
    slashes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if slashes % 2 and stripped != line else stripped


def _expression(text: str) -> str | None:
    """A pattern as a regular expression: `*` and `?` stay within a name, `**` between slashes crosses folders.

    What follows a `*` is looked for once, from the left, which decides (as for `fnmatch`): a stranger's pattern with
    many stars costs no more than its length. None for a broken pattern, or one that crosses folders too often.
    """
    stretches: list[list[str]] = [[]]  # what stands between the stars
    at = crossings = 0
    while at < len(text):
        if text.startswith("**/", at) and (at == 0 or text[at - 1] == "/"):
            stretches[-1].append("(?:[^/]+/)*")
            crossings += 1
            at += 3
        elif text[at:] == "**" and at and text[at - 1] == "/":
            stretches[-1].append(".+")
            at += 2
        elif text[at] == "*":
            at = len(text) - len(text[at:].lstrip("*"))
            stretches.append([])
        else:
            atom = _atom(text, at)
            if atom is None:
                return None
            stretches[-1].append(atom[0])
            at = atom[1]
    if crossings > _MOST_CROSSINGS:
        return None
    first, *others = ["".join(atoms) for atoms in stretches]
    if not others:
        return first
    *inner, last = others
    return first + "".join(f"(?>[^/]*?{one})" for one in inner) + f"[^/]*{last}"


def _atom(text: str, at: int) -> tuple[str, int] | None:
    """One character, escaped character or set, and where it ends."""
    if text[at] == "[":
        return _bracket(text, at)
    if text[at] == "\\":
        return None if at + 1 == len(text) else (re.escape(text[at + 1]), at + 2)
    return "[^/]" if text[at] == "?" else re.escape(text[at]), at + 1


def _bracket(text: str, at: int) -> tuple[str, int] | None:
    """A set of characters, and where it ends; None if it does not."""
    end = at + 1
    negated = text[end : end + 1] in ("!", "^") and text[end : end + 1] != ""
    end += negated
    start = end
    if text[end : end + 1] == "]":
        end += 1
    while end < len(text) and text[end] != "]":
        if text.startswith("[:", end) and ":]" in text[end + 2 :]:
            end = text.index(":]", end + 2) + 2
        else:
            end += 2 if text[end] == "\\" else 1
    if end >= len(text):
        return None
    inner = text[start:end]
    for name, members in _CLASSES.items():
        inner = inner.replace(f"[:{name}:]", members)
    inner = inner.replace("[", "\\[")
    inner = "\\" + inner if inner.startswith(("]", "^")) else inner
    return f"(?!/)[{'^' if negated else ''}{inner}]", end + 1


_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "upper": "A-Z",
    "space": r"\s",
    "xdigit": "0-9A-Fa-f",
}
