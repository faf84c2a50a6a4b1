"""Does the candidate say what the reference says: equal, partly, contradicts, or that cannot be told.

Reply: {"reason": ..., "quote": ..., "says": "equal"}

`equal` and `partly` rest on words of the candidate: where their quote is not found, there is no score. `cannot_tell` is
no score either; the finding stands in the record all the same. What the words are worth, `scoring.labels` says.
"""

from collections.abc import Mapping

from evenhand.errors import UnreadableReply
from evenhand.judges.asking import Read, ask
from evenhand.judges.fit import TEXT, entry, refuse_unused
from evenhand.judges.parse import reply_object
from evenhand.judges.prompts import Prompt
from evenhand.judges.protocol import Judging
from evenhand.judges.quotes import QuotedText
from evenhand.judges.replies import kind, words
from evenhand.scoring.labels import REFERENCE_LABELS, labelled_criterion
from evenhand.terms import Abstention, CriterionVerdict, Item, JudgeSpec, Verdict

__all__ = ["MISSING_REFERENCE", "ReferenceJudge"]

MISSING_REFERENCE = "missing_reference"
"""The reason of an abstention: the item has nothing to be compared with. Nothing is asked then."""

_TOP = "says"


class ReferenceJudge:
    """One word for how the candidate stands to the reference."""

    protocol = "reference"
    version = 1

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        refuse_unused(spec)
        criterion = labelled_criterion(spec)
        self._id = criterion.id
        asked = f"\nWhat is compared, and nothing else: {criterion.ask}\n" if criterion.ask else ""
        said = {"type": "string", "enum": list(REFERENCE_LABELS)}
        schema = entry(reason=TEXT, quote=TEXT, says=said)
        self._prompt = Prompt(spec, templates, values={"ask": asked}, schema=schema)

    def judge(self, item: Item, *, model: str, rerun: int = 0, first_attempt: int = 0) -> Judging:
        """Judge one item; one without a reference abstains, and nothing is asked."""
        if not item.reference or item.reference.isspace():
            return Abstention(reason=MISSING_REFERENCE)
        quotes = QuotedText(item.candidate)
        call = self._prompt.call(item, model=model, rerun=rerun, attempt=first_attempt)
        found = yield from ask(call, lambda text: self._read(text, quotes), self._prompt.repair)
        if isinstance(found, Read):
            return Verdict(criteria=(found.value,), keys=found.keys, usage=found.usage)
        return found

    def _read(self, text: str, quotes: QuotedText) -> CriterionVerdict:
        found = reply_object(text, _TOP)
        label = found[_TOP]
        if label not in REFERENCE_LABELS:
            raise UnreadableReply(f'"{_TOP}" is {kind(label)}; expected one of {", ".join(REFERENCE_LABELS)}')
        quote = words(found, "quote", "the reply") or ""
        place = quotes.find(quote) if quote else None
        return CriterionVerdict(
            id=self._id,
            label=label,
            reason=words(found, "reason", "the reply"),
            quote=quote,
            quote_status=place.status if place else "absent",
            span=place.span if place else None,
            gap=place.gap if place else None,
        )
