"""The check of a model, against an endpoint that answers as told."""

import asyncio
from dataclasses import dataclass, field

import pytest

from evenhand.errors import ProviderError, UnsupportedParameter
from evenhand.providers.check import check_model
from evenhand.terms import Profile, Reply, TokenChoice, Usage

GOOD = '{"word": "four", "even": true}'


@dataclass
class Endpoint:
    """A provider that rejects some parameters, ignores others, and answers the rest."""

    rejects: tuple = ()
    ignores: tuple = ()
    fault: ProviderError | None = None
    name: str = "fake"
    identity: str = "fake://"
    max_concurrency: int | None = None
    asked: list = field(default_factory=list)

    async def ask(self, call, profile, *, timeout_s):
        self.asked.append((call, profile))
        if self.fault:
            raise self.fault
        given = {
            "temperature": call.temperature is not None and "temperature" not in profile.omit,
            "logprobs": call.logprobs is not None and "logprobs" not in profile.omit,
            "max_tokens": profile.max_tokens_field == "max_tokens",
            profile.mode: call.schema is not None,
        }
        for parameter in self.rejects:
            if given.get(parameter):
                raise UnsupportedParameter(f"no {parameter}", provider="fake", parameter=parameter)
        token = TokenChoice(token="a", logprob=-1.0, alternatives=(("a", -1.0), ("b", -2.0)))
        return Reply(
            text="Sure!" if call.schema is not None and profile.mode in self.ignores else GOOD,
            finish="length" if call.max_tokens == 16 and "max_tokens" not in self.ignores else "stop",
            logprobs=(token,) if call.logprobs and "logprobs" not in self.ignores else (),
            usage=Usage(input_tokens=10, output_tokens=2),
        )

    async def close(self):
        """Nothing to close."""


def check(**settings):
    return asyncio.run(check_model(Endpoint(**settings), "fake/m"))


def answers(result):
    return {finding.asked: finding.answer for finding in result.findings}


def test_a_model_that_can_do_everything() -> None:
    result = check()
    assert set(answers(result).values()) == {"yes"}
    assert result.profile == Profile()
    assert (result.usage.input_tokens, result.usage.output_tokens) == (70, 14)
    assert result.calls == 7


def test_what_is_accepted_and_ignored_does_not_count() -> None:
    result = check(ignores=("schema", "tool"))
    assert answers(result)["schema"] == answers(result)["tool"] == "ignored"
    assert result.profile.mode == "json"


def test_what_is_rejected_is_left_out() -> None:
    result = check(rejects=("schema", "temperature", "logprobs", "max_tokens"))
    assert result.profile == Profile(
        mode="tool", omit=("temperature", "logprobs"), max_tokens_field="max_completion_tokens"
    )
    assert answers(result)["temperature"] == "no"


def test_log_probabilities_that_do_not_come_are_ignored() -> None:
    assert answers(check(ignores=("logprobs",)))["logprobs"] == "ignored"


def test_a_limit_that_is_not_kept_is_ignored() -> None:
    assert answers(check(ignores=("max_tokens",)))["max_tokens"] == "ignored"


def test_a_model_that_no_way_reaches_has_no_profile() -> None:
    assert check(ignores=("schema", "tool", "json", "text")).profile is None


@pytest.mark.parametrize("code", ["auth", "quota", "not_found", "connect"])
def test_an_endpoint_that_cannot_be_asked_at_all_is_an_error(code) -> None:
    with pytest.raises(ProviderError):
        check(fault=ProviderError("no", provider="fake", code=code))
