"""Records and texts for pages, and a real browser where there is one."""

import shutil
import subprocess

import pytest

from evenhand.identity import item_hash
from evenhand.report.reading import read_report
from evenhand.report.texts import Library
from evenhand.terms import Item, Record, Usage

HOSTILE = (
    "</style></title></pre></textarea><script>document.title='EXECUTED'</script>"
    '"\'><img src=http://evil.invalid/x onerror="document.title=\'EXECUTED\'"> <a href="javascript:alert(1)">x</a> '
    "<svg onload=\"document.title='EXECUTED'\"> {{ 7*7 }} {% raw %} ]]> &lt;b&gt; --> "
    "\x1b[31mred\x1b[0m \x00 \u202eevil\u202c zero\u200bwidth \ufffe"
)


@pytest.fixture
def hostile():
    return HOSTILE


@pytest.fixture
def record():
    """Makes a record; a checklist verdict on `candidate` unless said."""

    def make(item="a", candidate="It works, says the almanac.", **more):
        quote = more.pop("quote", "says the almanac")
        start = candidate.find(quote)
        check = {
            "id": more.pop("check", "fact"),
            "passed": True,
            "quote": quote,
            "quote_status": "exact" if start >= 0 else "absent",
            "span": [start, start + len(quote)] if start >= 0 else None,
            "counted": start >= 0,
        }
        score = 1 if start >= 0 else 0
        entry = {"id": "c", "weight": 1.0, "score": score, "exact": float(score), "scale": [0, 1], "checks": [check]}
        status = more.get("status", "verdict")
        fields = {
            "item": item,
            "item_hash": item_hash(Item(id=item, candidate=candidate)),
            "metadata": {},
            "judge": {
                "name": "j",
                "hash": "sha256:" + "0" * 64,
                "protocol": "checklist",
                "protocol_version": 1,
                "models": ["openai/x"],
            },
            "member": "openai/x",
            "rerun": 0,
            "status": status,
            "keys": ("sha256:" + "1" * 64,),
            "usage": Usage(input_tokens=10, output_tokens=2),
        }
        if status == "verdict":
            fields |= {"score": score, "exact": float(score), "scale": (0, 1), "criteria": (entry,)}
        return Record(**(fields | more))

    return make


@pytest.fixture
def report():
    """Makes a Report of records, with the candidates of these items at hand."""

    def make(records, items=(), **more):
        return read_report(records, Library(None, items), source="r.jsonl", **more)

    return make


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Opens a page in headless Chromium: its document after any script ran. Skips where there is no browser."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("needs a browser: no chromium, chromium-browser or google-chrome on the path")
    profile = tmp_path_factory.mktemp("profile")

    def dump(url, *more):
        done = subprocess.run(
            [found, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
             f"--user-data-dir={profile}", "--virtual-time-budget=3000", *more, "--dump-dom", url],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        if "<html" not in done.stdout:
            pytest.skip(f"needs a browser that runs: {found} gave no page ({done.stderr.strip()[-200:]})")
        return done.stdout

    return dump
