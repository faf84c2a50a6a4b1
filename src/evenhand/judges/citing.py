"""`cite: sentence`: the candidate's sentences are numbered in the prompt, and a reply cites numbers instead of quoting.

Code resolves numbers to text and place, so that what is cited is always the candidate's own words: a quote cannot be
fabricated, and a reply is shorter. What a number cannot show is which words of its sentence were meant.

The field is `"cite": [2, 3]`. Sentences that follow each other are one passage. Several passages are joined by ` … ` in
the quote; the span is that of the first, and the numbers of all stand beside it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from evenhand.errors import UnreadableReply
from evenhand.judges.fit import TEXT
from evenhand.judges.prompts import Prompt
from evenhand.judges.quotes import QuotedText
from evenhand.judges.replies import kind, words
from evenhand.judges.sentences import sentence_spans
from evenhand.terms import Call, Item, QuoteStatus

__all__ = ["Field", "NumberedText", "Passage", "Passages", "QuotedPassages"]

MOST_LISTED = 100
"""The most sentence numbers that a schema lists; vendors limit how many values one may have."""

MOST_CITED = 8
"""The most sentences that a schema lets one entry cite; small models do not stop by themselves."""

WORDING: Mapping[str, Mapping[str, str]] = {
    "quote": {
        "quote_field": '"quote": <the passage, as a JSON string>',
        "quote_of_answer": ("The quote of a yes is the passage that shows it. The quote of a no is an empty string."),
        "quote_that_carries": "the quote that carries it",
        "needs_none": "A yes needs no quote.",
    },
    "sentence": {
        "quote_field": '"cite": <the numbers of the sentences, as a list>',
        "quote_of_answer": "With a yes, cite the sentences that show it. With a no, cite none: the list is empty.",
        "quote_that_carries": "the numbers of the sentences that carry it",
        "needs_none": "A yes needs no citation.",
    },
}
"""What templates say about quoting, by the judge's `cite`."""

_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


Field = Mapping[str, Mapping[str, Any]]


class Passage(NamedTuple):
    """The passage that an entry of a reply points at; a tuple, since one is made for every entry of every reply.

    Args:
        quote: its text; passages that do not touch are joined by ` … `.
        status: `exact` for whatever is cited by number; `absent` where nothing is.
        span: [start, end) in code points of the candidate; of the first passage, where there are several.
        gap: what an ellipsis left out, for `elided`.
        sentences: the numbers cited, rising, each once; None where passages are quoted.
    """

    quote: str
    status: QuoteStatus
    span: tuple[int, int] | None = None
    gap: str | None = None
    sentences: tuple[int, ...] | None = None


NONE_CITED = Passage("", "absent", sentences=())


class QuotedPassages(QuotedText):
    """A candidate that is quoted, word for word."""

    __slots__ = ()

    def passage(self, entry: Mapping[str, Any], what: str) -> Passage | None:
        """What an entry quotes; None where the field is missing or null.

        Raises:
            UnreadableReply: the quote is no string.
        """
        quote = words(entry, "quote", what)
        if not quote:
            return None if quote is None else Passage("", "absent")
        place = self.find(quote)
        return Passage(quote, place.status, place.span, place.gap)


class NumberedText:
    """A candidate with numbered sentences.

    >>> text = NumberedText("One here. Two here. And three.")
    >>> print(text.shown)
    [1] One here.
    [2] Two here.
    [3] And three.
    >>> text.passage({"cite": [3, 1, 2]}, "a check").quote
    'One here. Two here. And three.'
    """

    __slots__ = ("_spans", "candidate")

    def __init__(self, candidate: str) -> None:
        self.candidate = candidate
        self._spans = sentence_spans(candidate)

    def __len__(self) -> int:
        """How many sentences there are."""
        return len(self._spans)

    @property
    def shown(self) -> str:
        """The candidate as the prompt shows it: a line a sentence, so that no line but these begins with a number.

        Blank lines and indentation stay; a line break inside a sentence is shown as a space.
        """
        lines, before = [], 0
        for number, (start, end) in enumerate(self._spans, start=1):
            *breaks, indent = _BREAK.split(self.candidate[before:start])
            blank = "\n" if len(breaks) > 1 and number > 1 else ""
            kept = indent if breaks or number == 1 else ""
            lines.append(f"{blank}[{number}] {kept}{_BREAK.sub(' ', self.candidate[start:end])}")
            before = end
        return "\n".join(lines)

    def passage(self, entry: Mapping[str, Any], what: str) -> Passage | None:
        """What an entry cites; None where the field is missing or null.

        Raises:
            UnreadableReply: it is no list of numbers that the candidate's sentences have.
        """
        numbers = entry.get("cite")
        if numbers is None:
            return None
        if not isinstance(numbers, list):
            raise UnreadableReply(f'{what}: "cite" is {kind(numbers)}; expected a list of sentence numbers')
        if not numbers:
            return NONE_CITED
        sentences = tuple(sorted({self._number(number, what) for number in numbers}))
        spans = _runs(sentences, self._spans)
        quote = " … ".join([self.candidate[start:end] for start, end in spans])
        return Passage(quote, "exact", spans[0], sentences=sentences)

    def _number(self, value: object, what: str) -> int:
        """One sentence's number; 3.0 is 3."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= len(self):
            return value
        has = f"1 to {len(self)}" if len(self) > 1 else "1 alone" if len(self) else "none: it says nothing"
        raise UnreadableReply(f'{what}: "cite" holds {kind(value)}; the numbers of the sentences are {has}')


class Passages:
    """How a judge asks for passages, by its `cite`; the same for every protocol that asks for any.

    Args:
        cite: the judge's setting.
        schema: from the field that points at a passage to the schema of a reply.
    """

    def __init__(self, cite: Literal["quote", "sentence"], schema: Callable[[Field], dict[str, Any]]) -> None:
        self.wording = WORDING[cite]
        self.cites = cite == "sentence"
        self.field, self.kind = ("cite", "a list of sentence numbers") if self.cites else ("quote", "a string")
        self._make = schema
        self._made: dict[int, dict[str, Any]] = {}
        self.schema = self._schema(0) if self.cites else schema({"quote": TEXT})

    def of(self, candidate: str) -> QuotedPassages | NumberedText:
        """A candidate whose passages can be pointed at."""
        return NumberedText(candidate) if self.cites else QuotedPassages(candidate)

    def call(
        self, prompt: Prompt, item: Item, text: QuotedPassages | NumberedText, *, model: str, rerun: int, attempt: int
    ) -> Call:
        """The first call about an item, with its sentences numbered where they are cited."""
        if isinstance(text, QuotedPassages):
            return prompt.call(item, model=model, rerun=rerun, attempt=attempt)
        call = prompt.call(replace(item, candidate=text.shown), model=model, rerun=rerun, attempt=attempt)
        return replace(call, schema=self._schema(len(text)))

    def _schema(self, n_sentences: int) -> dict[str, Any]:
        """The schema for so many sentences, made once, since endpoints keep its rendering by identity."""
        n = n_sentences if n_sentences <= MOST_LISTED else 0
        if n not in self._made:
            number: dict[str, Any] = {"type": "integer", "enum": list(range(1, n + 1))} if n else {"type": "integer"}
            cited = {"type": "array", "items": number, "maxItems": min(n or MOST_CITED, MOST_CITED)}
            self._made[n] = self._make({"cite": cited})
        return self._made[n]


def _runs(sentences: tuple[int, ...], spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans of runs of sentences that follow each other."""
    found: list[tuple[int, int]] = []
    previous = 0
    for number in sentences:
        start, end = spans[number - 1]
        if found and number == previous + 1:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
        previous = number
    return found
