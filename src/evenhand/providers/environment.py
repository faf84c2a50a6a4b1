"""Which address a provider is reached at, and which key may go there.

The rules, so that no key reaches a host it was not meant for:
- A key of a provider's own variable (`OPENAI_API_KEY`) goes to that vendor's host, or to the base URL set beside it
  (`OPENAI_BASE_URL`) in the same place, which is the process environment or `.env`.
- Any other address (`--base-url`, `base_url` of a judge file) gets a key only if `api_key_env` names its variable.
- With an explicit base URL a key is optional: many local servers want none.
- `.env` may not give the base URL for a key that comes from the process environment: such files travel with projects.
- A key crosses http:// only within one's own network, unless `api_key_env` was given for it.
Values of `.env` are taken as they stand (no interpolation) and never exported to the process.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import InvalidInput
from evenhand.providers.address import endpoint_identity, is_private, same_host
from evenhand.providers.names import KnownProvider
from evenhand.terms import ModelSpec

__all__ = ["Credentials", "Secret", "credentials", "read_dotenv"]

_PROCESS, _FILE = "the environment", ".env"


class Secret:
    """A key that shows itself only when asked to.

    >>> Secret("sk-1234")
    Secret(***)
    """

    __slots__ = ("_value",)

    def __init__(self, value: str, source: str = "the given key") -> None:
        """Take a key.

        Raises:
            InvalidInput: it cannot stand in a header; the message names its source, never the key.
        """
        if not value or not all(" " < letter <= "~" for letter in value):
            raise InvalidInput(
                f"{source}: the key is empty or holds white space, a line break or a character that no header can "
                "carry; set it again without them"
            )
        self._value = value

    @classmethod
    def of(cls, key: "str | Secret | None") -> "Secret | None":
        """A key given in any form."""
        return cls(key) if isinstance(key, str) else key

    def reveal(self) -> str:
        """The key itself."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> tuple[str, ...]:
        raise TypeError("a Secret is not written to disk or sent to another process")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Where a provider is reached, and with which key.

    Args:
        base_url: as it was given, or the provider's own.
        key: None sends none.
        key_note: one clause on which variable the key came from, or why none is sent.
        own_address: whether this is the vendor's own host, so that its listed prices hold.
    """

    base_url: str
    key: Secret | None
    key_note: str
    own_address: bool


def read_dotenv(folder: Path) -> dict[str, str]:
    """The variables of the `.env` file in a folder, not in those above it; none where there is no such file.

    Raises:
        InvalidInput: it is there and cannot be read as UTF-8 text.
    """
    from dotenv import dotenv_values

    path = folder / ".env"
    if not path.is_file():
        return {}
    try:
        values = dotenv_values(path, interpolate=False, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: cannot be read as UTF-8 text ({type(error).__name__})") from None
    return {name: value for name, value in values.items() if value is not None}


def credentials(
    provider: str,
    entry: KnownProvider,
    spec: ModelSpec,
    *,
    base_url: str | None,
    environ: Mapping[str, str],
    dotenv: Mapping[str, str],
    need_key: bool = True,
) -> Credentials:
    """Address and key of one model, by the rules above.

    Args:
        provider: its name.
        entry: what is known of it.
        spec: the model as the judge file names it.
        base_url: of the command line; comes before the judge file's.
        environ: the process environment.
        dotenv: the variables of `.env`.
        need_key: False where nothing will be sent, so that a dry run needs no key.
    Raises:
        InvalidInput: no address, a key that is needed or named is not set, a key would go where it must not.
    """
    sources = {_PROCESS: environ, _FILE: dotenv}
    explicit = spec.base_url if base_url is None else base_url
    if explicit is not None:
        url, url_source = explicit, ""
    else:
        url, url_source = _found_address(provider, entry, sources)
    own = _is_own(url, entry)
    key, source, variable = (
        _own_key(url, own, entry, sources) if spec.api_key_env is None else _named_key(spec.api_key_env, sources)
    )
    if url_source == _FILE and not own and _set_in(environ, (spec.api_key_env or "", *entry.key_env)):
        raise InvalidInput(
            f".env: it sets {entry.base_url_env}, and a key for {provider} is set in the environment; a .env file may "
            f"not send that key elsewhere: set {entry.base_url_env} in the environment too, or give --base-url"
        )
    if need_key and key is None and entry.key_needed and own and explicit is None:
        raise InvalidInput(
            f"{provider}: {' or '.join(entry.key_env)} is not set; set it in the environment or in .env, "
            "or give the base URL of an endpoint that needs no key"
        )
    if key is not None and spec.api_key_env is None and url.lower().startswith("http://") and not is_private(url):
        raise InvalidInput(
            f"{provider}: {variable} would cross the network in the clear, since {endpoint_identity(url)} is not "
            f"https; use https, or name the variable with api_key_env: {variable} to send it all the same"
        )
    note = f"{variable} of {source} was sent" if key else _why_no_key(provider, url, entry, sources)
    return Credentials(base_url=url, key=key, key_note=note, own_address=own)


def _found_address(provider: str, entry: KnownProvider, sources: Mapping[str, Mapping[str, str]]) -> tuple[str, str]:
    """The address set in a variable, with where it was set, or else the provider's own."""
    if entry.base_url_env:
        for source, values in sources.items():
            if values.get(entry.base_url_env, "").strip():
                return values[entry.base_url_env].strip(), source
    if entry.base_url:
        return entry.base_url, ""
    raise InvalidInput(
        f"{provider}: no base URL; give --base-url, base_url beside the model in the judge file, "
        f"or set {entry.base_url_env}"
    )


def _is_own(url: str, entry: KnownProvider) -> bool:
    """Whether an address is the vendor's own."""
    return any(same_host(url, host) for host in (entry.base_url, *entry.hosts) if host)


def _named_key(name: str, sources: Mapping[str, Mapping[str, str]]) -> tuple[Secret | None, str, str]:
    """The key of the variable that `api_key_env` names, with where it was set."""
    # What stands here may be a key pasted in place of a name; only what looks like a name is repeated.
    shown = name if re.fullmatch(r"[A-Z_][A-Z0-9_]{0,63}", name) else "(not shown, since it does not look like one)"
    for source, values in sources.items():
        if values.get(name, "").strip():
            return Secret(values[name], f"{shown} in {source}"), source, shown
    raise InvalidInput(f"api_key_env: the variable {shown} is not set; set it in the environment or in .env")


def _own_key(
    url: str, own: bool, entry: KnownProvider, sources: Mapping[str, Mapping[str, str]]
) -> tuple[Secret | None, str, str]:
    """The key of the provider's own variable, if it may go to this address, with where it was set."""
    for source, values in sources.items():
        beside = values.get(entry.base_url_env or "", "").strip()
        if not own and not (beside and endpoint_identity(beside) == endpoint_identity(url)):
            continue
        for name in entry.key_env:
            if values.get(name, "").strip():
                return Secret(values[name], f"{name} in {source}"), source, name
    return None, "", ""


def _set_in(values: Mapping[str, str], names: tuple[str, ...]) -> bool:
    """Whether one of these variables is set."""
    return any(values.get(name, "").strip() for name in names if name)


def _why_no_key(provider: str, url: str, entry: KnownProvider, sources: Mapping[str, Mapping[str, str]]) -> str:
    """Why no key is sent, and how one would be."""
    for source, values in sources.items():
        for name in entry.key_env:
            if values.get(name, "").strip():
                return (
                    f"no key was sent: {name} of {source} belongs to {provider}'s own address or the base URL set "
                    f"beside it; name a variable with api_key_env to send a key to {endpoint_identity(url)}"
                )
    return "no key was sent; name the variable that holds one with api_key_env"
