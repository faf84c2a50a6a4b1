"""Model names, `provider/model` or `provider:model`, and the providers that are known by name.

Only the first `/` or `:` splits a name, so that `openrouter/meta-llama/llama-3.3-70b:free` stays whole behind it.
What is known of each provider stands in `known.json`: the wire it speaks, where it is, which variables hold its key and
base URL, under which name its prices are listed.
"""

import difflib
import re
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from evenhand.errors import InvalidInput

__all__ = ["KnownProvider", "known", "parse_model", "providers", "split_model"]

Wire = Literal["chat", "vendor", "local", "scripted"]


class KnownProvider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One provider.

    Args:
        wire: which part of evenhand speaks to it.
        title: for people.
        base_url: where it is, if it has one address.
        hosts: further addresses of the same vendor, to which its key may go.
        key_env: variables that hold its key, the first one set counts.
        base_url_env: the variable that names another address for it.
        key_needed: whether its own address asks for a key.
        prices: its name in the price list.
        also: names that people try; they are suggested, not accepted, so that one model has one name.
    """

    wire: Wire
    title: str
    base_url: str | None = None
    hosts: tuple[str, ...] = ()
    key_env: tuple[str, ...] = ()
    base_url_env: str | None = None
    key_needed: bool = True
    prices: str | None = None
    also: tuple[str, ...] = ()


@cache
def providers() -> dict[str, KnownProvider]:
    """All known providers by name."""
    text = files("evenhand.providers").joinpath("known.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, KnownProvider])


def known(provider: str) -> KnownProvider:
    """What is known of a provider.

    Raises:
        InvalidInput: it is not known; the message suggests the nearest name and lists all.
    """
    found = providers().get(provider)
    if found is not None:
        return found
    raise InvalidInput(
        f"model name: the provider {provider!r} is unknown; {_suggestion(provider)}known are "
        f"{', '.join(providers())}; any other chat-completions endpoint is 'openai-compatible' with --base-url"
    )


def split_model(name: str) -> tuple[str, str]:
    """A name's two parts, split at its first `/` or `:`; the second is empty where there is none.

    >>> split_model("openrouter/meta-llama/llama-3.3-70b:free"), split_model("ollama:qwen3:8b")
    (('openrouter', 'meta-llama/llama-3.3-70b:free'), ('ollama', 'qwen3:8b'))
    """
    provider, *rest = re.split(r"[/:]", name, maxsplit=1)
    return provider, rest[0] if rest else ""


def parse_model(name: str) -> tuple[str, str]:
    """A model's provider, which is known, and the name that the provider knows it by.

    Raises:
        InvalidInput: no provider, an unknown one, or no model behind it.

    >>> parse_model("local/smollm2")
    ('local', 'smollm2')
    """
    provider, model = split_model(name)
    if name != name.strip() or not name.isprintable():
        raise InvalidInput(f"model name: {name!r} holds white space at an end or an unprintable character; take it out")
    if not model and provider == name:
        raise InvalidInput(
            f"model name: {name!r} names no provider; write provider/model, for instance openai/{name or 'MODEL'}, "
            f"local/smollm2, or openai-compatible/{name or 'MODEL'} with --base-url"
        )
    known(provider)
    if not model:
        raise InvalidInput(f"model name: {name!r} names no model behind {provider!r}; write {provider}/MODEL")
    return provider, model


def _suggestion(provider: str) -> str:
    """`did you mean ...? ` for a name that is near a known one, or known by another name."""
    table = providers()
    names = {name: name for name in table} | {alias: name for name, entry in table.items() for alias in entry.also}
    near = difflib.get_close_matches(provider.lower(), names, n=1, cutoff=0.7)
    return f"did you mean {names[near[0]]!r}? " if near else ""
