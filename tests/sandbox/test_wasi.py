"""What a Python of WebAssembly holds, and what cannot be done there."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.errors import InvalidInput, SandboxError
from evenhand.sandbox import CheckCall, CheckResult, Limits, Sandbox, SuiteJob, available, bubblewrap, container, wasi

TRY = """
import os
def attempt(what, *arguments):
    try:
        return what(*arguments)
    except (OSError, RuntimeError, AttributeError, ImportError) as error:
        return error.__class__.__name__
"""


@pytest.fixture(scope="session")
def wasm() -> Iterator[Sandbox]:
    """A sandbox of this kind; compiling it for the first time takes some seconds."""
    try:
        found = Sandbox(kind="wasi")
    except SandboxError as error:
        pytest.skip(f"needs the extra wasi: {error}")
    with found:
        yield found


def results(box: Sandbox, code: str, *arguments: object, limits: Limits | None = None) -> tuple[CheckResult, ...]:
    """The results of `f` over each argument."""
    checks = [CheckCall(id=str(n), args=[argument]) for n, argument in enumerate(arguments or (0,))]
    run = box.run_suite(code, "f", checks, limits or Limits(check_s=30))
    assert run.load == "loaded", run.load_detail
    return run.results


def value(box: Sandbox, code: str, *arguments: object) -> object:
    """What `f` returned for the last argument."""
    *_, last = results(box, code, *arguments)
    assert last.status == "value", last
    return last.value


def ended(process: int) -> bool:
    """Whether a process is gone, now or within ten seconds."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if not Path(f"/proc/{process}").exists():
            return True
        time.sleep(0.05)
    return False


def test_it_holds_everything_as_measured_inside(wasm: Sandbox) -> None:
    told = wasm.describe(Limits(memory_bytes=128 << 20, processes=8, check_s=60))
    assert (told.kind, told.not_held, len(told.holds)) == ("wasi", (), 17)
    assert (told.version.startswith("wasmtime "), told.interpreter.endswith(".wasm")) == (True, True)
    assert told.python.startswith("3.")


def test_there_is_no_file_no_socket_no_process_and_no_thread(wasm: Sandbox) -> None:
    code = TRY + (
        "import socket, threading\n"
        "def reach(port):\n"
        "    with socket.socket() as client:\n"
        "        client.connect(('127.0.0.1', port))\n"
        "        return 'reached'\n"
        "def start():\n"
        "    threading.Thread(target=print).start()\n"
        "def f(to):\n"
        "    path, port = to\n"
        "    return [attempt(open, path), attempt(open, '/x', 'w'), attempt(os.listdir, '/'), attempt(os.mkdir, 'd'),\n"
        "            attempt(reach, port), attempt(start), hasattr(os, 'fork'), hasattr(os, 'kill')]"
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = value(wasm, code, ("/etc/passwd", server.getsockname()[1]))
    assert isinstance(found, list)
    assert all(isinstance(one, str) and one.endswith("Error") for one in found[:6]), found
    assert found[6:] == [False, False]


def test_nothing_of_the_parent_is_in_its_environment_or_descriptors(
    wasm: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    code = TRY + (
        "def f(x):\n"
        "    # 3 is the standard library, which lies in the module itself\n"
        "    numbers = [n for n in range(4, 64) if not isinstance(attempt(os.fstat, n), str)]\n"
        "    return sorted(os.environ), numbers"
    )
    assert value(wasm, code) == (["EVENHAND_SANDBOX", "HOME", "PWD"], [])


def test_what_ends_in_any_way_is_named_and_the_next_check_is_run(wasm: Sandbox) -> None:
    code = (
        "import os\n"
        "def deeper(x): return deeper(x)\n"
        "def f(x):\n"
        "    if x == 0: os._exit(0)\n"
        "    if x == 1: raise SystemExit(0)\n"
        "    if x == 2:\n"
        "        while True: pass\n"
        "    if x == 3: return deeper(x)\n"
        "    if x == 4: return [bytearray(1 << 24) for _ in range(1 << 10)]\n"
        "    return x"
    )
    limits = Limits(check_s=4, memory_bytes=128 << 20)
    found = results(wasm, code, 0, 1, 2, 3, 4, 5, limits=limits)
    assert [one.status for one in found] == ["crashed", "exited", "timeout", "exception", "memory", "value"]
    assert (found[3].type_name, found[5].value) == ("RecursionError", 5)


def test_sorting_by_a_key_that_calls_itself_is_no_fault_of_the_parent(wasm: Sandbox) -> None:
    code = "def f(x):\n    return sorted([x, x], key=f) if x else repr(x)\n"
    first, second = results(wasm, code, 1, 0, limits=Limits(check_s=10))
    assert first.status in ("exception", "crashed")
    assert second.value == "0"


def test_what_is_printed_goes_nowhere_and_what_is_written_to_the_channel_is_tampering(wasm: Sandbox) -> None:
    code = (
        "import os, sys\n"
        "def f(x):\n"
        "    print('49 9 OK', file=sys.stderr)\n"
        "    print('x' * 1000000)\n"
        "    if x: os.write(1, b'ok\\n')\n"
        "    return 3"
    )
    printed, wrote = results(wasm, code, 0, 1)
    assert (printed.value, wrote.status) == (3, "crashed")
    assert "tampered" in wrote.detail


def test_values_of_every_exact_type_come_back(wasm: Sandbox) -> None:
    given = [None, True, -(1 << 200), 1.5, float("inf"), 2j, "ü\ud800", b"\0", [(), {1: {2}}]]
    assert value(wasm, "def f(x): return x", given) == given


def test_a_run_ends_with_whoever_started_it(wasm: Sandbox, root: Path) -> None:
    program = (
        "import threading, time\n"
        "from evenhand.sandbox import CheckCall, Limits, Sandbox\n"
        "from evenhand.sandbox import channel\n"
        "ask = channel.Channel.ask\n"
        "def told(self, frame, until):\n"
        "    if frame[0] == 'call': print(self._process.pid, flush=True)\n"
        "    return ask(self, frame, until)\n"
        "channel.Channel.ask = told\n"
        "with Sandbox(kind='wasi') as box:\n"
        "    checks = [CheckCall(id='a', args=[0])]\n"
        "    box.run_suite('def f(x):\\n    while True: pass', 'f', checks, Limits(check_s=300))\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        host = int(process.stdout.readline())
        assert Path(f"/proc/{host}").exists()
        process.send_signal(signal.SIGKILL)
        assert ended(host)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has other ids to run under")
def test_as_root_the_host_becomes_nobody_before_anything_foreign_runs(wasm: Sandbox) -> None:
    with wasm._uid() as uid:
        channel = wasm._kind.runner(Limits(), uid)
        try:
            channel.read(time.monotonic() + 30)
            status = Path(f"/proc/{channel._process.pid}/status").read_text()
        finally:
            channel.close()
    assert f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}" in status
    assert "CapEff:\t0000000000000000" in status


def test_a_command_and_a_mount_are_refused_in_a_sentence(wasm: Sandbox) -> None:
    with pytest.raises(SandboxError, match="this sandbox is wasi, where there is a Python and no other program"):
        wasm.run_command(["true"])
    with pytest.raises(InvalidInput, match="this sandbox is wasi"):
        wasm.run_command(["true"], mounts={"/given": "/usr/lib"})


def test_a_pool_runs_each_module_in_a_sandbox_of_its_own(wasm: Sandbox) -> None:
    code = "SEEN = []\ndef f(x):\n    SEEN.append(x)\n    return SEEN"
    jobs = [SuiteJob(key=n, code=code, entry_point="f", checks=[CheckCall(id="a", args=[n])]) for n in range(3)]
    with wasm.trusted_pool(Limits(check_s=20)) as pool:
        assert [run.results[0].value for _, run in pool.run_suites(jobs)] == [[0], [1], [2]]


def test_it_comes_where_neither_bubblewrap_nor_an_engine_works(wasm: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda _: (None, "bubblewrap is not installed"))
    monkeypatch.setattr(container, "ENGINES", ("no-such-engine",))
    assert available() == (wasm.kind, "")


def test_a_python_that_is_named_is_taken_and_one_that_is_none_is_refused(
    wasm: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Sandbox(kind="wasi", interpreter=wasm.interpreter.path) as box:
        assert value(box, "def f(x): return x + 1", 3) == 4
    with pytest.raises(SandboxError, match=r"a file of the ending \.wasm, and '/usr/bin/python3' is none"):
        Sandbox(kind="wasi", interpreter="/usr/bin/python3")
    broken = tmp_path / "python.wasm"
    broken.write_bytes(b"\0asm\1\0\0\0" + secrets.token_bytes(8))
    monkeypatch.setenv("EVENHAND_WASI_PYTHON", str(broken))
    with pytest.raises(SandboxError, match="could not be compiled"):
        Sandbox(kind="wasi")


def test_an_installed_file_that_is_not_the_known_build_is_refused(
    wasm: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wasi, "_SHA256", "0" * 64)
    with pytest.raises(SandboxError, match="is not the build of Python that it should be"):
        Sandbox(kind="wasi")


def test_without_the_extra_it_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wasi.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(
        SandboxError, match=r"there is no Python of WASI \(the extra `wasi`, or a file that EVENHAND_WASI"
    ):
        Sandbox(kind="wasi")
