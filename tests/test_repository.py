"""The repository as a whole: nothing in it depends on one machine or one registry, and its parts agree."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Written in pieces, so that this file does not hold what it looks for.
FORBIDDEN = {
    "the host of a package registry": r"\bpy"
    + r"pi\.(?:org|io)|python"
    + r"hosted\.org|registry\.npm"
    + r"js|crates\."
    + "io",
    "a folder of one machine": r"(?<![\w.$}])/(?:wo" + r"rk|ro" + r"ot|ho" + r"me/\w+|Use" + r"rs/\w+|opt/py" + r"pi)/",
    "a tool of one machine": r"\bfa" + r"rm-\w+|\bduplicates" + r" --|\bissues" + r" show",
    "a secret": r"\bsk-[A-Za-z0-9]{20,}|\bghp_\w{20,}|BEGIN [A-Z ]*PRIVATE" + " KEY",
}


def tracked() -> list[Path]:
    """The files under version control, or where there is none, those of an unpacked sdist."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    folders = ("src", "tests", "docs", "examples", "benchmarks")
    return [p for name in folders for p in (ROOT / name).rglob("*") if p.is_file() and "__pycache__" not in p.parts]


def text_of(path: Path) -> str:
    """The text of a file; empty for one that holds none."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        return ""


def project() -> dict[str, Any]:
    """The whole of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_names(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    hits = [
        f"{path.relative_to(ROOT)}:{number}: {hit[0]}"
        for path in tracked()
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if (hit := pattern.search(line))
    ]
    assert not hits, f"{what}: " + "; ".join(hits[:20])


def test_no_file_is_named_for_nothing_in_particular() -> None:
    vague = {"utils.py", "util.py", "helpers.py", "misc.py", "common.py"}
    assert not [str(path.relative_to(ROOT)) for path in tracked() if path.name in vague]


def test_the_changelog_begins_with_what_is_unreleased() -> None:
    headings = re.findall(r"^#+ .*$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert headings[:2] == ["# Changelog", "## Unreleased"]
    assert "### Numbers that change" in headings


def test_versions_agree() -> None:
    declared = project()["project"]["version"]
    assert version("evenhand") == declared
    released = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert not released or released[0] <= declared


def test_the_lock_is_hashed_and_names_no_address() -> None:
    lock = (ROOT / "requirements-dev.lock").read_text("utf-8")
    assert not re.findall(r"^.*(?:://| @ |^-).*$", lock, re.M)
    pinned = re.split(r"\n(?=\S)", lock.strip())
    assert all(re.match(r"[a-z0-9-]+==\S+", entry) and "--hash=sha256:" in entry for entry in pinned)


def test_the_lock_holds_every_declared_dependency() -> None:
    settings = project()
    extras = settings["project"]["optional-dependencies"]
    declared = [
        *settings["project"]["dependencies"],
        *(entry for name in extras for entry in extras[name]),
        *settings["dependency-groups"]["dev"],
    ]
    names = {re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", entry)[0].lower()) for entry in declared} - {"evenhand"}
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements-dev.lock").read_text("utf-8"), re.M))
    assert names <= locked, f"run `make lock`: not locked: {sorted(names - locked)}"


def test_each_extra_is_part_of_all() -> None:
    extras = project()["project"]["optional-dependencies"]
    inner = re.fullmatch(r"evenhand\[(.+)\]", extras["all"][0])[1]
    assert set(inner.split(",")) == set(extras) - {"all"}


@pytest.mark.parametrize(
    "start",
    [[sys.executable, "-m", "evenhand"], [str(Path(sys.executable).with_name("evenhand"))]],
    ids=["module", "command"],
)
def test_the_package_runs_as_a_module_and_as_a_command(start: list[str]) -> None:
    done = subprocess.run([*start, "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, f"evenhand {version('evenhand')}"), done.stderr
