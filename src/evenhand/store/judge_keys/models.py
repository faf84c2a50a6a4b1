"""The models of a judge file: names with their provider, addresses without credentials, and no key ever."""

import re
from urllib.parse import urlsplit

from evenhand.store.documents import Value
from evenhand.terms import ModelSpec

__all__ = ["model_document", "models_of", "same_model"]

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def models_of(value: Value) -> tuple[ModelSpec, ...]:
    """A list of models; each stands once.

    Raises:
        InvalidInput: with line and field.
    """
    models: list[ModelSpec] = []
    for entry in value.items():
        model = _model(entry)
        if any(same_model(model, other) for other in models):
            entry.refuse(f"{model.model!r} stands here twice; to ask one model several times write `reruns`")
        models.append(model)
    return tuple(models)


def same_model(one: ModelSpec, other: ModelSpec) -> bool:
    """Whether two names are one model: `provider/model` and `provider:model` are."""
    return re.sub("[/:]", "/", one.model, count=1) == re.sub("[/:]", "/", other.model, count=1)


def model_document(model: ModelSpec) -> dict[str, str]:
    """A model as a mapping without what is not said."""
    fields = {
        "model": model.model,
        "base_url": model.base_url,
        "api_key_env": model.api_key_env,
        "family": model.family,
        "endpoint_id": model.endpoint_id,
    }
    return {name: text for name, text in fields.items() if text is not None}


def _model(value: Value) -> ModelSpec:
    """A model: its name, or a mapping with its name and where it is reached."""
    if value.kind != "mapping":
        return ModelSpec(model=_model_name(value))
    entries = value.entries(
        ("model", "base_url", "api_key_env", "family", "endpoint_id"), {"name": "model", "url": "base_url"}
    )
    if "model" not in entries:
        value.refuse("is missing; write provider/model", "model")
    return ModelSpec(
        model=_model_name(entries["model"]),
        base_url=_base_url(entries["base_url"]) if "base_url" in entries else None,
        api_key_env=_variable(entries["api_key_env"]) if "api_key_env" in entries else None,
        family=entries["family"].text() if "family" in entries else None,
        endpoint_id=entries["endpoint_id"].text() if "endpoint_id" in entries else None,
    )


def _model_name(value: Value) -> str:
    """A model's name, which begins with its provider's; `openai:x` is `openai/x`, so that one model has one name."""
    name = value.text()
    provider, *rest = re.split("[/:]", name, maxsplit=1)
    if not provider or not rest or not rest[0]:
        value.refuse(f"{name!r} names no provider; write provider/model, such as openai/{name.strip('/:') or 'MODEL'}")
    return f"{provider}/{rest[0]}"


def _base_url(value: Value) -> str:
    """An address without credentials."""
    url = value.text()
    try:
        parts = urlsplit(url)
        is_http = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_http = False
    if not is_http:
        value.refuse("expected an address such as http://127.0.0.1:8080/v1")
    if parts.username is not None or parts.password is not None:
        value.refuse("the address holds a user name or password; take it out, and name a variable with api_key_env")
    return url


def _variable(value: Value) -> str:
    """The name of an environment variable; never shown where it may be a key."""
    name = value.text()
    if not _VARIABLE.fullmatch(name):
        value.refuse(
            "expected the name of an environment variable, such as MY_API_KEY; a key itself does not belong here"
        )
    return name
