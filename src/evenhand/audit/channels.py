"""What a channel says to controls. `command` and `python` are the user's own trusted code, and run as the user.

    results = run_controls(config, controls, timeout_s=30)

Controls are shown in an order of chance: always after its gold, a wrong answer would be turned down by a channel that
only accepts whatever comes first for a task. A channel that crashes, runs out of time or says nothing that can be read
has not graded: that is never an acceptance and never a rejection. Only exit codes say less: with `accepts: exit0` every
other code is a rejection.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

from evenhand.audit.callables import CallableProcess
from evenhand.audit.commands import Ran, run_command
from evenhand.audit.config import AuditConfig, ChannelConfig
from evenhand.audit.controls import Control
from evenhand.audit.match_rules import Matchers
from evenhand.errors import InvalidInput
from evenhand.integrity.channel import ControlResult, Expected, Got
from evenhand.store.rated_rows import id_text, open_rated
from evenhand.store.text_files import quoted

__all__ = ["read_records", "run_controls", "sees_folder", "verdict_of"]

Said = tuple[Got, str]

_SLOTS = 2
_SHOWN = 300
_HALF = 0.5
_MOST_LOST = 6
_NOT_ASKED: Said = ("not graded", f"not asked: the channel was lost {_MOST_LOST} times in a row")


class _Patience:
    """Gives a channel up that is lost again and again, so that it does not cost its time for every control."""

    def __init__(self) -> None:
        self._lost = 0

    def heard(self, *, lost: bool) -> None:
        """Count what came in a row without a word."""
        self._lost = self._lost + 1 if lost else 0

    @property
    def is_over(self) -> bool:
        return self._lost >= _MOST_LOST


def sees_folder(channel: ChannelConfig) -> bool:
    """Whether the channel is given a folder of the candidate's."""
    return channel.kind == "command" and any("{workdir}" in word or "{candidate}" in word for word in channel.run)


def run_controls(
    config: AuditConfig,
    controls: Sequence[Control],
    matchers: Matchers,
    *,
    timeout_s: float,
    allow_unsandboxed: bool = False,
) -> tuple[ControlResult, ...]:
    """Show every control to the channel.

    Args:
        config: with a channel of kind command, python, tests or matcher.
        controls: in order; they are shown in another one, which the same controls always have.
        matchers: for a channel that is a matcher.
        timeout_s: for each.
        allow_unsandboxed: run candidates of a test suite without a sandbox where none works.
    Raises:
        InvalidInput: the channel cannot be run at all.
        SandboxError: candidates have to be run, and no sandbox works here.
    """
    channel = config.channel
    assert channel is not None
    order = Random(0).sample(range(len(controls)), len(controls))  # noqa: S311 - an order, no secret
    shown = [controls[place] for place in order]
    run: dict[str, Callable[[], list[Said]]] = {
        "command": lambda: _command(config, channel, shown, timeout_s),
        "python": lambda: _python(config, channel, shown, timeout_s),
        "tests": lambda: _tests(channel, shown, allow_unsandboxed=allow_unsandboxed),
        "matcher": lambda: _matcher(channel, shown, matchers),
    }
    heard = dict(zip(order, run[channel.kind](), strict=True))
    said = [heard[place] for place in range(len(controls))]
    return tuple(
        ControlResult(
            item=control.item.id, control=control.kind, expected=control.expected, got=got, why=control.why,
            detail=detail[:_SHOWN], candidate=control.candidate[:_SHOWN],
        )
        for control, (got, detail) in zip(controls, said, strict=True)
    )  # fmt: skip


def _command(config: AuditConfig, channel: ChannelConfig, controls: Sequence[Control], timeout_s: float) -> list[Said]:
    """One process a control, two at a time, in the configuration's folder."""
    patience = _Patience()

    def one(control: Control) -> Said:
        if patience.is_over:
            return _NOT_ASKED
        with tempfile.TemporaryDirectory(prefix="evenhand-control-") as folder:
            place = _laid_out(Path(folder), config, control)
            names = {"candidate": str(place), "workdir": folder, "item": str(Path(folder) / "item.json")}
            words = [_filled(word, names) for word in channel.run]
            given = json.dumps({"candidate": control.candidate, "item": _row(control)}, default=str).encode()
            environment = {f"EVENHAND_{name.upper()}": path for name, path in names.items()}
            ran = run_command(words, stdin=given, folder=config.folder, timeout_s=timeout_s, environment=environment)
        patience.heard(lost=ran.code is None)
        return _by_exit(ran, timeout_s) if channel.accepts == "exit0" else _by_json(ran, timeout_s)

    with ThreadPoolExecutor(_SLOTS) as threads:
        return list(threads.map(one, controls))


def _laid_out(folder: Path, config: AuditConfig, control: Control) -> Path:
    """The candidate's folder: its text, its task, and what it left behind."""
    place = folder / ("candidate.py" if config.task_class == "code" else "candidate.txt")
    place.write_text(control.candidate, "utf-8")
    (folder / "item.json").write_text(json.dumps(_row(control), default=str), "utf-8")
    for name, text in control.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return place


def _filled(word: str, names: Mapping[str, str]) -> str:
    for name, path in names.items():
        word = word.replace(f"{{{name}}}", path)
    return word


def _row(control: Control) -> dict[str, Any]:
    item = control.item
    return {**item.row, "id": item.id, "task": item.task, "reference": item.gold}


def _by_exit(ran: Ran, timeout_s: float) -> Said:
    """Exit code 0 accepts, every other one rejects; out of time and killed by a signal are neither."""
    if ran.code is None:
        return "not graded", f"no verdict within {timeout_s:g} s"
    if ran.code < 0:
        return "not graded", f"ended by signal {-ran.code}"
    last = (ran.complaint or ran.output).strip().rpartition("\n")[2]
    return ("accepted" if ran.code == 0 else "rejected"), f"exit code {ran.code}{': ' + last if last else ''}"


def _by_json(ran: Ran, timeout_s: float) -> Said:
    """`accepted` of the last line that is a JSON object; or a `reward` or `score` from 0 to 1, cut at one half."""
    if ran.code is None:
        return "not graded", f"no verdict within {timeout_s:g} s"
    if ran.code != 0:
        return "not graded", f"exit code {ran.code}, where JSON was expected"
    for line in reversed(ran.output.strip().splitlines()):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return verdict_of(found)
    return "not graded", "printed no line that is a JSON object"


def verdict_of(row: Mapping[str, Any]) -> Said:
    """What a JSON object says: `accepted`, or a `reward` or `score` in [0, 1]; one outside is no grade.

    >>> verdict_of({"reward": -1})
    ('not graded', 'reward -1 lies outside 0 to 1')
    """
    accepted = row.get("accepted")
    if isinstance(accepted, bool):
        return ("accepted" if accepted else "rejected"), f"accepted: {str(accepted).lower()}"
    for name in ("reward", "score"):
        value = row.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if not 0.0 <= value <= 1.0:
                return "not graded", f"{name} {_shown_number(value)} lies outside 0 to 1"
            return ("accepted" if value >= _HALF else "rejected"), f"{name} {value:g}"
    return "not graded", "holds neither accepted (true or false) nor a reward or score from 0 to 1"


def _shown_number(value: float) -> str:
    """A number in few digits, whatever its size: JSON knows whole numbers beyond any float."""
    try:
        return f"{value:g}"
    except OverflowError:
        return "of more digits than can be shown"


def _python(config: AuditConfig, channel: ChannelConfig, controls: Sequence[Control], timeout_s: float) -> list[Said]:
    """One process for as many controls as it survives."""
    file, function = channel.run
    with CallableProcess(file, function, folder=config.folder, timeout_s=timeout_s) as process:
        patience, said = _Patience(), list[Said]()
        for control in controls:
            found = _NOT_ASKED if patience.is_over else process.ask(control.candidate, _row(control))
            patience.heard(lost=process.is_lost)
            said.append(found)
    return said


def _matcher(channel: ChannelConfig, controls: Sequence[Control], matchers: Matchers) -> list[Said]:
    """Evenhand's own matcher: equal accepts; what it leaves open is not graded."""
    assert channel.rule is not None
    match = matchers.of(channel.rule)
    said: list[Said] = []
    for control in controls:
        found = match(control.candidate, control.item.gold)
        word: Got = "accepted" if found.verdict == "equal" else "rejected"
        said.append(("not graded" if found.verdict == "undecided" else word, f"{found.verdict}: {found.reason}"))
    return said


def _tests(channel: ChannelConfig, controls: Sequence[Control], *, allow_unsandboxed: bool) -> list[Said]:
    """Every check of the task, in a sandbox; accepted where each value is the expected one."""
    from evenhand.audit.checks import TestsChannel

    with TestsChannel(Path(channel.run[0]), allow_unsandboxed=allow_unsandboxed) as tests:
        return [tests.verdict(control.item.id, control.candidate) for control in controls]


def read_records(path: Path) -> tuple[ControlResult, ...]:
    """Controls that were run elsewhere: rows with `id`, `control`, `expected` (accept, reject, nothing), and what came.

    What came is `accepted` (true or false), or a `reward` or `score` from 0 to 1; one outside could not be graded.

    Raises:
        InvalidInput: a row without id or control, or with another expectation, with its place.
    """
    rows = open_rated(path, known=("id", "control", "expected", "accepted", "reward"))
    results = []
    for place, row in rows:
        name = row.get("control")
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(f"{place}: no control; expected its kind, such as gold, other_gold or empty")
        got, detail = verdict_of(row)
        results.append(
            ControlResult(
                item=id_text(row.get("id"), place, "id"), control=name.strip(), expected=_expected(row, place), got=got,
                why=str(row.get("why") or ""), detail=detail, candidate=str(row.get("candidate") or "")[:_SHOWN],
            )
        )  # fmt: skip
    return tuple(results)


def _expected(row: Mapping[str, Any], place: str) -> Expected | None:
    value = row.get("expected")
    if value is None or value == "":
        return None
    if value not in ("accept", "reject"):
        raise InvalidInput(f"{place}: expected {quoted(value)}; use accept, reject, or leave it out for a probe")
    return "accept" if value == "accept" else "reject"
