"""The environment in which candidates work, entered by its own command and probed from inside.

The probe is a POSIX shell script that changes nothing; what it prints is foreign text. It is given to
`ENTER... sh -s` on standard input, after a few assignments that say what to look for.
"""

import re
import secrets
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, cast, get_args

from evenhand.audit.commands import Ran, run_command
from evenhand.audit.config import AuditConfig
from evenhand.audit.items import AuditItem
from evenhand.audit.steps import Step
from evenhand.integrity.contamination import PATHS, EnvironmentFacts, Observation
from evenhand.integrity.findings import Sight, step_sights
from evenhand.wording import plural

__all__ = ["environment_seen", "probe_script"]

MARKER = "evenhand-probe"
_MOST_ITEMS = 50
_EVALUATOR = "evaluator files"  # no way to an answer: the probe names it where it could not look for all of them
_MOST_SIGHTS = 400
_SHORTEST_GOLD = 8
_LONGEST_GOLD = 200
_NUMBER = re.compile(r"(?:#|\b(?:issues?|pulls?|PR)[/ #]+)(\d{2,7})\b", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")
_PROJECT = ("package", "project", "repo", "repository", "upstream")

State = Literal["open", "closed", "not measured"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What the probe looks for."""

    ids: tuple[str, ...]
    packages: tuple[str, ...]
    numbers: tuple[str, ...]
    golds: tuple[str, ...]
    checkers: tuple[str, ...]


def environment_seen(
    config: AuditConfig, items: Sequence[AuditItem], *, timeout_s: float
) -> tuple[EnvironmentFacts, list[Sight]]:
    """Enter the environment and look around, where the configuration says how; in each step where there are several.

    Args:
        config: of the evaluator.
        items: whose ids, numbers and golds are looked for.
        timeout_s: for each probe; what it did not come to by then is not measured.
    Raises:
        InvalidInput: a command that enters cannot be started.
    """
    environment = config.environment
    if environment is None:
        return EnvironmentFacts(source="nothing: no environment is described"), []
    if environment.spec:
        details = {"specification": environment.spec}
        source = "a written specification, which nobody verified"
        return EnvironmentFacts(source=source, specified=True, details=details), []
    script = probe_script(_wanted(config, items))
    probed = [(step.name, *_probed(step, script, config, timeout_s)) for step in environment.entries]
    if not environment.steps:
        return probed[0][1], probed[0][2]
    return _facts_of_steps(probed), step_sights([(name, sights) for name, _, sights in probed])


def _probed(step: Step, script: bytes, config: AuditConfig, timeout_s: float) -> tuple[EnvironmentFacts, list[Sight]]:
    """One probe, from where the step's command ends up."""
    nonce = secrets.token_hex(8)
    words = [*step.enter, "sh", "-s", "--", MARKER, nonce]
    ran = run_command(words, stdin=script, folder=config.folder, timeout_s=timeout_s)
    observations, sights, seen = _read(ran.output, nonce)
    begun, done = "begun" in seen, "done" in seen
    facts = EnvironmentFacts(
        source=f"a probe that ran inside, entered by {' '.join(step.enter)[:200]}",
        entered=begun,
        observations=observations,
        failure="" if done else _failure(ran, timeout_s, begun=begun),
        details={"enter": list(step.enter), "looked_for_evaluator_files": "looked" in seen},
    )
    return facts, sights


def _facts_of_steps(probed: Sequence[tuple[str, EnvironmentFacts, list[Sight]]]) -> EnvironmentFacts:
    """What the probes of all steps say together; evaluator files were looked for if every step's probe did."""
    looked = all((facts.details or {})["looked_for_evaluator_files"] for _, facts, _ in probed)
    return EnvironmentFacts(
        source=f"a probe in each of {plural(len(probed), 'step')}: {', '.join(name for name, _, _ in probed)[:200]}",
        steps={name: facts for name, facts, _ in probed},
        details={"looked_for_evaluator_files": looked},
    )


def probe_script(wanted: _Wanted) -> bytes:
    """The probe with what it looks for before it."""
    names = {
        "IDS": "\n".join(wanted.ids),
        "PACKAGES": " ".join(wanted.packages),
        "NUMBERS": " ".join(wanted.numbers),
        "GOLDS": "\n".join(wanted.golds),
        "CHECKERS": " ".join(wanted.checkers),
    }
    given = "".join(f"{name}={shlex.quote(value)}\n" for name, value in names.items())
    script = files("evenhand.audit").joinpath("data", "probe.sh").read_text("utf-8")
    return (given + script).encode("utf-8", "replace")


def _wanted(config: AuditConfig, items: Sequence[AuditItem]) -> _Wanted:
    looked = items[:_MOST_ITEMS]
    packages = [_bare(str(item.row[key])) for item in looked for key in _PROJECT if isinstance(item.row.get(key), str)]
    numbers = [f"#{found}" for item in looked for found in _NUMBER.findall(item.task)]
    run = () if config.channel is None else config.channel.run
    checkers = [word.replace("\\", "/").rpartition("/")[2] for word in run if word.endswith((".py", ".sh", ".js"))]
    return _Wanted(
        ids=_once(item.id for item in looked if "\n" not in item.id),
        packages=_once(name for name in packages if _NAME.fullmatch(name)),
        numbers=_once(numbers),
        golds=_once(filter(None, (_telling(item) for item in looked))),
        checkers=_once(name for name in checkers if _NAME.fullmatch(name)),
    )


def _once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _bare(name: str) -> str:
    """A project's own name out of an address or owner/name."""
    return name.rstrip("/").removesuffix(".git").rpartition("/")[2]


def _telling(item: AuditItem) -> str:
    """The line of the gold that would be found nowhere by chance, and that the task does not give away."""
    lines = [line.strip() for line in item.gold.splitlines() if line.strip() not in item.task]
    longest = max(lines, key=len, default="")
    return longest[:_LONGEST_GOLD] if len(longest) >= _SHORTEST_GOLD and "\0" not in longest else ""


def _read(output: str, nonce: str) -> tuple[list[Observation], list[Sight], set[str]]:
    """The probe's lines and their kinds; whatever does not begin with the nonce is somebody else's."""
    observations: list[Observation] = []
    sights: list[Sight] = []
    kinds = set[str]()
    late = False
    for line in output.split("\n"):
        parts = line.split("\t", 4)
        if len(parts) != 5 or parts[0] != nonce:
            continue
        _, kind, name, state, detail = parts
        kinds.add(kind)
        if kind == "path" and name in PATHS and state in get_args(State):
            observations.append(Observation(path=name, state=cast(State, state), detail=detail[:300]))
        elif kind == "sight":
            sights.append(Sight(what=name, where=detail[:300]))
        late = late or (kind, name) == ("path", _EVALUATOR)
    return observations[:_MOST_SIGHTS], sights[:_MOST_SIGHTS], kinds - {"looked"} if late else kinds


def _failure(ran: Ran, timeout_s: float, *, begun: bool) -> str:
    if ran.code is None:
        return f"the probe did not come to its end within {timeout_s:g} s"
    if not begun:
        last = ran.complaint.strip().rpartition("\n")[2][:200]
        return f"the environment could not be entered (exit code {ran.code}{': ' + last if last else ''})"
    return f"the probe broke off (exit code {ran.code})"
