"""Options that every command which asks models takes, with one meaning and one help text.

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
    "AsJson",
    "BaseUrl",
    "BudgetTokens",
    "BudgetUsd",
    "Concurrency",
    "Deadline",
    "DryRun",
    "RequestsPerMinute",
    "RetryFailed",
    "StorePath",
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
