"""Runs an audit: what each part of a configuration shows, handed to the criterion it is evidence for.

audit = run_audit(read_config("audit.yaml"), Settings())
audit.words                     {"C1": "pass", ...}
audit.document()                what `--json` prints
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evenhand.audit.channels import read_records, run_controls, sees_folder
from evenhand.audit.config import AuditConfig, Waiver
from evenhand.audit.controls import Relation, controls_for
from evenhand.audit.environment import environment_seen
from evenhand.audit.items import AuditItem, read_audit_items, with_gold
from evenhand.audit.judges import judge_seen
from evenhand.audit.match_rules import Matchers
from evenhand.audit.steps import Step
from evenhand.integrity.channel import ChannelFacts, channel_verdict
from evenhand.integrity.contamination import contamination_verdict
from evenhand.integrity.criteria_v0_1 import VERSION
from evenhand.integrity.degenerate import Taken, degenerate_verdict
from evenhand.integrity.findings import Finding, channel_findings, code_findings, sight_findings
from evenhand.integrity.judge_independence import judge_independence
from evenhand.integrity.solving import solve_figures
from evenhand.integrity.verdicts import CriterionVerdict, Population, Word, population
from evenhand.stats.resampling import Bootstrap
from evenhand.wording import plural

__all__ = ["SCHEMA", "Audit", "Settings", "run_audit"]

SCHEMA = "evenhand.audit/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an audit is run.

    Args:
        control_items: items that controls are made of.
        timeout_s: for one control.
        probe_s: for the probe of the environment.
        taken: which task speaks for C4.
        generate: make mutants and a memoriser for C4 beside the given implementations.
        n_resamples: of the figures of C1.
        seed: of everything that is drawn.
        allow_unsandboxed: run candidates without a sandbox where none works.
    """

    control_items: int = 25
    timeout_s: float = 30.0
    probe_s: float = 120.0
    taken: Taken = "worst"
    generate: bool = True
    n_resamples: int = 1999
    seed: int = 0
    allow_unsandboxed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What an audit came to.

    Attributes:
        name: of the configuration.
        file: it was read from.
        task_class: of its tasks.
        verdicts: C1 to C4, in order.
        findings: flaws beside them.
        waivers: as the configuration states them.
        matchers: what the controls of the matchers gave; None where no matcher is used.
        settings: it was run with.
    """

    name: str
    file: str
    task_class: str
    population: Population
    verdicts: tuple[CriterionVerdict, ...]
    findings: tuple[Finding, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    matchers: Mapping[str, Any] | None = None
    settings: Settings = field(default_factory=Settings)

    @property
    def words(self) -> dict[str, Word]:
        """Criterion to verdict."""
        return {one.criterion: one.verdict for one in self.verdicts}

    def document(self) -> dict[str, Any]:
        """As `--json` prints it; its schema is `audit.schema.json` in the package."""
        return {
            "schema": SCHEMA,
            "criteria_version": VERSION,
            "name": self.name,
            "config": self.file,
            "task_class": self.task_class,
            "population": self.population,
            "criteria": {one.criterion: one.document() for one in self.verdicts},
            "findings": [finding.document() for finding in self.findings],
            "waivers": [
                {"criterion": one.criterion, "reason": one.reason, "date": one.date,
                 "verdict": self.words[one.criterion]}
                for one in self.waivers
            ],
            "matcher_controls": self.matchers,
            "settings": {
                "control_items": self.settings.control_items,
                "timeout_s": self.settings.timeout_s,
                "tasks": self.settings.taken,
                "generated": self.settings.generate,
                "resamples": self.settings.n_resamples,
                "seed": self.settings.seed,
            },
        }  # fmt: skip


def run_audit(config: AuditConfig, settings: Settings, *, note: Callable[[str], None] = lambda text: None) -> Audit:
    """Run everything that a configuration describes.

    Args:
        config: of one evaluator.
        settings: how.
        note: told what happens, one sentence at a time.
    Raises:
        InvalidInput: a file of the configuration cannot be used.
        SandboxError: candidates have to be run, and no sandbox works here.
    """
    with Matchers() as matchers:
        return _audited(config, settings, matchers, note)


def _audited(config: AuditConfig, settings: Settings, matchers: Matchers, note: Callable[[str], None]) -> Audit:
    items = () if config.items is None else read_audit_items(config.items)
    judge = judge_seen(config, items, matchers)
    figures = solve_figures(judge.judged, Bootstrap(n_resamples=settings.n_resamples, seed=settings.seed))
    first = judge_independence(judge.facts, config.task_class, figures)

    if config.environment is not None and config.environment.entries:
        note(f"C3: the probe looks around inside the environment{_in_each(config.environment.steps)}")
    environment, sights = environment_seen(config, items, timeout_s=settings.probe_s)
    third = contamination_verdict(environment)

    writable = [s.where for s in sights if s.what in ("writable evaluator", "plantable reward")]
    facts, code = _channel(config, items, settings, writable, matchers, note)
    looked = bool((environment.details or {}).get("looked_for_evaluator_files"))
    facts = replace(facts, details={**facts.details, "looked_for_evaluator_files": looked})
    second = channel_verdict(facts, config.task_class)

    fourth = _suites(config, settings, note)
    findings = [*judge.findings, *channel_findings(facts.controls), *code, *sight_findings(sights)]
    return Audit(
        name=config.name,
        file=Path(config.file).name,
        task_class=config.task_class,
        population=population(config.task_class),
        verdicts=(first, second, third, fourth),
        findings=tuple(sorted(findings, key=lambda one: one.flaw)),
        waivers=config.waivers,
        matchers=_matcher_controls(config, matchers),
        settings=settings,
    )


def _in_each(steps: Sequence[Step]) -> str:
    return f", in each of {plural(len(steps), 'step')}" if steps else ""


# --- C2 ------------------------------------------------------------------------------------------------------------


def _channel(
    config: AuditConfig, items: Sequence[AuditItem], settings: Settings, writable: Sequence[str], matchers: Matchers,
    note: Callable[[str], None],
) -> tuple[ChannelFacts, list[Finding]]:  # fmt: skip
    """Facts for C2, and findings in the checker's own source."""
    channel = config.channel
    if channel is None:
        return ChannelFacts(kind="", source="nothing: no channel is described", feedback=config.feedback), []
    by_construction = channel.kind in ("tests", "matcher") and channel.independent_of_judge is None
    facts = ChannelFacts(
        kind=channel.kind,
        source="nothing: the task is subjective",
        independent=True if by_construction else channel.independent_of_judge,
        independence_is_stated=not by_construction,
        tolerance=channel.tolerance,
        feedback=config.feedback,
        writable=tuple(writable),
    )
    if config.task_class == "subjective":
        return facts, []
    if channel.kind == "records":
        path = Path(channel.run[0])
        controls = read_records(path)
        source = f"{plural(len(controls), 'control')} as recorded in {path.name}, not run by this audit"
        return replace(facts, source=source, controls=controls), []
    relation = _relation(config, matchers)
    made = controls_for(items, relation, most=settings.control_items, plants=sees_folder(channel))
    note(f"C2: {plural(len(made), 'control')} through the channel ({channel.kind})")
    results = run_controls(
        config, made, matchers, timeout_s=settings.timeout_s, allow_unsandboxed=settings.allow_unsandboxed
    )
    source = f"{plural(len(results), 'control')} that this audit ran through the channel ({channel.kind})"
    missing = _missing(config, items, relation)
    return replace(facts, source=source, controls=results, missing=missing), _checker_findings(config)


def _relation(config: AuditConfig, matchers: Matchers) -> Relation:
    """What keeps a control apart from the gold; a matcher that is itself audited cannot say."""
    channel, judge = config.channel, config.judge
    assert channel is not None
    rule = channel.rule if channel.kind == "matcher" else None if judge is None else judge.match
    own = channel.kind == "matcher" or rule is None
    return Relation(
        task_class=config.task_class, rule=rule, matching=None if own or rule is None else matchers.of(rule),
        by_tests=channel.kind == "tests",
    )  # fmt: skip


def _missing(config: AuditConfig, items: Sequence[AuditItem], relation: Relation) -> str:
    """Why there may be too few controls."""
    if config.items is None:
        return "task.items is missing, so that there is no gold to make controls of"
    if not with_gold(items):
        return "no item has a gold (a reference), so that no control can be made"
    if relation.rule is None and not relation.by_tests:
        return "no match relation is declared (judge.match), so that nothing is known to be incorrect"
    return ""


def _checker_findings(config: AuditConfig) -> list[Finding]:
    """What stands in the checker's own Python source, where the configuration names a file of it."""
    channel = config.channel
    if channel is None or channel.kind not in ("command", "python"):
        return []
    found: list[Finding] = []
    for word in channel.run:
        path = config.folder / word
        if not word.endswith(".py") or len(path.name.encode()) > _LONGEST_NAME:
            continue
        if path.is_file() and path.stat().st_size < 1 << 20:
            found += code_findings(path.read_text("utf-8", "replace"), path.name)
    return found


_LONGEST_NAME = 255  # bytes; what is longer is a line for a shell, and no file is called so


def _matcher_controls(config: AuditConfig, matchers: Matchers) -> Mapping[str, Any] | None:
    """The matchers' own controls, where a match relation is declared."""
    judge, channel = config.judge, config.channel
    declared = [None if judge is None else judge.match, None if channel is None else channel.rule]
    rules = [rule for rule in declared if rule is not None]
    if not rules:
        return None
    from evenhand.audit.matcher_controls import matcher_controls

    return matcher_controls(rules, matchers)


# --- C4 ------------------------------------------------------------------------------------------------------------


def _suites(config: AuditConfig, settings: Settings, note: Callable[[str], None]) -> CriterionVerdict:
    """C4, from the suites and implementations that the configuration names."""
    if config.suites is None:
        return degenerate_verdict([], source="nothing: no suite is described", taken=settings.taken)
    from evenhand.audit.reach import ReachSettings
    from evenhand.audit.suite_evidence import suites_verdict

    return suites_verdict(
        config.suites,
        ReachSettings(generate=settings.generate, seed=settings.seed),
        taken=settings.taken,
        allow_unsandboxed=settings.allow_unsandboxed,
        note=note,
    )
