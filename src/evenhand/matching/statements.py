r"""Where a text states its final answer: a box, or a line that says so. Nothing is taken from anywhere else.

The forms: `\boxed{...}` and `\fbox{...}` with braces matched; `#### 18` as in GSM8K; `A: 18` and `Answer: 18` at the
beginning of a line, in a dozen languages; `the final answer is 18`; the key of an object, `"answer": "18"`. Of several
lines the last counts. Two boxes with different contents, or a box and a later line that differ, are left to the caller,
who knows when two answers agree.
"""

import re
from dataclasses import dataclass

__all__ = ["Statement", "boxes", "statements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One stated answer.

    Args:
        text: what is stated; None where a box is never closed.
        form: `box`, or the words of the marker.
        before: a few words before it, on the same line.
        after: what follows it, as far as that may take it back.
    """

    text: str | None
    form: str
    before: str = ""
    after: str = ""


_BOX = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])\s*+(\{)?")
_WORDS = (
    "answer|antwort|ergebnis|lösung|réponse|reponse|respuesta|resposta|risposta|antwoord|svar|odpowiedź|odpověď|vastaus"
    "|cevap|jawaban|ответ|відповідь|答え|答案|解答|正解|答|정답|답|الإجابة|الجواب|उत्तर|câu trả lời|đáp án"
)
_BEING = "is|are|was|would be|should be|equals|是|は|ist|lautet|est|es|è|é"
_MARKER = re.compile(
    rf"####[ \t]*+"
    rf"|^[^\S\n]*+a[ \t]*+:(?!:)[ \t]*+"
    rf"|(?<![^\W\d_])(?:{_WORDS})(?![A-Za-z])[\"']?[ \t]*+(?:[=:]|(?:{_BEING})(?![^\W\d_]))[ \t]*+(?::[ \t]*+)?",
    re.IGNORECASE | re.MULTILINE,
)


def statements(text: str, *, lettered: bool = True) -> list[Statement]:
    r"""Every box, in order, then the last marked line if it stands behind the last box or there is no box.

    Args:
        text: a text without Markdown.
        lettered: whether `A:` at the beginning of a line marks an answer; not so where A may be an option.

    >>> [s.text for s in statements(r"So \boxed{\frac{1}{2}}. Final answer: 0.5")]
    ['\\frac{1}{2}', '0.5']
    """
    boxed, last_end = _boxes(text)
    line = _marked(text, lettered=lettered)
    if line is None or _BOX.search(line[0].text or "") or line[1] < last_end:
        return boxed
    return [*boxed, line[0]]


def boxes(text: str) -> list[Statement]:
    r"""The contents of every `\boxed{...}` and `\fbox{...}`, outermost ones only."""
    return _boxes(text)[0]


_NEAR_BEFORE = 60  # characters
_NEAR_AFTER = 200


def _boxes(text: str) -> tuple[list[Statement], int]:
    found: list[Statement] = []
    at, last_end = 0, -1
    while (start := _BOX.search(text, at)) is not None:
        before = text[max(at, start.start() - _NEAR_BEFORE) : start.start()].rpartition("\n")[2]
        if start[1] is None:  # `\boxed 5`: the next character or word
            rest = re.match(r"[^\s$.,;]++", text[start.end() : start.end() + 200])
            at = last_end = start.end() + (rest.end() if rest else 0)
            content = rest.group() if rest else None
        else:
            end = _closed(text, start.end())
            if end is None:
                return [*found, Statement(text=None, form="box")], len(text)
            content = text[start.end() : end].strip()
            at = last_end = end + 1
        found.append(Statement(text=content, form="box", before=before, after=text[at : at + _NEAR_AFTER]))
    return found, last_end


_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def _closed(text: str, at: int) -> int | None:
    """Where the brace that opened before `at` is closed."""
    depth = 1
    for found in _BRACE.finditer(text, at):
        if found.group() == "{":
            depth += 1
        elif found.group() == "}":
            depth -= 1
            if depth == 0:
                return found.start()
    return None


_ANOTHERS = re.compile(
    r"(?<![A-Za-z])(?:(?:wrong|incorrect|false|student(?:'s|s)?|user(?:'s)?|candidate(?:'s)?|previous|earlier|old|another"
    r"|other|alternative)(?: final)?|(?:not|never|doubt|n't)(?: [a-z]++){0,3}?)\s$|n't(?: [a-z]++){0,3}?\s$",
    re.IGNORECASE,
)


def _marked(text: str, *, lettered: bool) -> tuple[Statement, int] | None:
    """The last line that states an answer of the text's own: not the wrong one, a student's or the previous one."""
    ends = [(found.start(), found.end()) for found in _MARKER.finditer(text)]
    for start, end in reversed(ends):
        before = text[max(0, start - _NEAR_BEFORE) : start].rpartition("\n")[2]
        if _ANOTHERS.search(before):
            continue
        form = text[start:end].strip(" :\t\n\"'")
        is_key = text[start:end].rstrip().endswith(('":', "':"))
        payload, past = _of_key(text, end) if is_key else _payload(text, end)
        if (lettered or form.casefold() != "a") and payload:
            return Statement(text=payload, form=form, before=before, after=text[past : past + _NEAR_AFTER]), start
    return None


_KEPT = re.compile(r"""\s*+(?:"((?:[^"\\]|\\.)*+)"|'((?:[^'\\]|\\.)*+)'|([^,}\]\n"']++))""", re.DOTALL)


def _of_key(text: str, at: int) -> tuple[str, int]:
    """The value of a key of an object, `"answer": "5"`, as it is written but for its quotation marks; and its end."""
    found = _KEPT.match(text, at)
    if found is None:
        return "", at
    return next((part for part in found.groups() if part is not None), "").strip(), found.end()


def _payload(text: str, at: int) -> tuple[str, int]:
    """The rest of a line, or the next one that is not empty; and where it ends."""
    end = text.find("\n", at)
    line = text[at : len(text) if end < 0 else end].strip()
    if line or end < 0:
        return line, len(text) if end < 0 else end
    rest = _NEXT_LINE.match(text, end)
    return ("", end) if rest is None or _MARKER.match(rest[1]) else (rest[1].strip(), rest.end())


_NEXT_LINE = re.compile(r"\s*+([^\n]++)")
