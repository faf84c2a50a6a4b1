"""Addresses of endpoints: their normal form, what a request's URL is made of, who they belong to. Pure text, no I/O."""

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from evenhand.errors import InvalidInput

__all__ = ["endpoint_identity", "is_loopback", "is_private", "proxy_for", "request_base", "same_host"]

_DEFAULT_PORT = {"http": 80, "https": 443}
_PASTED = "/chat/completions"


def endpoint_identity(url: str) -> str:
    """The normal form of an endpoint's base URL, as it stands in content keys: no credentials, one spelling.

    Scheme and host in lower case, default port, user, query, fragment and trailing slashes dropped, percent escapes in
    capitals, a pasted `/chat/completions` taken off.

    Raises:
        InvalidInput: no URL of http or https with a host.

    >>> endpoint_identity("HTTPS://API.Example.com:443/v1/chat/completions/?api-version=3")
    'https://api.example.com/v1'
    """
    parts = _parts(url)
    path = re.sub(r"%[0-9a-fA-F]{2}", lambda escape: escape.group().upper(), _path(parts))
    return f"{parts.scheme}://{_host(parts)}{path}"


def request_base(url: str) -> tuple[str, str]:
    """What a request's path is put after, and the query that follows it, with its `?`.

    Raises:
        InvalidInput: no URL of http or https with a host, or one that holds a user or password.

    >>> request_base("https://me.openai.azure.com/openai/v1/?api-version=preview")
    ('https://me.openai.azure.com/openai/v1', '?api-version=preview')
    """
    parts = _parts(url)
    if "@" in parts.netloc:
        raise InvalidInput(
            f"base URL of {parts.hostname}: it holds a user or password, which would end up in logs; "
            "take them out and name the variable that holds the key with api_key_env"
        )
    return f"{parts.scheme}://{_host(parts)}{_path(parts)}", f"?{parts.query}" if parts.query else ""


def same_host(url: str, other: str) -> bool:
    """Whether two URLs have the same scheme, host and port.

    >>> same_host("https://api.openai.com:443/v1", "https://API.openai.com/v2")
    True
    """
    first, second = _parts(url), _parts(other)
    return (first.scheme, _host(first)) == (second.scheme, _host(second))


def is_loopback(url: str) -> bool:
    """Whether a URL points at this machine by its name or number.

    >>> is_loopback("http://[::1]:8080"), is_loopback("http://localhost.example.com")
    (True, False)
    """
    host = _parts(url).hostname or ""
    number = _number(host)
    return host == "localhost" or host.endswith(".localhost") or (number is not None and number.is_loopback)


def is_private(url: str) -> bool:
    """Whether a URL points into one's own network: loopback, a private number, a name without a dot or a local one.

    >>> is_private("http://gateway:4000"), is_private("http://10.0.0.8"), is_private("http://example.com")
    (True, True, False)
    """
    host = _parts(url).hostname or ""
    number = _number(host)
    if number is not None:
        return number.is_private or number.is_loopback or number.is_link_local
    return "." not in host or host.endswith((".localhost", ".local", ".internal", ".lan", ".home.arpa"))


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for a URL, by the usual variables; never one for this machine itself.

    >>> proxy_for("https://api.example.com/v1", {"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "example.org"})
    'http://proxy:3128'
    """
    parts = _parts(url)
    if is_loopback(url):
        return None
    proxy = next(
        (environ[name] for name in _proxy_names(parts.scheme) if environ.get(name)),
        None,
    )
    if proxy is None or _bypassed(parts, environ.get("no_proxy") or environ.get("NO_PROXY") or ""):
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        raise InvalidInput(
            f"{parts.scheme.upper()}_PROXY: a proxy of type {proxy.split('://')[0]!r} is not supported; "
            "name an http:// or https:// proxy, or put the endpoint's host into NO_PROXY"
        )
    return proxy


def _proxy_names(scheme: str) -> tuple[str, ...]:
    """The variables that may name a proxy. HTTP_PROXY in capitals counts too, since no CGI runs here."""
    return (f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")


def _bypassed(parts: SplitResult, no_proxy: str) -> bool:
    """Whether a NO_PROXY list covers a host: `*`, a name with its subdomains, a number or a network."""
    host, number = parts.hostname or "", _number(parts.hostname or "")
    for entry in (piece.strip().lower() for piece in no_proxy.split(",")):
        name = entry.rsplit(":", 1)[0] if re.fullmatch(r"[^:]+:\d+", entry) else entry
        name = name.removeprefix("*").lstrip(".")
        if entry == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return True
        if number is not None and "/" in name:
            try:
                if number in ipaddress.ip_network(name, strict=False):
                    return True
            except ValueError:
                continue
    return False


def _parts(url: str) -> SplitResult:
    """A URL taken apart, or the one sentence that says what is wrong with it, without what may be a credential."""
    try:
        parts = urlsplit(url.strip())
        (parts.hostname or "").encode("idna" if not url.isascii() else "ascii")
        usable = parts.scheme in _DEFAULT_PORT and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or re.search(r"[\x00-\x20\x7f\\]", url.strip()):
        shown = re.sub(r"//[^/@]*@", "//", url.strip()).split("?")[0]
        raise InvalidInput(f"base URL: {shown[:100]!r} is no web address; expected http://host/v1 or https://host/v1")
    return parts


def _host(parts: SplitResult) -> str:
    """Host and port in one spelling; the default port is left out."""
    host = (parts.hostname or "").rstrip(".")
    if not host.isascii():
        host = host.encode("idna").decode()
    host = f"[{host}]" if ":" in host else host
    return host if parts.port in (None, _DEFAULT_PORT[parts.scheme]) else f"{host}:{parts.port}"


def _path(parts: SplitResult) -> str:
    """The path without trailing slashes and without what users paste at its end."""
    return parts.path.rstrip("/").removesuffix(_PASTED).rstrip("/")


def _number(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """A host given as an IP number."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
