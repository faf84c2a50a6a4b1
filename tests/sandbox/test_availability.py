"""Where no sandbox works that is said, and nothing foreign runs unless the caller wants that."""

import fcntl
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from evenhand.errors import SandboxError
from evenhand.sandbox import CheckCall, Limits, Sandbox, available, bubblewrap, place
from evenhand.sandbox.ground import Ground
from evenhand.sandbox.interpreter import find_interpreter, readable_by_others
from evenhand.sandbox.staging import LONE_IMPORT, remove_abandoned
from evenhand.sandbox.uids import ClaimedUid, free_range


def refusing(reason: str) -> Callable[[Ground], NoReturn]:
    """What finds a kind where it cannot work."""

    def find(_: Ground) -> NoReturn:
        raise SandboxError(reason)

    return find


@pytest.fixture
def without_any(monkeypatch: pytest.MonkeyPatch, without_bubblewrap: None) -> None:
    monkeypatch.setitem(place.FINDERS, "landlock", refusing("the kernel has no Landlock"))
    monkeypatch.setitem(place.FINDERS, "container", refusing("no container engine is installed"))
    monkeypatch.setitem(place.FINDERS, "wasi", refusing("wasmtime is not installed"))


@pytest.fixture
def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(place.FINDERS, "bubblewrap", refusing("bubblewrap is not installed"))


@pytest.mark.usefixtures("without_any")
def test_without_a_sandbox_nothing_is_run_and_the_reason_is_given() -> None:
    with pytest.raises(
        SandboxError,
        match=r"none works here: bubblewrap is not installed; no container engine is installed; "
        r"wasmtime is not installed; the kernel has no Landlock; install",
    ):
        Sandbox()
    kind, reason = available()
    assert kind is None
    assert "not installed" in reason


@pytest.mark.usefixtures("without_any")
def test_unsandboxed_runs_only_where_that_was_allowed_and_says_that_nothing_is_held() -> None:
    with Sandbox(allow_unsandboxed=True) as box:
        run = box.run_suite("def f(x): return x", "f", [CheckCall(id="a", args=[3])])
        told = box.describe()
        command = box.run_command(["sh", "-c", "cat a; exit 4"], {"a": "text"})
    assert (box.kind, run.results[0].value) == ("unsandboxed", 3)
    assert (told.kind, told.not_held) == ("unsandboxed", ("everything",))
    assert (command.stdout, command.exit_code) == (b"text", 4)


@pytest.mark.usefixtures("without_any")
def test_unsandboxed_limits_touch_no_other_process() -> None:
    before = Path("/proc/1/limits").read_text()
    with Sandbox(allow_unsandboxed=True) as box:
        box.run_suite("def f(x): return x", "f", [CheckCall(id="a", args=[3])], Limits(open_files=33))
        box.run_command(["true"], limits=Limits(open_files=33))
    assert Path("/proc/1/limits").read_text() == before


def test_a_bubblewrap_that_does_not_start_is_told_with_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from evenhand.sandbox.bubblewrap import Bubblewrap

    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if folder != Path("/tmp") and not readable_by_others(str(folder)) and folder.owner() == Path.home().owner():
            folder.chmod(0o755)
    found = Bubblewrap(path=str(broken), version="0.11.0")
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda _: (found, ""))
    with pytest.raises(SandboxError, match="No permissions to create new namespace"):
        Sandbox(kind="bubblewrap")
    kind, reason = available()
    assert kind is not None or "No permissions to create new namespace" in reason


def test_a_python_that_cannot_be_read_or_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="is not there"):
        Sandbox(interpreter=str(tmp_path / "python"))
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    assert not readable_by_others(str(hidden))
    assert find_interpreter(as_root=True, named=str(hidden))[0] is None


def test_the_range_of_ids_avoids_accounts_and_what_may_be_mapped() -> None:
    found = free_range("a:x:200005:0", "b:201024:1024", "c:202048:1", "g:x:203500:")
    assert found == range(204096, 205120)
    with pytest.raises(SandboxError, match="every user id"):
        free_range("", "all:0:4294967295")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts sandboxes under ids of their own")
def test_no_two_sandboxes_have_one_id_at_the_same_time() -> None:
    claimed = [ClaimedUid() for _ in range(5)]
    try:
        assert len({one.uid for one in claimed}) == 5
    finally:
        for one in claimed:
            one.close()


def test_the_staged_runner_is_the_two_files_without_their_import(root: Path) -> None:
    text = (root / "src/evenhand/sandbox/runner.py").read_text("utf-8")
    assert LONE_IMPORT in text
    assert "evenhand." not in text.replace(LONE_IMPORT, "")


def test_a_folder_that_a_killed_process_left_is_removed_and_one_in_use_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held, left, foreign = (tmp_path / f"evenhand-sandbox-{name}" for name in ("held", "left", "foreign"))
    for folder in (held, left, foreign):
        folder.mkdir()
        (folder / "runner.pyc").write_bytes(b"")
    for folder in (held, left):
        (folder / "held").write_bytes(b"")
    with (held / "held").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        remove_abandoned()
        assert left.is_dir()  # young
        remove_abandoned(age_s=-1.0)
    assert (held.is_dir(), left.is_dir(), foreign.is_dir()) == (True, False, True)
