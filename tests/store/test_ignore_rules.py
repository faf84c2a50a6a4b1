"""Ignore rules, held to git's own answers."""

import shutil
import subprocess
from pathlib import Path

import pytest

from evenhand.store.ignore_rules import IgnoreRules
from evenhand.store.repositories import Repository

RULES = r"""
# a comment
*.log
!keep.log
/top.txt
build/
doc/*.txt
**/cache
a/**/b
logs/**
foo*bar?.c
[abc].x
[!abc].y
\#hash
\!bang
trail\_
space___
x[[:digit:]].d
sub/dir/
*.tmp*
**/deep/*.q
[a-c]z
""".strip("\n").replace("_", " ")
NAMES = [
    "a.log", "keep.log", "s/keep.log", "top.txt", "s/top.txt", "build/x", "s/build/x", "doc/a.txt", "doc/s/a.txt",
    "s/doc/a.txt", "cache/x", "s/t/cache/x", "a/b/x", "a/s/t/b", "logs/x", "s/logs/x", "fooXbarY.c", "foo/bar1.c",
    "foobar.c", "a.x", "d.x", "a.y", "d.y", "#hash", "!bang", "trail ", "trail", "space", "x1.d", "xa.d",
    "sub/dir/f", "s/sub/dir/f", "f.tmp", "f.tmpx", "q/deep/f.q", "deep/f.q", "deep/s/f.q", "az", "dz", "build2",
]  # fmt: skip


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_rules_ignore_what_git_ignores(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text(RULES)
    for name in NAMES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "s" / ".gitignore").write_text("!top.txt\n*.x\nlogs\n")
    (tmp_path / "s" / "n.x").write_text("x")
    listed = subprocess.run(
        ["git", "-C", tmp_path, "ls-files", "-z", "--others", "--exclude-standard"], check=True, capture_output=True
    ).stdout.decode()
    read = Repository.walked(tmp_path).files
    assert set(read) == {name for name in listed.split("\0") if name and not Path(name).name.startswith(".git")}


def test_a_hostile_pattern_costs_little() -> None:
    rules = IgnoreRules.of("*a" * 200 + "b\n" + "**/" * 60 + "x\n" + "[" * 300 + "\n" + "?" * 400, folder="")
    for _ in range(20):  # would not end, if each star tried every length
        assert rules.verdict("/".join(["a" * 200] * 15), is_folder=False) is None
