"""A trace on disk: a folder with `calls.jsonl` and `trace.json`, put in place whole.

calls.jsonl     a call a line, `evenhand.traced_call/1`, by number
trace.json      `evenhand.trace/1`: the command, its end, where the calls went, how many, and the hash of calls.jsonl
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from evenhand.errors import InvalidInput, StoreError
from evenhand.keys import tagged
from evenhand.terms import TracedCall
from evenhand.trace.recording import LINE_SCHEMA
from evenhand.trace.wire import messages_of, shape_of

__all__ = ["TRACE_SCHEMA", "new_folder", "read_calls", "read_requests", "read_trace", "write_trace"]

TRACE_SCHEMA = "evenhand.trace/1"
_CALLS, _ABOUT = "calls.jsonl", "trace.json"
_NUMBERED = Path(".evenhand/traces")


def new_folder(wanted: Path | None) -> Path:
    """Where a trace will stand; nothing is made yet.

    Args:
        wanted: the folder that the user named; None takes the next number under `.evenhand/traces`.
    Raises:
        InvalidInput: it is there already and holds something, or cannot be made there.
    """
    if wanted is None:
        taken = [int(path.name) for path in _NUMBERED.glob("*") if path.name.isdecimal()]
        return _NUMBERED / f"{max(taken, default=0) + 1:04d}"
    if wanted.exists() and (not wanted.is_dir() or any(wanted.iterdir())):
        raise InvalidInput(f"--out {wanted}: is there already; name a folder that is new or empty")
    above = next(path for path in wanted.absolute().parents if path.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InvalidInput(f"--out {wanted}: {above} cannot be written; name a folder in one that is yours")
    return wanted


def write_trace(folder: Path, about: Mapping[str, Any], lines: Iterable[bytes]) -> dict[str, Any]:
    """Write a trace beside its place and move it there.

    Args:
        folder: from `new_folder`.
        about: what `trace.json` says beside the figures that are taken from the lines.
        lines: of `calls.jsonl`, each with its line break.
    Returns:
        What `trace.json` holds.
    Raises:
        StoreError: it cannot be written; nothing is left behind.
    """
    part: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{folder.name[:100]}.", dir=folder.parent))
        digest, n_calls = hashlib.sha256(), 0
        with (part / _CALLS).open("wb") as calls:
            for line in lines:
                calls.write(line)
                digest.update(line)
                n_calls += 1
            calls.flush()
            os.fsync(calls.fileno())
        whole = {"schema": TRACE_SCHEMA, **about, "n_calls": n_calls, "calls_hash": tagged(digest.digest())}
        (part / _ABOUT).write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        part.chmod(0o755)
        part.replace(folder)  # over an empty folder too
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written ({error.strerror}); name another folder with --out") from error
    else:
        part = None
        return whole
    finally:
        if part is not None:
            shutil.rmtree(part, ignore_errors=True)


def read_trace(folder: Path) -> dict[str, Any]:
    """What `trace.json` holds, after comparing `calls.jsonl` with its hash.

    Raises:
        InvalidInput: no trace, one of another version, or one that was changed.
    """
    try:
        about = msgspec.json.decode((folder / _ABOUT).read_bytes())
        calls = (folder / _CALLS).read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"{folder}: is no trace ({Path(error.filename).name}: {error.strerror}); expected {_ABOUT} and {_CALLS}"
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{folder / _ABOUT}: no JSON ({error}); trace again") from error
    if not isinstance(about, dict) or about.get("schema") != TRACE_SCHEMA:
        came = about.get("schema") if isinstance(about, dict) else type(about).__name__
        raise InvalidInput(f"{folder / _ABOUT}: schema {came!r}; this version reads {TRACE_SCHEMA!r}")
    if about.get("calls_hash") != tagged(hashlib.sha256(calls).digest()):
        raise InvalidInput(f"{folder / _CALLS}: was changed since it was written (its hash differs); trace again")
    return about


def read_calls(folder: Path) -> tuple[TracedCall, ...]:
    """The calls of a trace, by number.

    Raises:
        InvalidInput: a line that is no call of this version.
    """
    return tuple(_call(line) for line in _lines(folder))


def read_requests(folder: Path) -> dict[int, dict[str, Any]]:
    """Number of a readable call to its request."""
    return {line["number"]: line["request"] for line in _lines(folder) if line.get("request") is not None}


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    """The decoded lines."""
    path = folder / _CALLS
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                value = msgspec.json.decode(line)
                if not isinstance(value, dict) or value.get("schema") != LINE_SCHEMA:
                    raise InvalidInput(f"{path} line {number}: no call; expected schema {LINE_SCHEMA!r}")
                yield value
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror}); name the folder of a trace") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} line {number}: no JSON ({error}); trace again") from error


def _call(line: Mapping[str, Any]) -> TracedCall:
    """One line as a call."""
    request = line.get("request") or {}
    return TracedCall(
        number=line["number"],
        wire=line["wire"],
        path=line["path"],
        began=line["began"],
        ended=line["ended"],
        model=line.get("model"),
        messages=messages_of(request),
        shape=shape_of(request),
        replies=tuple(line.get("reply") or ()),
        request_hash=line["request_hash"],
        status=line.get("status"),
        fault=line.get("fault"),
        in_flight=line.get("in_flight", 0),
        readable=bool(line.get("readable")),
    )
