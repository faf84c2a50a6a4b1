"""What a recorded trace shows of a judge, item by item: plain facts, which the verdict on C1 rests on.

found = trace_evidence(items, calls, outcomes, match)      integrity.sequence
TraceEvidence.read(found.document()) == found
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from evenhand.errors import InvalidInput

__all__ = ["ARMS", "Arm", "MatchWord", "Matched", "SwapDisclosure", "TraceEvidence", "TracedItem"]

Arm = Literal[
    "unplaced", "anchored", "solve_first", "commit_ignored", "commit_scored", "commit_visible", "commit_blind"
]
Matched = Literal["equal", "unequal", "no_answer", "undecided"]

MatchWord = Callable[[str, str], Matched]
"""(candidate, the answer it is matched against) to the verdict of a match."""

ARMS: tuple[Arm, ...] = get_args(Arm)
"""From nothing known through the weakest to the strongest; a trace is named after the weakest arm of a placed item."""

_SCHEMA = "evenhand.trace_evidence/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedItem:
    """What the calls of one item show.

    Args:
        item: its id.
        arm: how the judge came to its answer:
            `anchored`: the candidate was in view and no answer of the judge's own was demanded;
            `solve_first`: the same, and the prompt asked to solve it first, or an answer came after the comparison;
            `commit_visible`, `commit_blind`: an answer of its own came before the comparison, with the candidate in
            view or not;
            `commit_ignored`: one came, and acceptance is not what matching the candidate against it gives;
            `commit_scored`: one came, and a score that followed separates the accepted from the rejected;
            `unplaced`: the calls of this item could not be told.
        reason: one sentence on why.
        calls: numbers of its calls.
        commitment: the judge's own answer; None where none can be read.
        commitment_call, commitment_hash: number and content key of the request that was answered with it.
        form: how it is marked: `line`, `field`, `boxed`, `hashes`, `tag`, or `bare` where the reply is nothing else.
        required: whether the prompt demands that form.
        candidate_in_view, reference_in_view: in the request that was answered with the commitment, or without one in
            any; None where it cannot be told.
        precedes: whether it came before any verdict or score.
        compared: whether a later call had the candidate in view.
        comparison_has_commitment: whether that call's request holds the commitment.
        said: the verdict that the model itself gave last; None where it gave none.
        score: the score that it gave last after the commitment.
        accepted: by the harness's outcomes; None where they do not say.
        matched: the candidate against the commitment.
        solved: the commitment against the reference; None where either is missing or it is undecided.
    """

    item: str
    arm: Arm
    reason: str
    calls: tuple[int, ...] = ()
    commitment: str | None = None
    commitment_call: int | None = None
    commitment_hash: str | None = None
    form: str | None = None
    required: bool | None = None
    candidate_in_view: bool | None = None
    reference_in_view: bool | None = None
    precedes: bool | None = None
    compared: bool = False
    comparison_has_commitment: bool | None = None
    said: bool | None = None
    score: float | None = None
    accepted: bool | None = None
    matched: Matched | None = None
    solved: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapDisclosure:
    """Whether another item's candidate in the same request moves the commitment.

    Args:
        n: requests that gave a commitment both as they were and with the candidate swapped.
        moved: of them, how many gave another commitment with the swap.
        moved_unswapped: how many gave another commitment when merely asked again: what chance alone does.
        low, high: 95 % Wilson interval of moved / n; None without requests.
        unreadable: requests of which no commitment came back.
        items: ids, in the order asked.
        moved_items: ids of those that moved.
        seed: by which items and their substitutes were drawn.
    """

    n: int
    moved: int
    moved_unswapped: int
    low: float | None
    high: float | None
    unreadable: int
    items: tuple[str, ...]
    moved_items: tuple[str, ...]
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvidence:
    """What a whole trace shows.

    Args:
        n_items, n_placed: items given; items whose calls could be told.
        n_calls, n_readable, n_failed: calls seen; those on the wire that is read; those of them without an answer.
        unreadable_wires: name of a wire that is not read, to its calls.
        models: as the harness named them.
        arm: the weakest of the placed items; `unplaced` where none is.
        arms: arm to number of items.
        unplaced: why nothing could be placed: no calls, none readable, no text found; "" where something was.
        items: in the order of the items file.
        match: the match relation in words; "" where none was given.
        n_outcomes: items with an outcome.
        n_matched: items on which acceptance was compared with the match.
        disagreements: ids on which it differs from the match.
        accepted_without_commitment: ids accepted though no commitment could be read.
        undecided: ids with commitment and outcome whose match is undecided.
        n_scored: items with a score after the commitment.
        score_decides: whether a cut of that score separates accepted from rejected while the match does not; False
            where no cut does; None where there is no score, no outcome, or both explain all outcomes.
        notes: what else a reader must know, in sentences.
        swap: see `SwapDisclosure`; None where it was not asked for.
    """

    n_items: int
    n_placed: int
    n_calls: int
    n_readable: int
    n_failed: int
    unreadable_wires: Mapping[str, int]
    models: tuple[str, ...]
    arm: Arm
    arms: Mapping[str, int]
    unplaced: str
    items: tuple[TracedItem, ...]
    match: str = ""
    n_outcomes: int = 0
    n_matched: int = 0
    disagreements: tuple[str, ...] = ()
    accepted_without_commitment: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    n_scored: int = 0
    score_decides: bool | None = None
    notes: tuple[str, ...] = ()
    swap: SwapDisclosure | None = None

    def document(self) -> dict[str, Any]:
        """The same as plain JSON, with its schema."""
        return {"schema": _SCHEMA, **asdict(self)}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "TraceEvidence":
        """What `document` wrote, as it came back from JSON.

        Raises:
            InvalidInput: another schema, or fields that this version does not have.
        """
        if document.get("schema") != _SCHEMA:
            raise InvalidInput(f"trace evidence: schema {document.get('schema')!r}; this version reads {_SCHEMA!r}")
        given = {name: _frozen(value) for name, value in document.items() if name != "schema"}
        try:
            swap = given.get("swap")
            given["swap"] = None if swap is None else SwapDisclosure(**_fields(swap))
            given["items"] = tuple(TracedItem(**_fields(item)) for item in given["items"])
            return cls(**given)
        except (TypeError, KeyError) as error:
            raise InvalidInput(f"trace evidence: fields differ from this version's ({error}); trace again") from error


def _frozen(value: Any) -> Any:
    """Lists of JSON as the tuples that they were."""
    return tuple(value) if isinstance(value, list) else value


def _fields(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _frozen(value) for name, value in document.items()}
