"""The probe of our own sandbox: what code inside can and cannot do, each tried once.

Its text is run as a candidate, under whatever Python 3.8 or newer is there. It refuses to run without the marker that
the sandbox alone sets: tried outside, some of this would fill a disk or start processes.
"""

import os

__all__ = ["measure"]


def measure(name: str, argument: int) -> object:
    """One measurement, by its name; plain data comes back."""
    if os.environ.get("EVENHAND_SANDBOX") != "1":
        raise SystemExit("the probe runs inside the sandbox only")
    return globals()["_" + name](argument)


def _files(_: int) -> "list[str]":
    """Which places of the machine that hold somebody's files are there."""
    places = ("/root", "/home", "/etc/passwd", "/etc/shadow", "/var", "/srv", "/mnt", "/opt", "/run", "/sys")
    return [place for place in places if os.path.exists(place)]


def _writable(_: int) -> "list[str]":
    """Which folders besides /tmp take a new file."""
    found = []
    for folder in ("/", "/usr", "/usr/lib", "/etc", "/dev", "/dev/shm", "/run"):  # noqa: S108
        try:
            with open(os.path.join(folder, "evenhand-probe"), "w"):
                found.append(folder)
        except OSError:
            continue
    return found


def _interfaces(_: int) -> "list[str]":
    """The network's interfaces."""
    import fcntl
    import socket
    import struct

    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for index in range(1, 65):
            try:
                told = fcntl.ioctl(asking, 0x8910, struct.pack("16si20x", b"", index))  # SIOCGIFNAME
            except OSError:
                continue
            found.append(told[:16].rstrip(b"\0").decode())
    return found


def _connects(port: int) -> bool:
    """Whether a server of the machine that listens on loopback can be reached."""
    import socket

    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0


def _processes(_: int) -> "list[int]":
    """Which process ids up to 5000 answer: there should be the first and this one."""
    found = []
    for process in range(1, 5001):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            continue
        except PermissionError:
            pass
        found.append(process)
    return found


def _privileges(_: int) -> "list[int]":
    """Capabilities in the bounding set, no new privileges, and how calls are filtered, as the kernel tells them."""
    import ctypes

    call = ctypes.CDLL(None).prctl
    bounding = sum(call(23, capability, 0, 0, 0) == 1 for capability in range(64))
    return [bounding, call(39, 0, 0, 0, 0), call(21, 0, 0, 0, 0)]


def _proc(_: int) -> "list[str]":
    """What /proc shows."""
    return sorted(os.listdir("/proc"))[:20] if os.path.exists("/proc") else []


def _first_process(_: int) -> int:
    """How many processes the sandbox's first process may start."""
    import resource

    return resource.prlimit(1, resource.RLIMIT_NPROC)[1]


def _user_namespace(_: int) -> bool:
    """Whether a child could make itself root of a namespace of its own."""
    child = os.fork()
    if child == 0:
        import ctypes

        os._exit(0 if ctypes.CDLL(None).unshare(0x10000000) == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


def _forks(limit: int) -> int:
    """How many children can live at the same time; at most a few more than should."""
    reading, writing = os.pipe()
    children: "list[int]" = []  # noqa: UP037 - Python 3.8 reads this
    try:
        while len(children) < limit + 4:
            child = os.fork()
            if child == 0:
                os.close(writing)
                os.read(reading, 1)
                os._exit(0)
            children.append(child)
    except OSError:
        pass
    os.close(writing)
    os.close(reading)
    for child in children:
        os.waitpid(child, 0)
    return len(children)


def _memory(limit: int) -> bool:
    """Whether more than the limit can be taken."""
    try:
        return bool(bytearray(limit))
    except MemoryError:
        return False


def _file(limit: int) -> int:
    """How long a file gets; a step beyond what it should at most."""
    return _filled(["/tmp/evenhand-probe"], limit)  # noqa: S108


def _scratch(limit: int) -> int:
    """How much /tmp takes; a step beyond what it should at most."""
    return _filled([f"/tmp/evenhand-probe-{n}" for n in range(64)], limit)  # noqa: S108


def _filled(paths: "list[str]", limit: int) -> int:
    """How many bytes were written into files, up to a step beyond a limit."""
    step, written = b"0" * (1 << 20), 0
    for path in paths:
        try:
            with open(path, "wb", buffering=0) as file:
                while written <= limit:
                    written += file.write(step)
        except OSError as error:
            if error.errno == 28:  # no space left
                break
    for path in paths:
        if os.path.exists(path):
            os.remove(path)
    return written


def _environment(_: int) -> "list[str]":
    """The names in the environment."""
    return sorted(os.environ)
