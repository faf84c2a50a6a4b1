"""The process that runs a Python of WebAssembly: it loads what is compiled, gives its own rights up, and starts it.

Its words are `name=value`: `path` (of the runtime), `module` (compiled), `memory` (bytes that the Python may have),
`uid` (whom to become, or empty), `alone` (the end of the input is no reason to end), any `RLIMIT_...`; after `--` the
Python's arguments. With `compile` and `from` in the place of `module` it compiles instead. Input and output are those
of this process; the rest of the machine is not there for the Python: no file, no socket, no other process.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["main"]

_STACK = 16 << 20  # of the thread; the Python's calls use it
_CALLS = 2 << 20  # of it, the most that wasmtime takes; what goes deeper is a trap, and no fault of this process
_ENVIRONMENT = (("EVENHAND_SANDBOX", "1"), ("HOME", "/"), ("PWD", "/"))


def main(words: "list[str]") -> None:
    """Compile, or run and leave as the Python did."""
    import threading

    at = words.index("--")
    settings = dict(word.split("=", 1) for word in words[:at])
    sys.path.insert(0, settings["path"])
    threading.stack_size(_STACK)
    leave: "list[int]" = []  # noqa: UP037 - as the rest of this file
    task = _compile if "compile" in settings else _run
    thread = threading.Thread(target=lambda: leave.append(task(settings, words[at + 1 :])), daemon=True)
    thread.start()
    if "alone" not in settings:
        threading.Thread(target=_end_with_input, daemon=True).start()
    thread.join()
    sys.stderr.flush()
    os._exit(leave[0] if leave else 70)


def _end_with_input() -> None:
    """End when nobody holds the other end of the input any more, though the Python may be in a loop."""
    import select

    poll = select.poll()
    poll.register(0, 0)
    poll.poll()
    os._exit(75)


def _engine() -> "Any":
    """The same for compiling and for running; a module of another engine's is refused."""
    import wasmtime

    config = wasmtime.Config()
    config.max_wasm_stack = _CALLS
    return wasmtime.Engine(config)


def _compile(settings: "dict[str, str]", _: "list[str]") -> int:
    """Write what is compiled under a name of its own, and give it the final one when it is whole."""
    import wasmtime

    module = wasmtime.Module.from_file(_engine(), settings["from"])
    unfinished = f"{settings['compile']}.{os.getpid()}"
    with open(unfinished, "xb") as file:
        file.write(module.serialize())
    os.replace(unfinished, settings["compile"])
    return 0


def _run(settings: "dict[str, str]", argv: "list[str]") -> int:
    """Run the Python to its end."""
    import wasmtime

    engine = _engine()
    module = wasmtime.Module.deserialize_file(engine, settings["module"])
    wasi = wasmtime.WasiConfig()
    wasi.argv, wasi.env = ["python", *argv], _ENVIRONMENT
    wasi.inherit_stdin()
    wasi.inherit_stdout()
    store = wasmtime.Store(engine)
    store.set_limits(memory_size=int(settings["memory"]), instances=1, memories=1)
    store.set_wasi(wasi)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    start: Any = linker.instantiate(store, module).exports(store)["_start"]
    _give_up(settings)
    try:
        start(store)
    except wasmtime.ExitTrap as left:
        return left.code
    except wasmtime.Trap as trap:
        sys.stderr.write(f"{trap}"[:2000])
        return 71
    return 0


def _give_up(settings: "dict[str, str]") -> None:
    """Become nobody, and lower the limits, before anything foreign runs: all that is needed is open."""
    import resource

    for name, value in settings.items():
        if name.startswith("RLIMIT_"):
            resource.setrlimit(getattr(resource, name), (int(value), int(value)))
    if settings["uid"]:
        number = int(settings["uid"])
        os.setgroups([])
        os.setgid(number)
        os.setuid(number)
