"""`evenhand` in a process of its own that need not import anything: the suite starts hundreds of them.

    python warm_commands.py SOCKET               imports the package, then forks a process for each command asked for
    python -IS warm_commands.py SOCKET WORD ...  `evenhand WORD ...` in such a process, with this one's folder,
                                                 environment and streams; ends with its exit code

The process that forks runs nothing itself, so no command finds what another one left behind. Where a start of the
interpreter is the claim, or a signal, tests start `python -m evenhand`.
"""

import atexit
import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import threading

IMPORTED = (
    *("aiohttp", "altair", "numpy", "rich.console", "rich.table", "scipy.stats", "yaml"),
    *("sqlalchemy", "sqlalchemy.dialects.sqlite.aiosqlite", "typer._adapters"),
    *("evenhand.evaluate.session", "evenhand.evaluate.study", "evenhand.providers.chat", "evenhand.cli.main"),
)


def serve(path: str) -> None:
    """Fork for every connection, until killed; returns in the forked process, which is to run the command."""
    from importlib import import_module

    for name in IMPORTED:
        import_module(name)
    gc.freeze()  # a collection in a forked process would copy every page
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)
        while True:
            asking, _ = listening.accept()
            if not os.fork():
                break
            asking.close()
            reap()
    answer(asking)


def reap() -> None:
    """Let those go that have answered."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def answer(asking: socket.socket) -> None:
    """Fork once more and say how that one ended; returns in the one that is to run the command.

    Whoever kills the process that asked kills the command.
    """
    size = int.from_bytes(received(asking, 8), "big")
    _, streams, _, _ = socket.recv_fds(asking, 1, 3)
    request = json.loads(received(asking, size))
    ended, told = socket.socketpair()
    told.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(told.fileno())
    command = os.fork()
    if command:
        if asking in select.select([asking, ended], [], [])[0]:
            os.kill(command, signal.SIGKILL)
        _, status = os.waitpid(command, 0)
        with contextlib.suppress(OSError):  # nobody is there to hear it
            asking.sendall(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for one in (asking, ended, told):
        one.close()
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["evenhand", *request["words"]]


def received(asking: socket.socket, size: int) -> bytes:
    """Exactly so many bytes."""
    read = b""
    while len(read) < size:
        more = asking.recv(size - len(read))
        if not more:
            os._exit(1)
        read += more
    return read


def ask(path: str, words: list[str]) -> int:
    """Have the command run, and wait for its exit code; negative where a signal ended it."""
    request = {"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}
    text = json.dumps(request).encode()
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(path)
        asked.sendall(len(text).to_bytes(8, "big"))
        socket.send_fds(asked, [b"."], [0, 1, 2])
        asked.sendall(text)
        return int(asked.recv(16))


def run_and_end() -> None:
    """The command, and what an interpreter does at its end, save taking all modules apart."""
    from evenhand.cli.main import run

    code = 0
    try:
        run()
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        code = ask(sys.argv[1], sys.argv[2:])
        if code < 0:
            signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        sys.exit(code)
    serve(sys.argv[1])
    run_and_end()
