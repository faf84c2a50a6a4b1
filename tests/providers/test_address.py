"""Addresses: one spelling in keys, nothing secret in them, and the proxy that the environment names."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.providers.address import endpoint_identity, is_loopback, is_private, proxy_for, request_base, same_host


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com/v1",
        "https://API.Example.COM/v1/",
        "https://api.example.com:443/v1//",
        "https://user:pw@api.example.com/v1",
        "https://api.example.com/v1?key=secret#part",
        "https://api.example.com./v1",
        " https://api.example.com/v1\n",
        "https://api.example.com/v1/chat/completions",
        "https://api.example.com/v1/chat/completions/",
    ],
)
def test_one_endpoint_has_one_identity(url) -> None:
    assert endpoint_identity(url) == "https://api.example.com/v1"


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("http://Host:80", "http://host"),
        ("http://host:8080/", "http://host:8080"),
        ("http://host:443/v1", "http://host:443/v1"),
        ("https://h/a%2fb%C3%a9", "https://h/a%2Fb%C3%A9"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("http://[FE80::1]/V1", "http://[fe80::1]/V1"),
        ("https://bücher.example/v1", "https://xn--bcher-kva.example/v1"),
        ("https://h/v1/completions", "https://h/v1/completions"),
    ],
)
def test_the_parts_that_matter_stay(url, identity) -> None:
    assert endpoint_identity(url) == identity


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(["http", "https"]),
    st.from_regex(r"[a-z0-9]{1,8}(\.[a-z0-9]{1,8}){0,2}", fullmatch=True).filter(lambda host: not host[-1].isdigit()),
    st.one_of(st.none(), st.integers(1, 65535)),
    st.from_regex(r"(/[A-Za-z0-9._~%-]{0,6}){0,3}", fullmatch=True),
)
def test_an_identity_is_its_own_identity(scheme, host, port, path) -> None:
    identity = endpoint_identity(f"{scheme}://{host}{'' if port is None else f':{port}'}{path}")
    assert endpoint_identity(identity) == identity
    assert request_base(identity) == (identity, "")


@pytest.mark.parametrize(
    "url",
    ["", "x", "localhost/v1", "file:///etc", "http://", "http://:80/", "http://h:0/", "http://h\\@x/", "http://[::1"],
)
def test_other_addresses_are_refused_in_one_sentence(url) -> None:
    with pytest.raises(InvalidInput, match="no web address; expected http://host/v1 or https://host/v1"):
        endpoint_identity(url)


def test_a_refused_address_shows_neither_its_user_nor_its_query() -> None:
    with pytest.raises(InvalidInput) as caught:
        endpoint_identity("ftp://me:hunter2@h/v1?key=hunter3")
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "loopback", "private"),
    [
        ("http://localhost:1", True, True),
        ("http://127.3.2.1/v1", True, True),
        ("http://[::1]/", True, True),
        ("http://gateway:4000", False, True),
        ("http://192.168.1.5", False, True),
        ("http://judge.internal/v1", False, True),
        ("http://localhost.example.com", False, False),
        ("http://8.8.8.8", False, False),
        ("http://127.0.0.1.example.com", False, False),
    ],
)
def test_what_is_ones_own_network(url, loopback, private) -> None:
    assert (is_loopback(url), is_private(url)) == (loopback, private)


def test_a_host_is_its_scheme_name_and_port_and_no_prefix_of_them() -> None:
    assert same_host("https://api.openai.com/v1", "https://api.openai.com:443/other")
    for other in ("http://api.openai.com", "https://api.openai.com:444", "https://api.openai.com.evil.example"):
        assert not same_host("https://api.openai.com/v1", other)
    assert not same_host("https://api.openai.com", "https://api.openai.com@evil.example/v1")


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("https://a.example/v1", {}, None),
        ("https://a.example/v1", {"https_proxy": "http://p:1"}, "http://p:1"),
        ("https://a.example/v1", {"HTTPS_PROXY": "p:1"}, "http://p:1"),
        ("https://a.example/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://a.example/v1", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("http://a.example/v1", {"ALL_PROXY": "http://p:1"}, "http://p:1"),
        ("http://127.0.0.1:8000/v1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://localhost:8000/v1", {"ALL_PROXY": "http://p:1"}, None),
        ("https://a.example/v1", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.example, .example"}, None),
        ("https://a.example/v1", {"HTTPS_PROXY": "http://p:1", "no_proxy": "*"}, None),
        ("https://a.example/v1", {"HTTPS_PROXY": "http://p:1", "no_proxy": "a.example:443"}, None),
        ("https://aa.example/v1", {"HTTPS_PROXY": "http://p:1", "no_proxy": "a.example"}, "http://p:1"),
        ("https://10.1.2.3/v1", {"HTTPS_PROXY": "http://p:1", "no_proxy": "10.0.0.0/8"}, None),
        ("https://11.1.2.3/v1", {"HTTPS_PROXY": "http://p:1", "no_proxy": "10.0.0.0/8,x/y"}, "http://p:1"),
    ],
)
def test_the_usual_variables_name_the_proxy(url, environ, proxy) -> None:
    assert proxy_for(url, environ) == proxy


def test_a_proxy_of_another_kind_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'socks5' is not supported"):
        proxy_for("https://a.example", {"HTTPS_PROXY": "socks5://p:1"})
