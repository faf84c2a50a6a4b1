"""evenhand: automated judging you can check.

The names below are the library; each is imported when first used, so that `import evenhand` costs next to nothing.

    from evenhand import Session, read_items, read_judge
    judged = Session(read_judge("judge.yaml"), read_items("answers.jsonl")).run()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.errors import EvenhandError, InvalidInput, ProviderError, StoreError
    from evenhand.evaluate.evaluation import Settings
    from evenhand.evaluate.session import Judged, Session
    from evenhand.judges.quotes import find_quote
    from evenhand.keys import canonical_json, content_key
    from evenhand.scoring.criteria import score_criteria
    from evenhand.scoring.impact import score_items, score_totals
    from evenhand.scoring.variants import settings
    from evenhand.stats.intervals import wilson_interval
    from evenhand.store.database.sql import open_store
    from evenhand.store.items import read_items
    from evenhand.store.judge_files import read_judge
    from evenhand.store.records import read_records
    from evenhand.terms import Abstention, Call, Evidence, Failure, Item, JudgeSpec, Record, Reply, Verdict

_HOMES = {
    "Abstention": "terms",
    "Call": "terms",
    "Evidence": "terms",
    "EvenhandError": "errors",
    "Failure": "terms",
    "InvalidInput": "errors",
    "Item": "terms",
    "Judged": "evaluate.session",
    "JudgeSpec": "terms",
    "ProviderError": "errors",
    "Record": "terms",
    "Reply": "terms",
    "Session": "evaluate.session",
    "Settings": "evaluate.evaluation",
    "StoreError": "errors",
    "Verdict": "terms",
    "canonical_json": "keys",
    "content_key": "keys",
    "find_quote": "judges.quotes",
    "open_store": "store.database.sql",
    "read_items": "store.items",
    "read_judge": "store.judge_files",
    "read_records": "store.records",
    "score_criteria": "scoring.criteria",
    "score_items": "scoring.impact",
    "score_totals": "scoring.impact",
    "settings": "scoring.variants",
    "wilson_interval": "stats.intervals",
}

__all__ = [
    "Abstention",
    "Call",
    "EvenhandError",
    "Evidence",
    "Failure",
    "InvalidInput",
    "Item",
    "JudgeSpec",
    "Judged",
    "ProviderError",
    "Record",
    "Reply",
    "Session",
    "Settings",
    "StoreError",
    "Verdict",
    "canonical_json",
    "content_key",
    "find_quote",
    "open_store",
    "read_items",
    "read_judge",
    "read_records",
    "score_criteria",
    "score_items",
    "score_totals",
    "settings",
    "wilson_interval",
]


def __getattr__(name: str) -> Any:
    """A public name, imported from where it lives."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    """The public names."""
    return __all__
