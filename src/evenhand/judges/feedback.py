"""Advice to the author from what was found: one call in prose at the end, which never touches the score.

The call sees the items that count, each with its quotation and its place (`path:line`, a time), and no impact. Code
bounds the words and looks at each place that the text cites: one that no finding has is counted in a flag, since a
reader would look there in vain. Advice that cannot be had leaves the verdict as it is, and a flag names the cause.
"""

import json
import re
from collections.abc import Mapping, Sequence

from evenhand.errors import UnreadableReply
from evenhand.judges.asking import Asking, ask
from evenhand.judges.parse import prose
from evenhand.judges.places import TIME, place_of
from evenhand.judges.prompts import Fence, Template, fill, template_text
from evenhand.keys import bare, content_key
from evenhand.terms import Call, Evidence, Item, JudgeSpec, Message

__all__ = ["MOST_WORDS", "FeedbackPrompt", "bounded", "feedback_flags"]

MOST_WORDS = 800

_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]」』]*$")
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # Japanese and Chinese, which put no space between words
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_PLACE = re.compile(r"(?P<path>[^\s:()\[\]`'\",;]+\.[\w]+):(?P<line>\d+)(?!\d)")
_FOR, _AGAINST = "speaks for the work", "speaks against the work"


class FeedbackPrompt:
    """What is asked for, and how the reply is read.

    Args:
        spec: the judge file.
        templates: prompt templates by file name.
    """

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        self._spec = spec
        self._system = Message(role="system", text=fill(templates, "feedback.md", {"words": str(MOST_WORDS)}))
        self._repair = Template(template_text(templates, "repair.md").strip("\n"), name="repair.md", known=("problem",))
        self._fence = Fence(bare(content_key({"feedback": self._system.text})))

    def asking(self, items: Sequence[Evidence], item: Item, *, model: str, rerun: int, attempt: int) -> Asking[str]:
        """Ask for advice on the items that count."""
        call = Call(
            model=model,
            messages=(self._system, Message(role="user", text=self._text(items, item))),
            schema_name="feedback",
            temperature=self._spec.temperature,
            max_tokens=self._spec.max_tokens,
            member=model,
            rerun=rerun,
            attempt=attempt,
        )
        return ask(call, _prose, lambda wrong: self._repair.fill({"problem": wrong}))

    def _text(self, items: Sequence[Evidence], item: Item) -> str:
        """The findings, one JSON object a line, fenced."""
        lines = [_line(one, item) for one in items]
        mark = self._fence.mark(lines)
        fenced = "\n".join([f"{mark} FINDINGS BEGIN", *lines, f"{mark} FINDINGS END"])
        return f"The mark of this message is {mark}.\n\n{fenced}"


def bounded(text: str, most: int = MOST_WORDS) -> tuple[str, bool]:
    """At most so many words of a text, up to a sentence end where one lies in the last half; and whether it was cut.

    A Chinese or Japanese character is one word.

    >>> bounded("One two three. Four five.", 4)
    ('One two three.', True)
    """
    ends = [found.end() for found in _WORD.finditer(text)]
    if len(ends) <= most:
        return text.strip(), False
    kept = text[: ends[most - 1]]
    for number in range(most - 1, most // 2 - 1, -1):
        if _SENTENCE_END.search(text[: ends[number]]):
            return text[: ends[number]].strip(), True
    return kept.strip(), True


def feedback_flags(text: str, items: Sequence[Evidence], item: Item, *, cut: bool) -> tuple[str, ...]:
    """`feedback_cut`, and `feedback_places_unknown:N` for places that are cited and that no finding has."""
    known = [place for one in items if (place := place_of(item, one.span, one.source)) is not None]
    times = {found[0] for source in item.sources.values() for found in TIME.finditer(source)}
    cited = {(found["path"], int(found["line"])) for found in _PLACE.finditer(text)}
    unknown = sum(not any(_is_within(path, line, place) for place in known) for path, line in cited)
    unknown += len({found[0] for found in TIME.finditer(text)} - times)
    return (*(("feedback_cut",) if cut else ()), *((f"feedback_places_unknown:{unknown}",) if unknown else ()))


def _is_within(path: str, line: int, place: str) -> bool:
    """Whether a cited line lies in a finding's place; a path with spaces is cited by its last word."""
    whole, _, lines = place.rpartition(":")
    first, _, last = lines.partition("-")
    if not first.isdecimal() or not (whole == path or whole.endswith((" " + path, "/" + path))):
        return False
    return int(first) <= line <= int(last if last.isdecimal() else first)


def _line(one: Evidence, item: Item) -> str:
    shown: dict[str, str] = {"kind": _FOR if one.impact > 0 else _AGAINST, "claim": one.claim, "quote": one.quote}
    place = place_of(item, one.span, one.source)
    if place is not None:
        shown["place"] = place
    if one.criterion is not None:
        shown["about"] = one.criterion
    return json.dumps(shown, ensure_ascii=False)


def _prose(text: str) -> str:
    """The reply without its reasoning; JSON, single words and a refusal are no advice."""
    said = prose(text)
    if said.startswith(("{", "[", "```")):
        raise UnreadableReply("the reply is data or code; expected plain prose to the author")
    if len(_WORD.findall(said)) < 5:
        raise UnreadableReply("the reply has fewer than five words; expected a few paragraphs of advice")
    return said
