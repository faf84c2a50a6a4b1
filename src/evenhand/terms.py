"""The vocabulary: one word per thing, the same in code, command line, files and docs.

What a user writes          Item, JudgeSpec (Criterion, Check, CheckGroup, CatalogEntry, Example, ModelSpec, Commit),
                            ProbeItems
What goes over the wire     Call (Message, Profile), Reply (Usage, TokenChoice)
What a judge returns        Verdict (CriterionVerdict, CheckResult, Evidence, Comparison, OwnAnswer), Abstention,
                            Failure
What survives               Record

A judge never returns a score: formulas in `scoring` compute scores from verdicts. Not reaching a verdict is a result:
Verdict, Abstention and Failure are three types.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

__all__ = [
    "IMPACTS",
    "Abstention",
    "Breaker",
    "Call",
    "CatalogEntry",
    "Check",
    "CheckGroup",
    "CheckResult",
    "Commit",
    "Commitment",
    "Comparison",
    "Criterion",
    "CriterionVerdict",
    "Detector",
    "Escalation",
    "Evidence",
    "Example",
    "Failure",
    "FailureCode",
    "Item",
    "JudgeSpec",
    "Message",
    "ModelSpec",
    "Outcome",
    "OwnAnswer",
    "Pass",
    "ProbeItems",
    "Profile",
    "QuoteStatus",
    "Record",
    "Reply",
    "ReplyMode",
    "Status",
    "Synthesis",
    "TokenChoice",
    "TracedCall",
    "Usage",
    "Verdict",
]

Status = Literal["verdict", "abstained", "failed"]
FailureCode = Literal["unreadable", "truncated", "empty", "filtered", "provider", "deadline", "detector"]
QuoteStatus = Literal["exact", "normalized", "fuzzy", "elided", "absent"]
ReplyMode = Literal["schema", "tool", "json", "text"]

IMPACTS = (5, 3, 2, 1, -1, -2, -3, -5)
"""Every impact that an evidence item may have, strongest praise first."""


# --- what a user writes --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to evaluate: a candidate, what it answers, and who gave it.

    `sources` holds further texts of the same candidate by name (a demo's transcript, a document), for judges whose
    passes each see one source; the candidate itself is the source `candidate`. `repository` says that the candidate is
    the text of a code repository that was read as one: only then do the lines between files mean anything in it.

    Everything but `metadata` may reach a prompt; `id` and `system` never do.
    """

    id: str
    candidate: str
    task: str | None = None
    reference: str | None = None
    context: str | None = None
    system: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    repository: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def text_of(self, source: str) -> str | None:
        """The text that a pass or detector reads: `candidate`, `context`, or a name in `sources`; None if blank."""
        text = {"candidate": self.candidate, "context": self.context}.get(source, self.sources.get(source))
        return text if text and not text.isspace() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One yes/no question; `quote` says whether a pass needs words of the candidate to count."""

    id: str
    ask: str
    weight: Decimal = Decimal(1)
    quote: Literal["required", "none"] = "required"
    na: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckGroup:
    """Several routes to the same point: passed if any of its checks is, counted once, with a weight of its own."""

    any_of: tuple[Check, ...]
    id: str | None = None
    weight: Decimal = Decimal(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One question of a rubric, with its scale.

    Args:
        weight: share of the overall score; None in all criteria means equal shares.
        ask: what is asked; may be empty for `number` and `checklist`.
        levels: (lowest, highest) of the scale; None for evidence, whose scale is the formula's.
        level_texts: level to its written description, for `anchored`.
        map: how passed weights become a level, for `checklist`.
        needs: the source without which an `evidence` criterion is not scored, and a person must decide.
    """

    id: str
    weight: Decimal | None = None
    ask: str = ""
    levels: tuple[Decimal, Decimal] | None = None
    level_texts: Mapping[int, str] = field(default_factory=dict)
    map: Literal["count", "share"] = "count"
    checks: tuple[Check | CheckGroup, ...] = ()
    needs: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """A finding that may be reported by id; its impact is fixed here, so that no model chooses it."""

    id: str
    claim: str
    impact: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A graded candidate shown to an `anchored` judge."""

    candidate: str
    level: int
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """One model as the judge file names it: `provider/model`, and where it is reached.

    `endpoint_id` names the endpoint in content keys instead of its address, so that replies outlive a port that moves.
    """

    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    family: str | None = None
    endpoint_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One reading of one source by an `evidence` judge; passes do not see each other.

    Args:
        source: `candidate`, `context`, or a name in `Item.sources`.
        ask: what this pass looks for.
        optional: an item without the source is judged without this pass, and flagged; otherwise it abstains.
    """

    name: str
    source: str = "candidate"
    ask: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """A deterministic check whose finding has a fixed impact.

    Args:
        kind: `regex` (pattern in the text), `command` (exit status of the user's own command), `python` (a callable
            `module:function` of the user's own), `json` (a value in a report file).
        what: the pattern, the command line, `module:function`, or `FILE:POINTER=VALUE`.
        claim: what is claimed when it fires.
        impact: one of `IMPACTS`.
        fires_on: `found` or `absent` (regex, json); `failure` or `success` (command, python).
    """

    id: str
    kind: Literal["regex", "command", "python", "json"]
    what: str
    claim: str
    impact: int
    fires_on: Literal["found", "absent", "failure", "success"] = "found"
    criterion: str | None = None
    perspective: str | None = None
    source: str = "candidate"
    timeout_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """A fatal finding: a catalogue entry or detector (by id) that caps the score, or forces `fail`."""

    finding: str
    cap: Decimal | None = None
    fail: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """The adversarial pass over all items of an `evidence` judge; it marks, code applies, and it sets no number.

    Args:
        contradicted_impact: of the item that a claim contradicted by another source becomes.
        unbacked_impact: of a claim that its own source does not back; 0 only flags it.
    """

    contradicted_impact: int = -3
    unbacked_impact: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """A second judge where the first is unsure.

    Args:
        to: models asked then.
        low, high: a check whose probability of yes lies strictly between them is unsure (`read: logprob`).
        on: `unsure`, `disagreement` (between members or reruns) or `both`.
    """

    to: tuple[ModelSpec, ...]
    low: float = 0.2
    high: float = 0.8
    on: Literal["unsure", "disagreement", "both"] = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """How a `commit` judge answers for itself before anything is compared.

    Args:
        mode: `blind` keeps the candidate out of the request; `visible` shows it and demands the judge's own answer.
        match: what counts as the same answer, by setting, `kind` among them; `matching.rule_fields` reads them.
        commitments: how often the judge answers for itself, each time afresh; most of the answers must agree.
    """

    mode: Literal["blind", "visible"] = "blind"
    match: Mapping[str, Any] = field(default_factory=dict)
    commitments: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSpec:
    """A rater: protocol, models, rubric and settings, as a judge file states them.

    Args:
        temperature: None leaves the parameter out of the request.
        max_tokens: limit of one reply; a truncated reply is asked once more with four times this limit.
        scoring: formula settings by name, for `evidence`; read by `scoring.impact`.
        layout: `pooled` scores one pool of items, `matrix` a pool per criterion.
        pool: an evidence panel pools its members' items after de-duplication instead of taking the median score.
        escalate: whom to ask where the first is unsure.
        read: `logprob` reads a yes/no check from the first token's log probabilities, one call a check.
        cite: `sentence` numbers the candidate's sentences and takes their numbers for quotes.
        passes: readings of an evidence judge, one source each; none means one pass over the candidate.
        counter_bias: how strongly an evidence prompt leans against a model's leniency; `auto` by its stored regime.
        near_duplicate: share of likeness (0 to 1) from which two claims count once; None counts every item.
        buckets: evidence in the four buckets of a draft's readiness instead of free signed items.
        feedback: an `evidence` judge also writes advice to the author from what it found; it never touches the score.
        inventory: how many tokens of a large repository an `evidence` judge reads, feature by feature after an
            inventory of them; None reads every candidate as a whole.
        folder: what a folder of items is to this judge; `repository` takes it as one item as a whole.
        commit: how a `commit` judge answers for itself; None for every other protocol.
    """

    name: str
    protocol: str
    models: tuple[ModelSpec, ...]
    reruns: int = 1
    temperature: float | None = 0.0
    max_tokens: int = 2048
    criteria: tuple[Criterion, ...] = ()
    scoring: Mapping[str, Any] = field(default_factory=dict)
    layout: Literal["pooled", "matrix"] = "pooled"
    perspectives: tuple[str, ...] = ()
    catalog: tuple[CatalogEntry, ...] = ()
    examples: tuple[Example, ...] = ()
    pool: bool = False
    escalate: Escalation | None = None
    read: Literal["json", "logprob"] = "json"
    cite: Literal["quote", "sentence"] = "quote"
    passes: tuple[Pass, ...] = ()
    synthesis: Synthesis | None = None
    detectors: tuple[Detector, ...] = ()
    breakers: tuple[Breaker, ...] = ()
    counter_bias: Literal["off", "soft", "full", "auto"] = "off"
    near_duplicate: float | None = None
    buckets: bool = False
    feedback: bool = False
    inventory: int | None = None
    folder: Literal["files", "repository"] = "files"
    commit: Commit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeItems:
    """Texts over the whole range of quality, on which a probe sees how a model rates.

    Args:
        name: what is rated, in words that stand in the prompt: `prose`, `code readability`.
        scale_min, scale_max: ends of the scale; whole numbers.
        items: the texts, in the order in which they are shown.
    """

    name: str
    scale_min: int
    scale_max: int
    items: tuple[str, ...]


# --- what goes over the wire ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request that a protocol wants made.

    Args:
        model: `provider/model`, as the judge names it; the engine knows its endpoint.
        messages: fully rendered.
        schema: JSON Schema of the reply, or None for free text.
        schema_name: short name for endpoints that want one.
        temperature: None leaves it to the endpoint.
        max_tokens: limit of the reply.
        logprobs: number of alternatives wanted per token, or None.
        member: which member of a panel asks; the model's name unless a panel says otherwise.
        rerun: 0, 1, ...: asked afresh, so that reruns never share a reply.
        attempt: 0, 1, ...: fresh asks after an unreadable reply.
    """

    model: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    schema_name: str = "reply"
    temperature: float | None = 0.0
    max_tokens: int = 2048
    logprobs: int | None = None
    member: str = ""
    rerun: int = 0
    attempt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How one endpoint's model can be asked; found from its first errors, and part of each call's key.

    Args:
        mode: how the schema is asked for: `schema` natively, `tool` as a forced tool call, `json` mode, `text` alone.
        omit: parameters that the endpoint rejects: `temperature`, `logprobs`, `seed`.
        max_tokens_field: the name under which this endpoint takes the limit.
    """

    mode: ReplyMode = "schema"
    omit: tuple[str, ...] = ()
    max_tokens_field: str = "max_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one reply, or of several added up; None where the endpoint did not say."""

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenChoice:
    """One generated token with its alternatives: (token, natural log probability), the chosen one first."""

    token: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What an endpoint answered, whatever its wire.

    Args:
        text: the answer as text (the arguments, where a tool was called); never reasoning.
        finish: `stop`, `length` (truncated), `filter` (withheld by the endpoint), or `other`.
        refusal: the text of a refusal given in a field of its own.
        reasoning: reasoning given in a field of its own; kept, never read as a verdict.
        model: the model's name as the endpoint reports it.
        key: content key of the call, set by the engine.
    """

    text: str
    finish: Literal["stop", "length", "filter", "other"] = "stop"
    refusal: str | None = None
    reasoning: str | None = None
    usage: Usage = Usage()
    logprobs: tuple[TokenChoice, ...] = ()
    model: str | None = None
    key: str = ""

    def keyed(self, key: str) -> "Reply":
        """The same reply under a key; spelled out, since `dataclasses.replace` takes three times as long."""
        return Reply(
            text=self.text,
            finish=self.finish,
            refusal=self.refusal,
            reasoning=self.reasoning,
            usage=self.usage,
            logprobs=self.logprobs,
            model=self.model,
            key=key,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCall:
    """One call that some harness made, as a recording proxy saw it pass.

    Args:
        number: 0, 1, ...: in the order in which the calls came.
        wire: `chat`, or the name of a wire that is not read: `responses`, `completions`, `embeddings`, `messages`,
            `models`, `other`.
        path: below the base URL.
        began, ended: ticks of one counter; a call can rest on another's reply only if it began after that one ended.
        model: as the client named it.
        messages: (role, text) of the request; empty where it cannot be read.
        shape: what the request says about its reply's form, as JSON text; "" where it says nothing.
        replies: the text of each choice; empty where there is no reply.
        request_hash: content key of the request.
        status: of HTTP; None where there was no reply.
        fault: why there is no reply or not all of it.
        in_flight: how many other calls were in flight when it came.
        readable: whether the request could be read.
    """

    number: int
    wire: str
    path: str
    began: int
    ended: int
    model: str | None = None
    messages: tuple[tuple[str, str], ...] = ()
    shape: str = ""
    replies: tuple[str, ...] = ()
    request_hash: str = ""
    status: int | None = None
    fault: str | None = None
    in_flight: int = 0
    readable: bool = False


# --- what a judge returns ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """A check's answer.

    Args:
        passed: None where the check may be, and is, not applicable.
        span: [start, end) of the quote in the candidate, in code points.
        gap: the words that an ellipsis left out, for `elided`.
        counted: whether the pass counts: it does not where a required quote is absent.
        probability: of yes among yes and no, where it was read from log probabilities; in [0, 1].
        mass: what yes and no together had of the first token's probability; in (0, 1].
        sentences: numbers of the candidate's sentences that were cited, rising; `cite: sentence`.
        place: where the quote stands: `path:line` in a repository.
    """

    id: str
    passed: bool | None
    quote: str = ""
    quote_status: QuoteStatus = "absent"
    span: tuple[int, int] | None = None
    gap: str | None = None
    counted: bool = True
    probability: float | None = None
    mass: float | None = None
    sentences: tuple[int, ...] | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One signed impact item: what was found, where, and how much it moves the score.

    Args:
        source: which of the item's texts the quote is from; None is the candidate.
        detector: id of the detector that fired, where no model found it.
        merged: `pass/perspective` of near-duplicates that this item stands for.
        dropped: why it does not count, in one word: `absent_quote`, `over_cap`, `duplicate`, `not_asked`,
            `unsupported`, `contradicted`, `unbacked`, `needs_source`.
        review: contradicted by another item: a person should look.
        bucket: which of the four buckets of a draft's readiness it was reported in.
        note: what the synthesis said of it, where it marked it.
        sentences: numbers of the sentences that were cited, rising; `cite: sentence`.
        place: where the quote stands: `path:line` in a repository, a time in a transcript.
    """

    claim: str
    impact: int
    quote: str = ""
    criterion: str | None = None
    perspective: str | None = None
    pass_name: str | None = None
    catalog_id: str | None = None
    quote_status: QuoteStatus = "absent"
    span: tuple[int, int] | None = None
    gap: str | None = None
    counted: bool = True
    source: str | None = None
    detector: str | None = None
    merged: tuple[str, ...] = ()
    dropped: str | None = None
    review: bool = False
    bucket: str | None = None
    note: str | None = None
    sentences: tuple[int, ...] | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a `pairwise` judge said when the two candidates stood in one order.

    Args:
        first: which candidate stood first: `a` or `b`.
        better: which place it found better: `first`, `second` or `tie`.
    """

    first: Literal["a", "b"]
    better: Literal["first", "second", "tie"]
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """One answer that a judge gave for itself, before anything was compared.

    Args:
        answer: the answer alone, without the way to it.
        key: content key of the call that it is read from.
        hash: content key of that key and the answer: what a later comparison names.
        agrees: whether it is the same answer as the one that the judge stands by.
    """

    answer: str
    key: str
    hash: str
    agrees: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAnswer:
    """What a judge committed to, and how the candidate compares with it.

    Args:
        mode: whether the candidate was out of sight (`blind`) or in view (`visible`) then.
        asked: how many commitments were asked for.
        commitments: those that could be read, in order.
        lost: why each of the others could not be, in one word each.
        stands: place in `commitments` of the answer that the judge stands by; None where most do not agree on one.
        match: what the comparison gave: `equal`, `unequal`, `no_answer`, `undecided`; None where nothing was compared.
        how: which comparison decided, and where the candidate's answer was read.
        compared_by: `code`, or `model` where two short texts had to be shown to one.
        comparison_key: content key of that model's call.
    """

    mode: Literal["blind", "visible"]
    asked: int
    commitments: tuple[Commitment, ...] = ()
    lost: tuple[str, ...] = ()
    stands: int | None = None
    match: Literal["equal", "unequal", "no_answer", "undecided"] | None = None
    how: str = ""
    compared_by: Literal["code", "model"] = "code"
    comparison_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionVerdict:
    """A judge's finding on one criterion; which fields are filled depends on the protocol.

    Args:
        label: the finding in one word: `equal`, `partly`, `contradicts` or `cannot_tell` (`reference`); `a`, `b` or
            `tie` (`pairwise`); `accepted`, `rejected`, or why neither (`commit` and its baselines).
        orders: what was said in each order of the candidates, `pairwise`.
        own: the judge's own answer, `commit`.
    """

    id: str
    checks: tuple[CheckResult, ...] = ()
    items: tuple[Evidence, ...] = ()
    level: int | None = None
    rating: int | None = None
    reason: str | None = None
    quote: str | None = None
    quote_status: QuoteStatus | None = None
    span: tuple[int, int] | None = None
    gap: str | None = None
    sentences: tuple[int, ...] | None = None
    place: str | None = None
    label: str | None = None
    orders: tuple[Comparison, ...] = ()
    own: OwnAnswer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judge's findings on all criteria, in the judge's order; `keys` are those of the calls it rests on.

    `feedback` is advice to the author, which nothing is computed from.
    """

    criteria: tuple[CriterionVerdict, ...]
    keys: tuple[str, ...] = ()
    usage: Usage = Usage()
    flags: tuple[str, ...] = ()
    feedback: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention:
    """No verdict, by the judge's own choice or rule: a refusal, a tie, nothing that applies."""

    reason: str
    text: str = ""
    keys: tuple[str, ...] = ()
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """No verdict, because something broke; `raw_key` names the stored reply where there is one."""

    code: FailureCode
    message: str
    raw_key: str | None = None
    keys: tuple[str, ...] = ()
    usage: Usage = Usage()


Outcome = Verdict | Abstention | Failure


# --- what survives -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One item, judge, member and rerun, with everything a later analysis needs and nothing that varies by the clock.

    `criteria` holds plain mappings (see docs/records.md), so that a record read back equals the one written.
    """

    item: str
    item_hash: str
    metadata: Mapping[str, Any]
    judge: Mapping[str, Any]
    member: str | None
    rerun: int
    status: Status
    score: int | float | None = None
    exact: float | None = None
    scale: tuple[int | float, int | float] | None = None
    criteria: tuple[Mapping[str, Any], ...] = ()
    panel: Mapping[str, Any] | None = None
    candidate_chars: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    keys: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    reason: str | None = None
    text: str | None = None
    cause: Mapping[str, Any] | None = None
    feedback: str | None = None
    schema: str = "evenhand.record/1"
