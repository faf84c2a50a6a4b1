"""Options that several commands take, with one meaning and one help text.

def judge(base_url: BaseUrl = None, timeout_s: Timeout = TIMEOUT_S, ...)
settings_of(max_concurrency=..., ...)      what they come to
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli.output import shown
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.evaluate.evaluation import Settings

__all__ = [
    "CONCURRENCY",
    "DEADLINE_S",
    "DEFAULT_STORE",
    "TIMEOUT_S",
    "AllowSelfJudging",
    "Anyway",
    "AsJson",
    "BaseUrl",
    "BudgetTokens",
    "BudgetUsd",
    "Concurrency",
    "Deadline",
    "DryRun",
    "FieldColumns",
    "ItemsEncoding",
    "MaxFailed",
    "Models",
    "RecordsFile",
    "Repositories",
    "RepositoryChars",
    "RequestsPerMinute",
    "Reruns",
    "RetryFailed",
    "SkipEmpty",
    "Sources",
    "StorePath",
    "Temperature",
    "Timeout",
    "TokensPerMinute",
    "model_names",
    "settings_of",
]

DEFAULT_STORE = Path(".evenhand/evenhand.db")
CONCURRENCY = 64
TIMEOUT_S = 120.0
DEADLINE_S = 600.0

Concurrency = Annotated[int, typer.Option("--max-concurrency", "-j", min=1, help="Calls in flight.")]
RequestsPerMinute = Annotated[int | None, typer.Option(min=1, help="At most, at each endpoint.")]
TokensPerMinute = Annotated[int | None, typer.Option(min=1, help="At most, at each endpoint.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds for one attempt.")]
Deadline = Annotated[
    float, typer.Option("--deadline", min=0.1, help="Seconds for a call with its retries, not its turn.")
]
BaseUrl = Annotated[str | None, typer.Option(help="Another endpoint for the models.")]
StorePath = Annotated[Path, typer.Option(help="Where replies are kept.")]
BudgetUsd = Annotated[float | None, typer.Option(min=0.0, help="Stop before this many dollars.")]
BudgetTokens = Annotated[int | None, typer.Option(min=0, help="Stop before this many tokens.")]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Ask afresh what was left unreadable.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be sent, and send nothing.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]


# What `judge` and `harden` take alike: which models are asked about which items, and how.
Models = Annotated[
    list[str] | None, typer.Option("--model", "-m", help="provider/model; repeatable; replaces the file's models.")
]
Reruns = Annotated[int | None, typer.Option(min=1, help="Ask each item so many times afresh.")]
Temperature = Annotated[float | None, typer.Option(min=0.0, max=2.0, help="Replaces the file's.")]
MaxFailed = Annotated[int, typer.Option(min=0, help="Exit 3 if more judgements failed.")]
FieldColumns = Annotated[list[str] | None, typer.Option("--map", help="FIELD=COLUMN, for columns of other names.")]
ItemsEncoding = Annotated[str | None, typer.Option(help="Encoding of the items file; UTF-8 unless said.")]
Repositories = Annotated[
    str | None,
    typer.Option(metavar="WHICH", help="Folders that are one item: git (those with .git), whole, each or none."),
]
RepositoryChars = Annotated[
    int | None, typer.Option(min=1000, help="Characters of a repository that are read; 400000 unless said.")
]
Sources = Annotated[
    list[str] | None, typer.Option(help="NAME=FILE: a further text of a single item, such as demo=talk.txt.")
]
SkipEmpty = Annotated[bool, typer.Option("--skip-empty", help="Leave items without a candidate out.")]
AllowSelfJudging = Annotated[
    bool, typer.Option("--allow-self-judging", help="Let a model judge candidates of its own.")
]
Anyway = Annotated[
    bool, typer.Option("--anyway", help="Judge with a model whose probe speaks against it (counter_bias: auto).")
]
RecordsFile = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the records: .jsonl, .csv or .parquet.")
]


def model_names(names: Sequence[str], *, option: str, way_out: str) -> list[str]:
    """Models as given, `openai:x` as `openai/x`, each once.

    Raises:
        InvalidInput: one is given twice.
    """
    from evenhand.providers.names import split_model

    found = ["/".join(split_model(name)) if split_model(name)[1] else name for name in names]
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput(f"{option} {shown(twice)} is given twice; {way_out}")
    return found


def settings_of(
    *,
    max_concurrency: int = CONCURRENCY,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
    timeout_s: float = TIMEOUT_S,
    deadline_s: float = DEADLINE_S,
    budget_usd: float | None = None,
    budget_tokens: int | None = None,
    retry_failed: bool = False,
) -> "Settings":
    """How a run is carried out, from the options."""
    from evenhand.engine.retry import RetryPolicy
    from evenhand.evaluate.evaluation import Settings

    return Settings(
        max_concurrency=max_concurrency,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        retry_failed=retry_failed,
        policy=RetryPolicy(attempt_timeout_s=timeout_s, call_deadline_s=deadline_s),
    )
