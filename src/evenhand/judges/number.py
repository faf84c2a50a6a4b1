"""The bare number: one rating for each criterion, the baseline that other protocols are measured against.

Reply: {"criteria": [{"id": ..., "reason": ..., "rating": 7}]}
"""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.judges.asking import Read, ask
from evenhand.judges.fit import TEXT, listed, refuse_unused, require_criteria, whole
from evenhand.judges.prompts import Prompt, quoted
from evenhand.judges.protocol import Judging
from evenhand.judges.replies import by_id, integer, words
from evenhand.terms import Criterion, CriterionVerdict, Item, JudgeSpec, Verdict

__all__ = ["DEFAULT_LEVELS", "NumberJudge"]

DEFAULT_LEVELS = (1, 10)
"""The scale where a criterion states none."""

# Above so many levels a schema names the ends of the scale instead of each level.
_MOST_LISTED = 25


class NumberJudge:
    """Ratings of one or several criteria, each on its own scale of whole numbers."""

    protocol = "number"
    version = 1

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        require_criteria(spec)
        refuse_unused(spec)
        self._scales = {criterion.id: _scale(criterion) for criterion in spec.criteria}
        self._prompt = Prompt(
            spec,
            templates,
            values={"criteria": "\n".join(map(self._line, spec.criteria))},
            schema=listed(
                "criteria",
                [
                    ([name for name, own in self._scales.items() if own == scale], _fields(scale))
                    for scale in dict.fromkeys(self._scales.values())
                ],
            ),
        )

    def judge(self, item: Item, *, model: str, rerun: int = 0, first_attempt: int = 0) -> Judging:
        """Judge one item."""
        call = self._prompt.call(item, model=model, rerun=rerun, attempt=first_attempt)
        found = yield from ask(call, self._read, self._prompt.repair)
        if isinstance(found, Read):
            return Verdict(criteria=found.value, keys=found.keys, usage=found.usage)
        return found

    def _read(self, text: str) -> tuple[CriterionVerdict, ...]:
        named = by_id(text, "criteria", self._scales)
        return tuple(self._verdict(name, scale, named[name]) for name, scale in self._scales.items())

    def _verdict(self, name: str, scale: range, entry: dict[str, Any]) -> CriterionVerdict:
        what = f'criterion "{name}"'
        expected = f"a whole number from {scale[0]} to {scale[-1]}"
        return CriterionVerdict(
            id=name,
            rating=integer(entry, "rating", what, scale, expected),
            reason=words(entry, "reason", what),
        )

    def _line(self, criterion: Criterion) -> str:
        scale = self._scales[criterion.id]
        asked = f"{criterion.ask} " if criterion.ask else ""
        return f"- {quoted(criterion.id)}: {asked}From {scale[0]} to {scale[-1]}."


def _scale(criterion: Criterion) -> range:
    """The whole numbers of a criterion's scale.

    Raises:
        InvalidInput: an end with a fraction, or no two levels.
    """
    lowest, highest = DEFAULT_LEVELS
    if criterion.levels is not None:
        lowest, highest = (whole(end, f"criterion {criterion.id}: a level for `number`") for end in criterion.levels)
    if lowest >= highest:
        raise InvalidInput(f"criterion {criterion.id}: levels are [{lowest}, {highest}]; expected [lowest, highest]")
    return range(lowest, highest + 1)


def _fields(scale: Sequence[int]) -> dict[str, Mapping[str, Any]]:
    if len(scale) <= _MOST_LISTED:
        return {"reason": TEXT, "rating": {"type": "integer", "enum": list(scale)}}
    return {"reason": TEXT, "rating": {"type": "integer", "minimum": scale[0], "maximum": scale[-1]}}
