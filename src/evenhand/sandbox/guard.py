"""The first process of a container: it stays beside the code, ends with it, and ends with whoever started it.

An engine's client can be killed while its container goes on. So the container lives as long as its input is open: the
first process hears when nobody holds the other end any more, and with it the kernel ends everything inside.

Staged with the runner, or alone to run a command, under Python 3.8 or newer without `site`.
"""

import ctypes
import os
import select
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

__all__ = ["guard", "launch", "lower"]

_DUMPABLE = 4  # of prctl
_NAMES = ("EVENHAND_SANDBOX", "HOME", "LC_CTYPE", "PWD")


def guard(keep: "tuple[str, ...]" = ()) -> None:
    """Go on in a child; the first process waits for it, reaps what is orphaned, and leaves as the child did.

    Its memory is closed to the others: they have its user id, and where there is a /proc they could take it over.

    Args:
        keep: names in the environment to keep beside those of every sandbox; an engine adds its own.
    """
    if os.getpid() != 1 or ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0) != 0:
        sys.exit("guard: the first process could not be closed to the others")
    for name in set(os.environ).difference(_NAMES, keep):
        del os.environ[name]
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGCHLD,))
        return

    def reap(*_: "int | FrameType | None") -> None:
        ended = -1
        while ended:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == child:
                os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))

    for number in set(signal.Signals).difference((signal.SIGCHLD, signal.SIGKILL, signal.SIGSTOP)):
        signal.signal(number, signal.SIG_IGN)  # Linux does so for a first process; gVisor does not
    signal.signal(signal.SIGCHLD, reap)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGCHLD,))
    os.closerange(1, 3)
    poll = select.poll()
    poll.register(0, 0)
    while not poll.poll():
        continue
    os._exit(128 + signal.SIGKILL)


def lower(words: "list[str]") -> None:
    """Lower the limits of this process and of all that it starts; words that name no limit are of another."""
    import resource

    for name, _, value in (word.partition("=") for word in words):
        if name.startswith("RLIMIT_"):
            hard = resource.getrlimit(getattr(resource, name))[1]
            least = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
            resource.setrlimit(getattr(resource, name), (least, least))


def launch(words: "list[str]") -> None:
    """Run a command with these limits in a copy of what is given.

    Args:
        words: where it is given (`files` and `stdin`), `name=value` of `resource`, `--`, and the command.
    """
    import shutil

    at = words.index("--")
    given, command = words[0], words[at + 1 :]
    for folder, inner, files in os.walk(os.path.join(given, "files")):
        here = os.path.relpath(folder, os.path.join(given, "files"))
        for name in inner:
            os.mkdir(os.path.join(here, name))
        for name in files:
            shutil.copyfile(os.path.join(folder, name), os.path.join(here, name))
    lower(words[1:at])
    stdin = os.open(os.path.join(given, "stdin"), os.O_RDONLY)
    guard(("PATH",))
    os.dup2(stdin, 0)
    os.close(stdin)
    try:
        os.execvp(command[0], command)  # noqa: S606 - what the caller wants run, inside
    except OSError as error:
        sys.stderr.write("%s: %s\n" % (command[0], error.strerror))  # noqa: UP031 - as every launcher says it
        sys.stderr.flush()
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)
