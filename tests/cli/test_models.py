"""`evenhand models`: as people call it."""

import json
import os
import subprocess

import pytest

KEY = "sk-never-shown"


@pytest.fixture
def models(tmp_path, evenhand_process):
    """Run the command in an empty folder, with a models folder of its own."""

    def run(*arguments, **environ):
        inherited = {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_BASE_URL"))}
        return subprocess.run(
            [*evenhand_process, "models", *arguments],
            cwd=tmp_path,
            env={**inherited, "EVENHAND_MODELS": str(tmp_path / "models"), **environ},
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


def test_the_list_says_which_keys_are_set_and_shows_none(models, tmp_path) -> None:
    (tmp_path / ".env").write_text(f"GROQ_API_KEY={KEY}\n")
    done = models("list", "--json", OPENAI_API_KEY=KEY)
    rows = {row["provider"]: row for row in json.loads(done.stdout)["providers"]}
    assert rows["openai"]["key_from"] == "OPENAI_API_KEY in environment"
    assert rows["groq"]["key_from"] == "GROQ_API_KEY in .env"
    assert not rows["anthropic"]["key_set"]
    assert KEY not in done.stdout + done.stderr
    plain = models("list", OPENAI_API_KEY=KEY)
    assert KEY not in plain.stdout + plain.stderr
    assert "anthropic/MODEL" in plain.stdout


def test_the_list_names_local_models_and_how_to_get_them(models, tmp_path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine.gguf").write_bytes(b"GGUF")
    rows = {row["model"]: row for row in json.loads(models("list", "--json").stdout)["local"]}
    assert rows["local/smollm2"]["here"] is False
    assert rows["local/smollm2"]["licence"] == "Apache-2.0"
    assert rows[f"local/{tmp_path}/models/mine.gguf"]["here"]
    assert "no: evenhand models pull smollm2" in " ".join(models("list").stdout.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pull", "nosuch"), "local/nosuch: unknown"),
        (("pull", "none.gguf"), "there is no file none.gguf"),
        (("check", "local/smollm2"), "evenhand models pull smollm2"),
        (("check", "gpt-5"), "names no provider"),
        (("check", "openai/x"), "OPENAI_API_KEY is not set"),
        (("check", "anthropic/x"), "ANTHROPIC_API_KEY is not set"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_2(models, arguments, said) -> None:
    done = models(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_an_endpoint_that_is_not_there_exits_3(models) -> None:
    done = models("check", "openai-compatible/x", "--base-url", "http://127.0.0.1:9/v1")
    assert done.returncode == 3
    assert "127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_is_checked_and_not_copied(models, tmp_path) -> None:
    (tmp_path / "page.gguf").write_text("<html>")
    done = models("pull", "page.gguf")
    assert done.returncode == 2
    assert "no GGUF file" in done.stderr


@pytest.mark.local
def test_a_check_of_the_embedded_model_says_what_it_can_do(models, embedded_model) -> None:
    settings = {"EVENHAND_LOCAL_CONTEXT": "1024", "EVENHAND_MODELS": str(embedded_model.parent)}
    done = models("check", "local/smollm2", "--json", **settings)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    answers = {one["asked"]: one["answer"] for one in found["findings"]}
    assert answers == {
        "max_tokens": "yes",
        "temperature": "yes",
        "schema": "yes",
        "tool": "no",
        "json": answers["json"],  # whether it picks the fields asked for is the model's doing
        "text": answers["text"],
        "logprobs": "yes",
    }
    assert found["profile"] == {"mode": "schema", "omit": [], "max_tokens_field": "max_tokens"}
    assert found["price"]["input_usd_per_million"] is None
    assert found["context"] == 1024


@pytest.mark.local
def test_pulling_what_is_here_says_so(models, embedded_model) -> None:
    done = models("pull", "smollm2", "--json", EVENHAND_MODELS=str(embedded_model.parent))
    assert done.returncode == 0
    assert json.loads(done.stdout)["path"] == str(embedded_model)
    assert "is here already" in done.stderr
