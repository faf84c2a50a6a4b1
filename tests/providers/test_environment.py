"""Which key goes where: every rule of `providers.environment`, from both sides."""

import pytest

from evenhand.errors import InvalidInput
from evenhand.providers.environment import read_dotenv
from evenhand.providers.open import resolve
from evenhand.terms import ModelSpec

KEY, OTHER = "sk-environment-1", "sk-dotenv-22"
GATEWAY = "https://gateway.example/v1"


def target(model="openai/m", *, base_url=None, environ=None, dotenv=None, **spec):
    return resolve(ModelSpec(model=model, **spec), base_url=base_url, environ=environ or {}, dotenv=dotenv or {})


def key_of(*args, **settings) -> str | None:
    key = target(*args, **settings).key
    return key.reveal() if key else None


# --- the vendor's own address --------------------------------------------------------------------------------------


def test_a_key_goes_to_its_vendor() -> None:
    got = target(environ={"OPENAI_API_KEY": KEY})
    assert (got.base_url, got.key.reveal()) == ("https://api.openai.com/v1", KEY)
    assert got.key_note == "OPENAI_API_KEY of the environment was sent"


def test_the_environment_comes_before_the_file() -> None:
    assert key_of(environ={"OPENAI_API_KEY": KEY}, dotenv={"OPENAI_API_KEY": OTHER}) == KEY
    assert key_of(dotenv={"OPENAI_API_KEY": OTHER}) == OTHER


@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": ""}, {"OPENAI_API_KEY": "  "}])
def test_a_key_that_is_needed_and_not_set_is_named(environ) -> None:
    with pytest.raises(InvalidInput, match="OPENAI_API_KEY is not set"):
        target(environ=environ)


def test_either_variable_of_a_vendor_serves() -> None:
    assert key_of("google/g", environ={"GOOGLE_API_KEY": KEY}) == KEY
    with pytest.raises(InvalidInput, match="GEMINI_API_KEY or GOOGLE_API_KEY is not set"):
        target("google/g")


def test_the_vendors_own_host_given_explicitly_still_gets_its_key() -> None:
    for url in ("https://api.openai.com/v1/", "https://API.openai.com:443/v1", "https://eu.api.openai.com/v1"):
        assert key_of(base_url=url, environ={"OPENAI_API_KEY": KEY}) == KEY


@pytest.mark.parametrize(
    "url",
    [
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://api.openai.com.evil.example/v1",
        "https://evil.example/api.openai.com/v1",
        "https://evil.example/v1?x=https://api.openai.com",
        GATEWAY,
        "http://127.0.0.1:8090/v1",
    ],
)
def test_any_other_host_gets_no_key_and_the_note_says_so(url) -> None:
    for settings in ({"base_url": url}, {"spec_url": url}):
        spec = {"base_url": settings["spec_url"]} if "spec_url" in settings else {}
        got = resolve(
            ModelSpec(model="openai/m", **spec),
            base_url=settings.get("base_url"),
            environ={"OPENAI_API_KEY": KEY},
            dotenv={"OPENAI_API_KEY": OTHER},
        )
        assert got.key is None
        assert "OPENAI_API_KEY of the environment belongs to openai's own address" in got.key_note


# --- a base URL set beside the key ---------------------------------------------------------------------------------


def test_a_key_goes_to_the_base_url_set_beside_it() -> None:
    pair = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": GATEWAY}
    for where in ({"environ": pair}, {"dotenv": pair}):
        got = target(**where)
        assert (got.base_url, got.key.reveal()) == (GATEWAY, KEY)


def test_a_key_goes_to_that_base_url_also_when_the_command_line_repeats_it() -> None:
    pair = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": GATEWAY}
    assert key_of(base_url=f"{GATEWAY}/", environ=pair) == KEY
    assert key_of(base_url="https://other.example/v1", environ=pair) is None


def test_a_file_may_not_redirect_a_key_of_the_environment() -> None:
    for dotenv in ({"OPENAI_BASE_URL": GATEWAY}, {"OPENAI_BASE_URL": GATEWAY, "OPENAI_API_KEY": OTHER}):
        with pytest.raises(InvalidInput, match="may not send that key elsewhere"):
            target(environ={"OPENAI_API_KEY": KEY}, dotenv=dotenv)


def test_a_file_may_not_redirect_a_key_that_api_key_env_names_in_the_environment() -> None:
    with pytest.raises(InvalidInput, match="may not send that key elsewhere"):
        target(environ={"MY_KEY": KEY}, dotenv={"OPENAI_BASE_URL": GATEWAY}, api_key_env="MY_KEY")


def test_a_file_that_repeats_the_vendors_address_redirects_nothing() -> None:
    dotenv = {"OPENAI_BASE_URL": "https://api.openai.com/v1"}
    assert key_of(environ={"OPENAI_API_KEY": KEY}, dotenv=dotenv) == KEY


def test_a_key_of_the_file_does_not_follow_a_base_url_of_the_environment() -> None:
    got = target(environ={"OPENAI_BASE_URL": GATEWAY}, dotenv={"OPENAI_API_KEY": OTHER})
    assert (got.base_url, got.key) == (GATEWAY, None)
    assert "OPENAI_API_KEY of .env belongs" in got.key_note


def test_a_base_url_of_the_environment_comes_before_one_of_the_file() -> None:
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": GATEWAY}
    got = target(environ=environ, dotenv={"OPENAI_BASE_URL": "https://evil.example/v1", "OPENAI_API_KEY": OTHER})
    assert (got.base_url, got.key.reveal()) == (GATEWAY, KEY)


def test_a_file_cannot_attract_the_key_of_the_environment_to_an_explicit_address() -> None:
    dotenv = {"OPENAI_BASE_URL": GATEWAY}
    assert key_of(base_url=GATEWAY, environ={"OPENAI_API_KEY": KEY}, dotenv=dotenv) is None
    assert (
        key_of(base_url=GATEWAY, environ={"OPENAI_API_KEY": KEY}, dotenv={**dotenv, "OPENAI_API_KEY": OTHER}) == OTHER
    )


# --- api_key_env ---------------------------------------------------------------------------------------------------


def test_another_host_gets_the_key_that_api_key_env_names() -> None:
    assert key_of(base_url=GATEWAY, environ={"MY_KEY": KEY, "OPENAI_API_KEY": "no"}, api_key_env="MY_KEY") == KEY
    assert key_of(base_url=GATEWAY, environ={}, dotenv={"MY_KEY": OTHER}, api_key_env="MY_KEY") == OTHER
    assert key_of(environ={"MY_KEY": KEY}, api_key_env="MY_KEY") == KEY


def test_a_named_variable_that_is_not_set_is_an_error_even_where_a_key_is_optional() -> None:
    with pytest.raises(InvalidInput, match="the variable MY_KEY is not set"):
        target(base_url="http://127.0.0.1:1/v1", environ={"OPENAI_API_KEY": KEY}, api_key_env="MY_KEY")


def test_a_key_pasted_in_place_of_a_variables_name_is_not_repeated() -> None:
    for pasted in ("sk-proj-abcdef", "abcdef0123456789"):
        with pytest.raises(InvalidInput, match="not shown") as caught:
            target(api_key_env=pasted)
        assert pasted not in str(caught.value)


# --- keys optional, addresses missing ------------------------------------------------------------------------------


def test_with_an_explicit_base_url_a_key_is_optional() -> None:
    for settings in (
        {"base_url": "http://127.0.0.1:8090/v1"},
        {"environ": {"OPENAI_BASE_URL": "http://127.0.0.1:8090/v1"}},
        {"base_url": "https://api.openai.com/v1"},
    ):
        assert key_of(**settings) is None


@pytest.mark.parametrize("provider", ["ollama", "vllm", "lmstudio", "llamacpp"])
def test_local_servers_need_neither_key_nor_address(provider) -> None:
    got = target(f"{provider}/x")
    assert got.base_url.startswith("http://127.0.0.1:")
    assert (got.key, got.price_list, got.wire) == (None, None, "chat")


@pytest.mark.parametrize(
    ("provider", "variable"), [("openai-compatible", "EVENHAND_BASE_URL"), ("azure", "AZURE_OPENAI_BASE_URL")]
)
def test_a_provider_without_an_address_of_its_own_says_how_to_give_one(provider, variable) -> None:
    with pytest.raises(InvalidInput, match=f"no base URL; give --base-url.*{variable}"):
        target(f"{provider}/x", environ={"AZURE_OPENAI_API_KEY": KEY})
    assert target(f"{provider}/x", environ={variable: GATEWAY}).base_url == GATEWAY


def test_the_command_line_comes_before_the_judge_file() -> None:
    got = resolve(ModelSpec(model="openai/m", base_url="http://a.example/v1"), base_url=GATEWAY, environ={}, dotenv={})
    assert got.base_url == GATEWAY


# --- in the clear --------------------------------------------------------------------------------------------------


def test_a_key_does_not_cross_the_open_network_in_the_clear_unless_it_is_named_for_it() -> None:
    pair = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://gateway.example/v1"}
    with pytest.raises(InvalidInput, match="in the clear") as caught:
        target(environ=pair)
    assert KEY not in str(caught.value)
    assert key_of(environ=pair, api_key_env="OPENAI_API_KEY") == KEY


@pytest.mark.parametrize("url", ["http://127.0.0.1:4000/v1", "http://litellm:4000", "http://10.0.0.5/v1"])
def test_within_ones_own_network_it_does(url) -> None:
    assert key_of(environ={"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url}) == KEY


# --- .env ----------------------------------------------------------------------------------------------------------


def test_a_file_is_read_as_it_stands_and_not_exported(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "do-not-copy")
    monkeypatch.delenv("EVENHAND_TEST_VARIABLE", raising=False)
    text = (
        '\ufeffOPENAI_API_KEY="sk-1"\nexport OPENAI_BASE_URL=${SECRET_OF_MINE}\nEVENHAND_TEST_VARIABLE=1\nEMPTY\n# c\n'
    )
    (tmp_path / ".env").write_text(text, encoding="utf-8")
    values = read_dotenv(tmp_path)
    assert values == {
        "OPENAI_API_KEY": "sk-1",
        "OPENAI_BASE_URL": "${SECRET_OF_MINE}",
        "EVENHAND_TEST_VARIABLE": "1",
    }
    import os

    assert "EVENHAND_TEST_VARIABLE" not in os.environ


def test_only_the_folder_itself_is_looked_into(tmp_path) -> None:
    (tmp_path / ".env").write_text("A=1", encoding="utf-8")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / ".env").mkdir()
    assert read_dotenv(inner) == {}
    assert read_dotenv(tmp_path / "nowhere") == {}


def test_a_file_that_is_no_text_is_refused_without_quoting_it(tmp_path) -> None:
    (tmp_path / ".env").write_bytes(b"OPENAI_API_KEY=sk-\xff\xfe")
    with pytest.raises(InvalidInput, match="cannot be read as UTF-8") as caught:
        read_dotenv(tmp_path)
    assert "sk-" not in str(caught.value)
