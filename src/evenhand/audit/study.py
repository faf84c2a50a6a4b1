"""Audits of many configurations, reported by population: verifiable tasks and subjective ones are never mixed."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.audit.config import read_config
from evenhand.audit.running import Audit, Settings, run_audit
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.integrity.criteria_v0_1 import VERSION
from evenhand.integrity.verdicts import CRITERION_IDS, Word, exit_code
from evenhand.store.text_files import place

__all__ = ["AuditStudy", "Broken", "run_study"]

SCHEMA = "evenhand.audit_study/1"
_WORDS: tuple[Word, ...] = ("pass", "fail", "insufficient evidence", "not applicable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A configuration that could not be audited, and why; it is in no count of verdicts."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditStudy:
    """Several audits.

    Attributes:
        audits: in the order of the files' names.
        broken: configurations that could not be audited.
    """

    audits: tuple[Audit, ...]
    broken: tuple[Broken, ...] = ()

    def exit_code(self, required: Sequence[str]) -> int:
        """The gravest of the audits': 1 for a fail, then 3; a configuration that could not be audited counts as 3."""
        codes = {exit_code(audit.words, required) for audit in self.audits}
        return 1 if 1 in codes else 3 if 3 in codes or self.broken else 0

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "schema": SCHEMA,
            "criteria_version": VERSION,
            "n": len(self.audits) + len(self.broken),
            "failed": len(self.broken),
            "populations": {name: self._counts(name) for name in ("verifiable", "subjective")},
            "audits": [audit.document() for audit in self.audits],
            "broken": [{"config": one.file, "reason": one.reason} for one in self.broken],
        }

    def _counts(self, name: str) -> dict[str, Any]:
        audits = [audit for audit in self.audits if audit.population == name]
        counted = {criterion: Counter(audit.words[criterion] for audit in audits) for criterion in CRITERION_IDS}
        feedback = Counter(str(audit.verdicts[1].evidence["feedback"]) for audit in audits)
        return {
            "n": len(audits),
            "criteria": {criterion: {word: counts[word] for word in _WORDS} for criterion, counts in counted.items()},
            "feedback": {status: feedback[status] for status in ("held_out", "exposed", "unknown")},
        }


def run_study(folder: Path, settings: Settings, *, note: Callable[[str], None] = lambda text: None) -> AuditStudy:
    """Audit every .yaml, .yml or .json configuration of a folder; one that is broken costs the others nothing.

    Raises:
        InvalidInput: no such folder, or no configuration in it.
    """
    if not folder.is_dir():
        raise InvalidInput(f"--study {place(folder)}: no such folder; name one that holds configurations")
    paths = sorted(path for path in folder.iterdir() if path.suffix.casefold() in (".yaml", ".yml") and path.is_file())
    if not paths:
        raise InvalidInput(f"--study {place(folder)}: holds no configuration; expected files that end in .yaml")
    audits, broken = [], []
    for path in paths:
        note(f"audit    {place(path.name)}")
        try:
            audits.append(run_audit(read_config(path), settings, note=note))
        except EvenhandError as error:
            broken.append(Broken(file=path.name, reason=str(error)))
    return AuditStudy(audits=tuple(audits), broken=tuple(broken))
