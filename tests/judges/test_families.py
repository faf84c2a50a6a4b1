import pytest

from evenhand.errors import InvalidInput
from evenhand.judges.families import Kinship, family_of, same_model
from evenhand.store.packaged import families
from evenhand.terms import ModelSpec

KNOWN = {
    "openai/gpt-5.4-mini": "gpt",
    "openai/o4-mini": "gpt",
    "openrouter/openai/gpt-oss-120b:free": "gpt",
    "azure:gpt-4o": "gpt",
    "anthropic/claude-sonnet-4-5": "claude",
    "google/gemini-2.5-flash": "gemini",
    "ollama/gemma3:27b": "gemini",
    "groq:meta-llama/llama-3.3-70b": "llama",
    "ollama/codellama:13b": "llama",
    "ollama:qwen3:8b": "qwen",
    "qwen3:8b": "qwen",
    "together/Qwen/QwQ-32B": "qwen",
    "mistral/ministral-8b-latest": "mistral",
    "mistral/a-model-of-tomorrow": "mistral",
    "deepseek/deepseek-r1-distill-llama-70b": "deepseek",
    "xai/grok-4": "grok",
    "ollama/phi4": "phi",
    "cohere/command-r-plus": "command",
    "local/smollm2": "smollm",
}
UNKNOWN = ["team 12", "ollama/my-own", "human", "local/a/folder/weights.gguf", "the command line", "philosophy", "8b"]


@pytest.mark.parametrize(("name", "family"), KNOWN.items())
def test_a_family_is_known_by_the_models_name(name, family):
    assert family_of(name, families()) == family


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_the_table_does_not_know_has_no_family(name):
    assert family_of(name, families()) is None


def test_every_pattern_of_the_table_compiles_and_matches_its_own_family():
    for family in families():
        assert family_of(f"x/{family}-1", families()) in {family, None}


def test_a_broken_pattern_is_named():
    with pytest.raises(InvalidInput, match="'bad' has a pattern"):
        family_of("x/y", {"bad": ["("]})


@pytest.mark.parametrize(
    ("judge", "system", "same"),
    [
        ("openai/gpt-5", "openai/gpt-5", True),
        ("openai/gpt-5", "openai:gpt-5", True),
        ("openai/gpt-5", " GPT-5 ", True),
        ("openai/gpt-5", "openrouter/openai/gpt-5", True),
        ("openrouter/openai/gpt-5", "openai/gpt-5", True),
        ("openai/gpt-5", "gpt-5-mini", False),
        ("ollama:qwen3:8b", "qwen3:8b", True),
        ("ollama:qwen3:8b", "llama3:8b", False),
        ("ollama:qwen3:8b", "8b", False),
        ("openai/gpt-5", "", False),
        ("openai/gpt-5", "openai", False),
    ],
)
def test_the_very_same_model_is_known_with_or_without_its_provider(judge, system, same):
    assert same_model(judge, system) is same


def test_a_family_that_the_judge_file_states_goes_before_the_table():
    models = [ModelSpec(model="openai/gpt-5"), ModelSpec(model="ollama/mine", family="GPT"), ModelSpec(model="xai/b")]
    kinship = Kinship(models, families())
    assert kinship.shared([model.model for model in models]) == ("gpt",)
    assert kinship.is_kin("ollama/mine", "openai/gpt-4o")
    assert kinship.is_kin("ollama/mine", "gpt")
    assert not kinship.is_kin("xai/b", "openai/gpt-4o")
    assert not kinship.is_kin("openai/gpt-5", None)


def test_unknown_families_are_not_said_to_be_shared():
    models = [ModelSpec(model="ollama/a"), ModelSpec(model="ollama/b")]
    assert Kinship(models, families()).shared(["ollama/a", "ollama/b"]) == ()
