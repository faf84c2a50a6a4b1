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
    """

    text: str | None
    form: str


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


def _boxes(text: str) -> tuple[list[Statement], int]:
    found, at, last_end = [], 0, -1
    while (start := _BOX.search(text, at)) is not None:
        if start[1] is None:  # `\boxed 5`: the next character or word
            rest = re.match(r"[^\s$.,;]++", text[start.end() : start.end() + 200])
            found.append(Statement(text=rest.group() if rest else None, form="box"))
            at = last_end = start.end() + (rest.end() if rest else 0)
            continue
        end = _closed(text, start.end())
        if end is None:
            return [*found, Statement(text=None, form="box")], len(text)
        found.append(Statement(text=text[start.end() : end].strip(), form="box"))
        at = last_end = end + 1
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


def _marked(text: str, *, lettered: bool) -> tuple[Statement, int] | None:
    ends = [(found.start(), found.end()) for found in _MARKER.finditer(text)]
    for start, end in reversed(ends):
        form = text[start:end].strip(" :\t\n\"'")
        is_key = text[start:end].rstrip().endswith(('":', "':"))
        payload = _of_key(text, end) if is_key else _payload(text, end)
        if (lettered or form.casefold() != "a") and payload:
            return Statement(text=payload, form=form), start
    return None


_KEPT = re.compile(r"""\s*+(?:"((?:[^"\\]|\\.)*+)"|'((?:[^'\\]|\\.)*+)'|([^,}\]\n"']++))""", re.DOTALL)


def _of_key(text: str, at: int) -> str:
    """The value of a key of an object, `"answer": "5"`, as it is written but for its quotation marks."""
    found = _KEPT.match(text, at)
    return "" if found is None else next((part for part in found.groups() if part is not None), "").strip()


def _payload(text: str, at: int) -> str:
    """The rest of a line, or the next one that is not empty."""
    end = text.find("\n", at)
    line = text[at : len(text) if end < 0 else end].strip()
    if line or end < 0:
        return line
    rest = _NEXT_LINE.match(text, end)
    return "" if rest is None or _MARKER.match(rest[1]) else rest[1].strip()


_NEXT_LINE = re.compile(r"\s*+([^\n]++)")
