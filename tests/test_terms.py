"""What the vocabulary can do by itself."""

from dataclasses import fields, replace

from evenhand.terms import Reply, TokenChoice, Usage


def test_a_keyed_reply_differs_in_its_key_alone() -> None:
    reply = Reply(
        text="yes",
        finish="length",
        refusal="no",
        reasoning="since",
        usage=Usage(output_tokens=1),
        logprobs=(TokenChoice(token="yes", logprob=-0.1),),
        model="m",
        key="old",
    )
    assert all(getattr(reply, field.name) != field.default for field in fields(Reply))
    assert reply.keyed("new") == replace(reply, key="new")
