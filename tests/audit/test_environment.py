"""C3's probe, run inside real environments: every way is found where it is open, and a missing tool is never clean."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from evenhand.audit.config import AuditConfig, ChannelConfig, EnvironmentConfig
from evenhand.audit.environment import environment_seen
from evenhand.audit.items import AuditItem
from evenhand.audit.steps import Step
from evenhand.errors import InvalidInput
from evenhand.integrity.contamination import PATHS, EnvironmentFacts, contamination_verdict
from evenhand.integrity.findings import Sight, sight_findings
from evenhand.sandbox.bubblewrap import find_bubblewrap

TOOLS = ("cat", "cut", "env", "find", "getent", "git", "grep", "head", "id", "ls", "od", "sed", "sh", "sort", "stat",
         "timeout", "tr", "wc")  # fmt: skip
Look = Callable[..., tuple[EnvironmentFacts, list[Sight]]]


@pytest.fixture(scope="module")
def bubblewrap() -> str:
    found, why = find_bubblewrap(None)
    if found is None:
        pytest.skip(f"needs a closed environment to look around in: {why}")
    if shutil.which("git") is None:
        pytest.skip("needs git")
    return found.path


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """What lies in /app inside."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def look(bubblewrap: str, tmp_path: Path, work: Path) -> Look:
    """Probe a sealed environment in which /app is `work`."""

    def looks(
        *items: AuditItem, without: tuple[str, ...] = (), before: tuple[str, ...] = (), net: bool = False,
        timeout_s: float = 60.0, channel: ChannelConfig | None = None, path: str | None = None,
        steps: Mapping[str, Path] | None = None,
    ) -> tuple[EnvironmentFacts, list[Sight]]:  # fmt: skip
        tools = tmp_path / "tools"
        shutil.rmtree(tools, ignore_errors=True)
        tools.mkdir()
        for name in set(TOOLS) - set(without):
            (tools / name).symlink_to(str(shutil.which(name)))
        network = ["--share-net"] if net else []
        enter = [bubblewrap, "--unshare-all", *network, "--die-with-parent", "--ro-bind", "/usr", "/usr", "--proc",
                 "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # fmt: skip
        for link in ("/bin", "/lib", "/lib64", "/sbin"):
            if os.path.islink(link):
                enter += ["--symlink", os.readlink(link), link]
        enter += ["--bind", str(work), "/app", "--ro-bind", str(tools), "/tools", "--chdir", "/app", "--clearenv"]
        enter += ["--setenv", "PATH", path or "/tools", "--setenv", "HOME", "/app/home", *before]
        environment = EnvironmentConfig(enter=tuple(enter))
        if steps:  # each with a folder of its own in /app
            entered = {name: tuple(str(folder) if word == str(work) else word for word in enter)
                       for name, folder in steps.items()}  # fmt: skip
            environment = EnvironmentConfig(
                steps=tuple(Step(name=name, enter=words) for name, words in entered.items())
            )
        config = AuditConfig(
            name="t", file="t.yaml", folder=tmp_path, task_class="code", channel=channel, environment=environment
        )
        return environment_seen(config, items, timeout_s=timeout_s)

    return looks


def opened(facts: EnvironmentFacts) -> set[str]:
    return {one.path for one in facts.observations if one.state == "open"}


def git(folder: Path, *words: str) -> str:
    names = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def base(work: Path) -> Path:
    """A repository of one commit, and nothing else to find."""
    git(work, "init", "-q", "-b", "main")
    (work / "client.py").write_text("timeout = 0\n")
    git(work, "add", "client.py")
    git(work, "commit", "-qm", "Base")
    return work


def fix(repo: Path, message: str = "Fix the timeout (#4123)") -> str:
    """A later commit with the fix; HEAD goes back."""
    before = git(repo, "rev-parse", "HEAD")
    (repo / "client.py").write_text("timeout = 30\n")
    git(repo, "commit", "-qam", message)
    after = git(repo, "rev-parse", "HEAD")
    git(repo, "reset", "-q", "--hard", before)
    return after


def forget(repo: Path) -> None:
    """No reflog, no ORIG_HEAD: what is left is left in objects or refs alone."""
    shutil.rmtree(repo / ".git" / "logs")
    (repo / ".git" / "ORIG_HEAD").unlink(missing_ok=True)


def test_a_sealed_environment_with_one_commit_passes(look: Look, base: Path) -> None:
    facts, _ = look(AuditItem(id="task-4123", task="Timeouts, see #4123.", gold="timeout = 30 seconds"))
    assert facts.failure == ""
    assert contamination_verdict(facts).verdict == "pass", [one for one in facts.observations if one.state != "closed"]
    assert {one.path for one in facts.observations} == set(PATHS)


def test_a_fix_in_a_later_commit_is_found_on_its_branch_tag_and_remote_branch(look: Look, base: Path) -> None:
    later = fix(base)
    git(base, "tag", "v2.1.0", later)
    git(base, "update-ref", "refs/remotes/origin/later", later)
    forget(base)
    facts, _ = look()
    assert opened(facts) == {"tag", "history ahead of HEAD"}
    assert any("refs/remotes/origin/later" in one.detail for one in facts.observations)
    assert any("v2.1.0" in one.detail for one in facts.observations)


def test_a_fix_in_a_dangling_object_is_found(look: Look, base: Path) -> None:
    fix(base)
    forget(base)
    facts, _ = look()
    assert opened(facts) == {"dangling object"}
    assert any("Fix the timeout" in one.detail for one in facts.observations)


def test_a_fix_in_the_reflog_alone_is_found(look: Look, base: Path) -> None:
    fix(base)
    (base / ".git" / "ORIG_HEAD").unlink()
    assert {"reflog", "dangling object"} == opened(look()[0])


def test_a_fix_that_only_fetch_head_names_is_found(look: Look, base: Path) -> None:
    later = fix(base)
    forget(base)
    (base / ".git" / "FETCH_HEAD").write_text(f"{later}\t\tbranch 'main' of example.org\n")
    assert "FETCH_HEAD" in opened(look()[0])


def test_a_fix_in_a_pack_is_found(look: Look, base: Path) -> None:
    later = fix(base)
    git(base, "branch", "later", later)
    git(base, "repack", "-qad")
    git(base, "branch", "-qD", "later")
    forget(base)
    assert opened(look()[0]) == {"dangling object", "packed object"}


def test_a_stash_is_found(look: Look, base: Path) -> None:
    (base / "client.py").write_text("timeout = 30\n")
    git(base, "stash", "-q")
    assert "stash" in opened(look()[0])


def test_history_behind_head_is_found_since_the_answer_may_have_been_taken_out(look: Look, base: Path) -> None:
    (base / "client.py").write_text("\n")
    git(base, "commit", "-qam", "Take the feature out")
    facts, _ = look()
    assert opened(facts) == {"history behind HEAD"}
    assert contamination_verdict(facts).verdict == "fail"


def test_the_number_in_the_tasks_text_is_searched_for_in_every_message(look: Look, base: Path) -> None:
    fix(base)
    forget(base)
    facts, _ = look(AuditItem(id="t", task="Timeouts are not reported, see #4123."))
    assert "message search" in opened(facts)
    other, _ = look(AuditItem(id="t", task="Timeouts are not reported, see #99123."))
    assert "message search" not in opened(other)


def test_a_bare_repository_beside_the_work_is_found(look: Look, base: Path, work: Path) -> None:
    later = fix(base)
    forget(base)
    git(base, "branch", "later", later)
    git(base.parent, "clone", "-q", "--bare", str(base), str(work / "mirror.git"))
    shutil.rmtree(base / ".git")
    assert any("/app/mirror.git" in one.detail for one in look()[0].observations if one.state == "open")


@pytest.mark.shared
def test_every_path_of_a_stripped_repository_is_listed_apart(look: Look, work: Path, shared: Path) -> None:
    script = shared / "data" / "cases" / "files" / "T141" / "repo-tags-reflog.sh"
    subprocess.run(["sh", str(script), str(work)], check=True, capture_output=True)
    facts, _ = look(AuditItem(id="client", task="Timeouts are not reported, see #4123."))
    wanted = {"tag", "history ahead of HEAD", "FETCH_HEAD", "reflog", "dangling object", "message search"}
    assert wanted <= opened(facts)
    assert contamination_verdict(facts).verdict == "fail"


def test_a_fix_in_a_package_cache_is_found(look: Look, base: Path, work: Path) -> None:
    item = AuditItem(id="t", row={"repo": "acme/parcel-pdf"})
    assert "package cache" not in opened(look(item)[0])
    cache = work / "home" / ".cache" / "pip" / "http-v2" / "a" / "b"
    cache.mkdir(parents=True)
    (cache / "body").write_bytes(b"PK\x03\x04\0\0parcel_pdf/client.py\0\0timeout = 30")
    facts, _ = look(item)
    assert "package cache" in opened(facts)
    assert contamination_verdict(facts).verdict == "fail"


def test_a_cache_of_an_unnamed_project_is_not_measured(look: Look, base: Path, work: Path) -> None:
    cache = work / "home" / ".cache" / "pip"
    cache.mkdir(parents=True)
    (cache / "body").write_bytes(b"something")
    assert contamination_verdict(look()[0]).verdict == "insufficient evidence"


class Index(BaseHTTPRequestHandler):
    """A package index with a release later than the task's."""

    def do_GET(self) -> None:
        names = "".join(f'<a href="/p/parcelpdf-{v}.tar.gz">parcelpdf-{v}.tar.gz</a>' for v in ("3.1.0", "3.1.1"))
        page = f"<!DOCTYPE html><html><body>{names}</body></html>".encode()
        found = self.path.rstrip("/") == "/simple/parcelpdf"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        if found:
            self.wfile.write(page)

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@pytest.fixture
def index() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_a_package_index_with_a_later_release_is_a_path(look: Look, base: Path, index: str) -> None:
    if subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True).returncode:
        pytest.skip("needs the system's pip inside")
    facts, _ = look(
        AuditItem(id="t", row={"package": "parcelpdf"}), net=True, path="/tools:/usr/bin",
        before=("--setenv", "PIP_INDEX_URL", index, "--setenv", "npm_config_registry", index),
    )  # fmt: skip
    seen = [one.detail for one in facts.observations if one.path == "package index" and one.state == "open"]
    assert seen
    assert "3.1.1" in seen[0]


def test_the_task_is_recognised_in_environment_and_paths(look: Look, base: Path, work: Path) -> None:
    item = AuditItem(id="acme__parcel-4123")
    facts, _ = look(item, before=("--setenv", "INSTANCE", "acme__parcel-4123"))
    assert any("INSTANCE" in one.detail for one in facts.observations if one.path == "task provenance")
    (work / "runs").mkdir()
    (work / "runs" / "acme__parcel-4123.log").write_text("")
    assert "task provenance" in opened(look(item)[0])


def test_answer_keys_checkers_and_state_of_an_earlier_step_are_found(look: Look, work: Path) -> None:
    for name, text in {
        "data/answer_key.json": '{"incident": "disk full on node 4"}',
        "tests/check.py": "assert answer == 'disk full on node 4'\n",
        "logs/verifier/reward.json": '{"reward": 0}',
    }.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    facts, sights = look(AuditItem(id="t", task="What went wrong?", gold="disk full on node 4"))
    found = {one.detail.split(":")[0] for one in facts.observations if one.path == "answer-like file"}
    assert {"/app/data/answer_key.json", "/app/tests/check.py", "/app/logs/verifier/reward.json"} <= found
    assert contamination_verdict(facts).verdict == "fail"
    assert {sight.what for sight in sights} >= {"answer", "verifier state", "plantable reward"}


@pytest.fixture
def second(tmp_path: Path) -> Path:
    """What lies in /app in a second step."""
    folder = tmp_path / "second"
    folder.mkdir()
    return folder


@pytest.mark.shared
def test_the_checker_and_the_reward_of_an_earlier_step_are_a_finding_in_the_next(
    look: Look, base: Path, second: Path, shared: Path
) -> None:
    cases = (shared / "data" / "cases" / "cases.jsonl").read_text().splitlines()
    case = next(json.loads(line) for line in cases if '"T149"' in line)
    for name, text in case["input"]["files_in_step_2"].items():
        (second / name).parent.mkdir(parents=True, exist_ok=True)
        (second / name).write_text(text)
    facts, sights = look(AuditItem(id="t"), steps={"diagnose": base, "repair": second})
    verdict = contamination_verdict(facts)
    assert verdict.verdict == case["expected"]["c3"]
    assert [one["verdict"] for one in verdict.evidence["steps"]] == ["pass", "fail"]
    assert "repair: /app/data/answer_key.json" in verdict.evidence["paths"]["answer-like file"]["seen"]
    found = next(one for one in sight_findings(sights) if "retry until it is right" in one.what)
    assert set(found.where) == {"repair: /app/tests/check.py", "repair: /app/logs/verifier/reward.json"}
    assert found.flaw == "V1"


def test_a_checker_before_the_first_step_is_of_no_earlier_one(look: Look, base: Path, second: Path) -> None:
    (base / "check.py").write_text("")
    _, sights = look(steps={"first": base, "second": second})
    assert not any("retry until it is right" in one.what for one in sight_findings(sights))
    _, sights = look(steps={"first": second, "second": base})
    assert [
        where for one in sight_findings(sights) if "retry until it is right" in one.what for where in one.where
    ] == ["second: /app/check.py"]


def test_evaluator_files_were_looked_for_only_if_every_steps_probe_did(look: Look, base: Path, second: Path) -> None:
    facts, _ = look(steps={"first": base, "second": second})
    assert facts.details == {"looked_for_evaluator_files": True}
    facts, _ = look(steps={"first": base, "second": second}, without=("sort",))
    assert facts.details == {"looked_for_evaluator_files": False}


def test_a_compiled_file_of_the_system_is_no_answer_and_one_of_the_task_is_not_measured(
    look: Look, base: Path, tmp_path: Path
) -> None:
    system = tmp_path / "system"
    (system / "lib").mkdir(parents=True)
    (system / "lib" / "libz.so").write_bytes(b"\x7fELF")
    bound = ("--ro-bind", str(system), "/usr/local", "--chdir", "/usr/local")
    assert contamination_verdict(look(before=bound)[0]).verdict == "pass"
    (base / "target").mkdir()
    (base / "target" / "Fixed.class").write_bytes(b"\xca\xfe\xba\xbe")
    verdict = contamination_verdict(look()[0])
    assert verdict.verdict == "insufficient evidence"
    assert "/app/target/Fixed.class: compiled, of no installed package" in str(verdict.evidence)


def test_a_compiled_file_that_a_package_manager_lists_is_of_an_installed_package(
    look: Look, base: Path, tmp_path: Path
) -> None:
    (base / "env" / "lib").mkdir(parents=True)
    (base / "env" / "lib" / "libz.so").write_bytes(b"\x7fELF")
    assert contamination_verdict(look()[0]).verdict == "insufficient evidence"
    (base / "env" / "conda-meta").mkdir()
    (base / "env" / "conda-meta" / "zlib-1.json").write_text('{"files": ["lib/libz.so"]}')
    assert contamination_verdict(look()[0]).verdict == "pass"


def test_compiled_and_ignored_files_that_hold_the_answer_are_found(look: Look, base: Path, work: Path) -> None:
    """The source has been put back, the compiled file and a build folder have not."""
    (base / "client.py").write_text("timeout = 30\nmessage = 'timed out after thirty'\n")
    subprocess.run([sys.executable, "-m", "py_compile", "client.py"], cwd=base, check=True)
    (base / "client.py").write_text("timeout = 0\n")
    (base / ".git" / "info" / "exclude").write_text("build/\n__pycache__/\n")
    (base / "build" / "lib").mkdir(parents=True)
    (base / "build" / "lib" / "client.py").write_text("timeout = 30\n")
    facts, _ = look()
    found = " ".join(one.detail for one in facts.observations if one.path == "answer-like file")
    assert "compiled from another source" in found
    assert "/app/build/lib/client.py" in found


def test_a_compiled_file_of_the_source_beside_it_is_no_answer(look: Look, base: Path) -> None:
    os.utime(base / "client.py", (time.time() - 9, int(time.time()) - 9))
    subprocess.run([sys.executable, "-m", "py_compile", "client.py"], cwd=base, check=True)
    assert contamination_verdict(look()[0]).verdict == "pass"


def test_a_writable_checker_is_seen(look: Look, base: Path) -> None:
    (base / "verify_all.sh").write_text("exit 0\n")
    channel = ChannelConfig(kind="command", run=("sh", "verify_all.sh"))
    _, sights = look(channel=channel)
    assert Sight(what="writable evaluator", where="/app/verify_all.sh") in sights


@pytest.mark.parametrize(
    ("tool", "path"),
    [("git", "history ahead of HEAD"), ("find", "answer-like file"), ("grep", "package cache"), ("getent", "dns")],
)
def test_a_missing_tool_is_not_measured_and_never_clean(look: Look, base: Path, tool: str, path: str) -> None:
    facts, _ = look(without=(tool,))
    states = {one.state for one in facts.observations if one.path == path}
    assert "not measured" in states
    assert contamination_verdict(facts).verdict == "insufficient evidence"


@pytest.mark.parametrize("tool", ["cut", "grep", "head", "sed", "sort", "tr", "wc"])
def test_no_open_way_turns_closed_for_want_of_a_tool_in_the_middle_of_a_pipe(
    look: Look, base: Path, work: Path, tool: str
) -> None:
    git(base, "tag", "v2", fix(base))
    git(base, "repack", "-qad")
    (work / "home" / ".cache" / "pip").mkdir(parents=True)
    (work / "home" / ".cache" / "pip" / "body").write_bytes(b"parcelpdf")
    (work / "acme-4123.log").write_text("the disk is full on node 4")
    item = AuditItem(id="acme-4123", task="#4123", gold="disk is full on node 4", row={"package": "parcelpdf"})
    open_ways = {
        "tag", "FETCH_HEAD", "reflog", "packed object", "message search", "package cache", "task provenance",
        "answer-like file",
    }  # fmt: skip
    facts, _ = look(item, without=(tool,))
    paths = contamination_verdict(facts).evidence["paths"]
    assert {paths[way]["state"] for way in open_ways} <= {"open", "not measured"}
    assert "not measured" in {paths[way]["state"] for way in open_ways}


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (".hg/store/data", "history behind HEAD"),
        (".svn/wc.db", "history ahead of HEAD"),
        ("client.so", "answer-like file"),
    ],
)
def test_what_the_probe_cannot_read_is_not_measured(look: Look, base: Path, name: str, path: str) -> None:
    (base / name).parent.mkdir(parents=True, exist_ok=True)
    (base / name).write_bytes(b"\0")
    facts, _ = look()
    assert contamination_verdict(facts).evidence["paths"][path]["state"] == "not measured"


@pytest.mark.parametrize("name", ["client.py~", ".client.py.swp", "client.py.bak", "later.bundle"])
def test_copies_that_tools_leave_behind_are_found(look: Look, base: Path, name: str) -> None:
    (base / name).write_text("timeout = 30\n")
    assert "answer-like file" in opened(look()[0])


def test_an_evaluator_that_nobody_looked_for_is_not_said_to_be_safe(look: Look, base: Path) -> None:
    for without, looked in (((), True), (("sort",), False)):
        details = look(without=without)[0].details
        assert details is not None
        assert details["looked_for_evaluator_files"] is looked


def test_a_probe_that_runs_out_of_time_says_so(look: Look, base: Path) -> None:
    facts, _ = look(timeout_s=0.05)
    assert "within 0.05 s" in facts.failure
    assert contamination_verdict(facts).verdict == "insufficient evidence"


def test_the_probe_refuses_to_run_without_its_marker() -> None:
    script = Path(__file__).resolve().parents[2] / "src" / "evenhand" / "audit" / "data" / "probe.sh"
    for words in ([], ["evenhand-probe"], ["other", "nonce"]):
        done = subprocess.run(["sh", str(script), *words], capture_output=True, text=True)
        assert done.returncode == 64
        assert done.stdout == ""
        assert "marker" in done.stderr


def seen(tmp_path: Path, *enter: str) -> EnvironmentFacts:
    config = AuditConfig(
        name="t", file="t.yaml", folder=tmp_path, task_class="code", environment=EnvironmentConfig(enter=enter)
    )
    return environment_seen(config, (), timeout_s=5)[0]


def test_an_environment_that_cannot_be_entered_is_insufficient(tmp_path: Path) -> None:
    facts = seen(tmp_path, "sh", "-c", "echo no such image >&2; exit 125")
    assert not facts.entered
    assert "no such image" in facts.failure
    with pytest.raises(InvalidInput, match="cannot be started"):
        seen(tmp_path, "no-such-command-here")


def test_lines_that_somebody_else_prints_are_no_observations(tmp_path: Path) -> None:
    facts = seen(tmp_path, "sh", "-c", "printf 'guess\\tpath\\tdns\\tclosed\\t\\n'; cat >/dev/null")
    assert not facts.observations
    assert facts.failure


def test_a_written_specification_enters_nothing(tmp_path: Path) -> None:
    config = AuditConfig(
        name="t", file="t.yaml", folder=tmp_path, task_class="code",
        environment=EnvironmentConfig(spec="No network."),
    )  # fmt: skip
    facts, sights = environment_seen(config, (), timeout_s=5)
    assert (facts.specified, facts.entered, sights) == (True, False, [])
    assert contamination_verdict(facts).verdict == "insufficient evidence"
