"""What the inner parts of a record must look like, so that whoever reads records can rely on it.

`terms.Record` keeps judge, criteria, panel and cause as plain mappings, which read back equal. A records file may come
from a stranger or an editor: a part that lacks what reports and `rescore` look up is refused here, with its place.
Fields that are not named here may hold anything.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from evenhand.terms import IMPACTS, QuoteStatus, Record

__all__ = ["shape_fault"]

Span = tuple[int, int] | None
Number = int | float
Count = Annotated[int, msgspec.Meta(ge=0)]


class _Judge(msgspec.Struct):
    name: str
    hash: str
    protocol: str
    models: list[str]
    escalate_to: list[str] = []


class _Cause(msgspec.Struct):
    code: str
    message: str
    raw_key: str | None = None


class _Check(msgspec.Struct):
    id: str
    passed: bool | None
    quote: str
    quote_status: QuoteStatus
    span: Span = None
    counted: bool = True
    votes: dict[str, int] = {}
    probability: Number | None = None


class _Item(msgspec.Struct):
    claim: str
    impact: Literal[IMPACTS]  # type: ignore[valid-type]  # of values, which mypy wants spelt out
    quote: str
    quote_status: QuoteStatus
    span: Span = None
    counted: bool = True
    source: str | None = None
    merged: list[str] = []
    dropped: str | None = None


class _Order(msgspec.Struct):
    first: Literal["a", "b"]
    better: Literal["first", "second", "tie"]


class _Bucket(msgspec.Struct):
    bucket: str
    items: Count
    total_items: Count
    score: Number | None = None


class _Steps(msgspec.Struct):
    over_cap: list[Count] = []
    buckets: list[_Bucket] = []
    taken_out: bool = False


class _Answer(msgspec.Struct):
    answer: str
    key: str
    hash: str
    agrees: bool


class _Own(msgspec.Struct):
    mode: Literal["blind", "visible"]
    answer: str | None
    key: str | None
    hash: str | None
    match: Literal["equal", "unequal", "no_answer", "undecided"] | None
    compared_by: Literal["code", "model"]
    asked: Count
    stands: Count | None
    lost: list[str]
    commitments: list[_Answer]


class _Criterion(msgspec.Struct):
    id: str
    weight: Number | None = None
    score: Number | None = None
    exact: Number | None = None
    scale: tuple[Number, Number] | None = None
    checks: list[_Check] = []
    items: list[_Item] = []
    arithmetic: _Steps | None = None
    level: Number | None = None
    rating: Number | None = None
    label: str | None = None
    quote: str | None = None
    quote_status: QuoteStatus | None = None
    span: Span = None
    orders: tuple[_Order, _Order] | None = None
    votes: dict[str, int] = {}
    own: _Own | None = None


class _Member(msgspec.Struct):
    member: str
    status: str
    calls: Count
    score: Number | None = None
    exact: Number | None = None


class _Dissent(msgspec.Struct):
    member: str


class _Escalation(msgspec.Struct):
    escalated: bool
    first: list[str]
    to: list[str]
    because: list[str] = []


class _Panel(msgspec.Struct):
    rule: str
    size: int
    members: list[_Member]
    dissent: list[_Dissent] = []
    escalation: _Escalation | None = None
    findings: list[_Item] = []


class _Parts(msgspec.Struct):
    judge: _Judge
    criteria: list[_Criterion] = []
    panel: _Panel | None = None
    cause: _Cause | None = None


def shape_fault(document: Mapping[str, Any], record: Record) -> str | None:
    """What is wrong with the inner parts of a record, in msgspec's words; None where nothing is.

    Args:
        document: the record as it was read.
        record: the same, its outer fields checked.
    """
    try:
        msgspec.convert(document, _Parts, strict=True)
    except msgspec.ValidationError as error:
        return str(error)
    if record.member is None and record.panel is None:
        return "Expected a member or a panel, got null for both - at `$.member`"
    for place, criterion in enumerate(record.criteria):
        own = criterion.get("own")
        if own and own["stands"] is not None and own["stands"] >= len(own["commitments"]):
            return f"Expected the place of a commitment - at `$.criteria[{place}].own.stands`"
        if "orders" in criterion and criterion.get("label") not in ("a", "b", "tie"):
            return f"Expected a, b or tie - at `$.criteria[{place}].label`"
    return None
