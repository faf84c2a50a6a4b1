"""From a model as the judge file names it to the provider that answers.

target = resolve(spec, base_url=None, environ=os.environ, dotenv=read_dotenv(Path.cwd()))    decides, opens nothing
provider = open_provider(target)                                                             makes the provider
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.providers.address import endpoint_identity, proxy_for, request_base
from evenhand.providers.environment import Secret, credentials
from evenhand.providers.names import Wire, known, parse_model
from evenhand.terms import ModelSpec, Usage

if TYPE_CHECKING:
    from evenhand.providers.base import Provider

__all__ = ["Target", "open_provider", "price", "resolve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where one model is, decided but not yet opened.

    Args:
        wire: which part of evenhand speaks to it.
        provider: the provider's name.
        model: the model's name without it.
        base_url: None for what is on this machine in process.
        key: shows itself as `Secret(***)`.
        key_note: which variable the key came from, or why none is sent.
        identity: of the endpoint, for content keys; None where only opening it tells (weights, a script).
        proxy: from the process environment.
        price_list: the provider's name in the price list; None where no listed price holds.
    """

    wire: Wire
    provider: str
    model: str
    base_url: str | None = None
    key: Secret | None = None
    key_note: str = ""
    identity: str | None = None
    proxy: str | None = None
    price_list: str | None = None


def resolve(
    spec: ModelSpec,
    *,
    base_url: str | None,
    environ: Mapping[str, str],
    dotenv: Mapping[str, str],
    need_key: bool = True,
) -> Target:
    """Where a model is and which key may go there; see `environment` for the rules. No I/O.

    Args:
        spec: the model as the judge file or `--model` names it.
        base_url: of the command line: replaces the address of every model that is reached over the network.
        environ: the process environment.
        dotenv: the variables of `.env`.
        need_key: False where nothing will be sent.
    Raises:
        InvalidInput: an unknown provider, no address, a key that is missing or must not go there.

    >>> target = resolve(ModelSpec(model="ollama/qwen3:8b"), base_url=None, environ={}, dotenv={})
    >>> target.model, target.identity, target.price_list
    ('qwen3:8b', 'http://127.0.0.1:11434/v1', None)
    """
    provider, model = parse_model(spec.model)
    entry = known(provider)
    if entry.wire in ("local", "scripted"):
        if spec.base_url is not None or spec.api_key_env is not None or spec.endpoint_id is not None:
            raise InvalidInput(
                f"{spec.model}: it runs in this process, so base_url, api_key_env and endpoint_id mean nothing; "
                "take them out"
            )
        return Target(wire=entry.wire, provider=provider, model=model)
    found = credentials(provider, entry, spec, base_url=base_url, environ=environ, dotenv=dotenv, need_key=need_key)
    request_base(found.base_url)  # refuses a user or password in it, before anything prints it
    return Target(
        wire=entry.wire,
        provider=provider,
        model=model,
        base_url=found.base_url,
        key=found.key,
        key_note=found.key_note,
        identity=spec.endpoint_id or endpoint_identity(found.base_url),
        proxy=proxy_for(found.base_url, environ),
        price_list=entry.prices if found.own_address else None,
    )


def open_provider(target: Target) -> "Provider":
    """The provider of a target. Connections are made when the first call is asked.

    Raises:
        InvalidInput: an extra is not installed, a script or the weights are not there.
    """
    if target.wire == "scripted":
        from evenhand.providers.scripted import ScriptedProvider

        return ScriptedProvider.from_file(Path(target.model))
    if target.wire == "local":
        from evenhand.providers.local import LocalProvider

        return LocalProvider(target.model)
    if target.price_list is not None:
        # The price list takes a second to load: now, and not while replies wait.
        from evenhand.providers.prices import price_known

        price_known(target.price_list, target.model)
    if target.wire == "vendor":
        return _open_vendor(target)
    from evenhand.providers.chat import ChatProvider

    return ChatProvider(
        target.provider,
        target.base_url or "",
        api_key=target.key,
        identity=target.identity,
        proxy=target.proxy,
        key_note=target.key_note,
    )


def price(target: Target, usage: Usage) -> float | None:
    """The price of a reply in US dollars, None where it is not known."""
    if target.price_list is None:
        return None
    from evenhand.providers.prices import cost_usd

    return cost_usd(target.price_list, target.model, usage)


def _open_vendor(target: Target) -> "Provider":
    """A provider with a wire of its own, by way of pydantic-ai."""
    try:
        from evenhand.providers.vendors import VendorProvider
    except ModuleNotFoundError as error:
        if (error.name or "evenhand").split(".")[0] == "evenhand":
            raise
        raise InvalidInput(
            f"{target.provider}/{target.model}: the extra for this vendor is not installed "
            f"({error.name} is missing); run: pip install 'evenhand[vendors]'"
        ) from error
    key = target.key.reveal() if target.key else None
    return VendorProvider(
        target.provider, api_key=key, base_url=target.base_url, key_note=target.key_note, identity=target.identity
    )
