"""What is heavy is imported where it is used. Checked by name and not by the clock, so that a busy machine passes."""

import json
import subprocess
import sys

import pytest

HEAVY = {
    *("numpy", "scipy", "pydantic", "aiohttp", "sqlalchemy", "pyarrow", "xllamacpp", "pydantic_ai", "genai_prices"),
    *("huggingface_hub", "rapidfuzz", "zstandard", "yaml"),
}
HELP = """
import contextlib, io
from evenhand.cli.main import run
sys.argv = ["evenhand", "--help"]
with contextlib.redirect_stdout(io.StringIO()) as out:
    try:
        run()
    except SystemExit as end:
        assert not end.code, end.code
assert "judge" in out.getvalue()
"""


@pytest.mark.parametrize("work", ["import evenhand", HELP], ids=["import evenhand", "evenhand --help"])
def test_nothing_heavy_is_imported_by(work: str) -> None:
    script = f"import json, sys\n{work}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    loaded = {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
    assert not loaded & HEAVY
