"""`evenhand models list / pull / check`: what can be called from here, what it can do, and what it costs."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.options import AsJson
from evenhand.cli.output import console, json_text, say, shown

if TYPE_CHECKING:
    from evenhand.providers.check import CheckResult

__all__ = ["app", "check", "list_models", "pull_model"]

app = typer.Typer(
    help="What can be called from here, what it can do, and what it costs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_EXTRAS = {"local": "xllamacpp", "vendors": "pydantic_ai", "hub": "huggingface_hub", "parquet": "pyarrow"}


@app.command("list")
def list_models(as_json: AsJson = False) -> None:
    """Show the providers known by name, whether their key is set, and the local models that are here.

    No key is shown, and nothing is asked of any endpoint.
    """
    providers, models, extras = _providers(), _local(), _extras()
    if as_json:
        print(json_text({"providers": providers, "local": models, "extras": extras}), end="")
        return
    from rich.table import Table

    table = Table("name a model as", "key", "what it is", box=None, pad_edge=False)
    for row in providers:
        table.add_row(f"{row['provider']}/MODEL", _key_note(row), row["title"])
    local = Table("local model", "size", "licence", "here", box=None, pad_edge=False)
    for row in models:
        here = "yes" if row["here"] else f"no: {row['pull']}"
        local.add_row(shown(row["model"]), f"{row['size'] / 1e6:.0f} MB", row["licence"] or "", here)
    out = console()
    out.print(table)
    out.print()
    out.print(local)
    out.print()
    missing = [name for name, here in extras.items() if not here]
    if missing:
        out.print(f"extras not installed: {', '.join(missing)} (pip install 'evenhand[{','.join(missing)}]')")
    else:
        out.print("all extras are installed")


@app.command("pull")
def pull_model(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="smollm2, hf:OWNER/REPO/FILE.gguf, or a GGUF file to check.")
    ],
    force: Annotated[bool, typer.Option(help="Fetch again even if the right file is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the weights of a local model to this machine, and check them.

    They lie in the cache folder of this platform, or in the folder that EVENHAND_MODELS names.
    """
    from evenhand.providers.weights import pull, weights_sha256

    path = pull(name, force=force, say=lambda text: say(shown(text)))
    bare = name.removeprefix("local/").removeprefix("local:")
    digest = weights_sha256(path, say=lambda text: say(shown(text)))
    document = {"model": f"local/{bare}", "path": str(path), "sha256": digest, "size": path.stat().st_size}
    if as_json:
        print(json_text(document), end="")
    else:
        print(f"ready: local/{shown(bare)}  ({shown(str(path))})")


@app.command("check")
def check(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="provider/model, such as local/smollm2.")],
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="Ask this endpoint instead.")] = None,
    api_key_env: Annotated[str | None, typer.Option(metavar="NAME", help="Variable that holds the key for it.")] = None,
    timeout_s: Annotated[float, typer.Option("--timeout", metavar="SECONDS", min=1.0, help="Of each call.")] = 120.0,
    as_json: AsJson = False,
) -> None:
    """Find out what a model can do, by about seven tiny real calls.

    Schema, forced tool call, JSON mode and plain text are each tried by itself: an endpoint may accept a parameter and
    ignore it. Exits 1 if no way brings a reply in the asked-for form.
    """
    result, price = _checked(model, base_url, api_key_env, timeout_s)
    document = _document(result, price)
    if as_json:
        print(json_text(document), end="")
    else:
        _print_check(result, document)
    if result.profile is None:
        raise typer.Exit(1)


def _checked(
    model: str, base_url: str | None, api_key_env: str | None, timeout_s: float
) -> tuple["CheckResult", dict[str, Any]]:
    """The findings, with what is known of the price."""
    import asyncio

    from evenhand.providers.check import check_model
    from evenhand.providers.environment import read_dotenv
    from evenhand.providers.open import open_provider, price, resolve
    from evenhand.terms import ModelSpec, Usage

    spec = ModelSpec(model=model, base_url=base_url, api_key_env=api_key_env)
    target = resolve(spec, base_url=None, environ=os.environ, dotenv=read_dotenv(Path.cwd()))
    provider = open_provider(target)

    async def run() -> "CheckResult":
        try:
            return await check_model(provider, model, timeout_s=timeout_s)
        finally:
            await provider.close()

    result = asyncio.run(run())
    a_million = (
        price(target, Usage(input_tokens=10**6, output_tokens=0)),
        price(target, Usage(input_tokens=0, output_tokens=10**6)),
    )
    return result, {
        "input_usd_per_million": a_million[0],
        "output_usd_per_million": a_million[1],
        "this_check_usd": price(target, result.usage),
    }


def _document(result: "CheckResult", price: dict[str, Any]) -> dict[str, Any]:
    """The check as one JSON document."""
    profile = result.profile
    return {
        "model": result.model,
        "endpoint": result.identity,
        "reports": result.reports,
        "context": result.context,
        "findings": [{"asked": one.asked, "answer": one.answer, "note": one.note} for one in result.findings],
        "profile": profile
        and {"mode": profile.mode, "omit": list(profile.omit), "max_tokens_field": profile.max_tokens_field},
        "price": price,
        "calls": result.calls,
        "usage": {
            "input_tokens": result.usage.input_tokens,
            "cached_tokens": result.usage.cached_tokens,
            "output_tokens": result.usage.output_tokens,
            "reasoning_tokens": result.usage.reasoning_tokens,
        },
    }


def _print_check(result: "CheckResult", document: dict[str, Any]) -> None:
    """The check as a table for people."""
    from rich.table import Table

    table = Table("tried", "answer", "note", box=None, pad_edge=False)
    for one in result.findings:
        table.add_row(one.asked, one.answer, shown(one.note, 200))
    out = console()
    out.print(f"{shown(result.model)} at {shown(result.identity, 60)}")
    out.print(table)
    if result.context is not None:
        out.print(f"context: {result.context} tokens of prompt and reply together")
    price = document["price"]["input_usd_per_million"]
    if price is None:
        out.print("price: unknown (a budget in dollars is refused; one in tokens works)")
    else:
        out.print(f"price: ${price:g} a million input tokens, ${document['price']['output_usd_per_million']:g} output")
    if result.profile is None:
        out.print("no way of asking brought a reply in the asked-for form: this model cannot be used as a judge")
    else:
        omitted = f", without {', '.join(result.profile.omit)}" if result.profile.omit else ""
        out.print(f"judges will ask it in {result.profile.mode} mode{omitted}")
    out.print(
        f"{result.calls} calls, {result.usage.input_tokens or '?'} tokens in, {result.usage.output_tokens or '?'} out"
    )


def _providers() -> list[dict[str, Any]]:
    """The known providers, with which of their key variables is set."""
    from evenhand.providers.environment import read_dotenv
    from evenhand.providers.names import providers

    dotenv = read_dotenv(Path.cwd())
    rows = []
    for name, entry in providers().items():
        held = [
            (variable, place)
            for variable in entry.key_env
            for place, values in (("environment", os.environ), (".env", dotenv))
            if values.get(variable)
        ]
        rows.append(
            {
                "provider": name,
                "title": entry.title,
                "base_url": entry.base_url,
                "key_needed": entry.key_needed,
                "key_env": list(entry.key_env),
                "key_set": bool(held),
                "key_from": f"{held[0][0]} in {held[0][1]}" if held else None,
            }
        )
    return rows


def _key_note(row: dict[str, Any]) -> str:
    """The key's state in a few words."""
    if row["key_set"]:
        return str(row["key_from"])
    return f"set {row['key_env'][0]}" if row["key_needed"] and row["key_env"] else "not needed"


def _local() -> list[dict[str, Any]]:
    """Packaged models, and whatever else lies in the models folder."""
    from evenhand.providers.weights import PACKAGED, models_folder, packaged_path

    rows: list[dict[str, Any]] = [
        {
            "model": f"local/{name}",
            "title": model.title,
            "licence": model.licence,
            "size": model.size,
            "here": packaged_path(name).is_file(),
            "pull": f"evenhand models pull {name}",
        }
        for name, model in PACKAGED.items()
    ]
    known = {packaged_path(name) for name in PACKAGED}
    rows += [
        {
            "model": f"local/{path}",
            "title": path.stem,
            "licence": None,
            "size": path.stat().st_size,
            "here": True,
            "pull": None,
        }
        for path in sorted(models_folder().glob("*.gguf"))
        if path not in known
    ]
    return rows


def _extras() -> dict[str, bool]:
    """Which optional dependencies are installed; nothing is imported."""
    from importlib.util import find_spec

    return {name: find_spec(module) is not None for name, module in _EXTRAS.items()}
