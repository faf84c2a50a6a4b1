"""The probe of our own sandbox: what code inside can and cannot do, each tried once.

Its text is run as a candidate, under whatever Python 3.8 or newer is there. It refuses to run without the marker that
the sandbox alone sets: tried outside, some of this would fill a disk or start processes.
"""

import os
import sys

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


def _contents(_: int) -> "list[str]":
    """What of the machine can be read: a file of a user, a list of one's files, what the kernel tells of processes."""
    found = []
    places = ["/root", "/home", "/etc/passwd", "/etc/hostname", "/var", "/opt", "/tmp", "/proc", "/proc/1/status"]  # noqa: S108
    if hasattr(os, "getppid") and os.getppid() == 1:
        del places[-2:]  # they would tell of the sandbox's own processes
    if hasattr(os, "uname") and os.uname().nodename == "sandbox":
        places.remove("/etc/hostname")  # an engine writes one for each container
    for place in places:
        try:
            if os.path.realpath(place) == os.path.realpath(os.environ["HOME"]):
                continue
            if os.path.isdir(place):
                os.listdir(place)
            else:
                open(place, "rb").close()
            found.append(place)
        except OSError:
            continue
    return found


def _writable(_: int) -> "list[str]":
    """Which folders besides one's own take a new file."""
    found = []
    shared = () if os.environ["HOME"] == "/tmp" else ("/tmp", "/var/tmp")  # noqa: S108
    for folder in (*shared, "/", "/usr", "/usr/lib", "/etc", "/dev", "/dev/shm", "/run"):  # noqa: S108
        try:
            with open(os.path.join(folder, "evenhand-probe"), "w") as file:
                found.append(folder)
            os.remove(file.name)
        except OSError:
            continue
    return found


def _interfaces(_: int) -> "list[str]":
    """The network's interfaces; none where there is no call to ask for them."""
    import socket
    import struct

    found: "list[str]" = []  # noqa: UP037 - Python 3.8 reads this
    try:
        import fcntl

        asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    except (ImportError, OSError):
        return found
    with asking:
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

    try:
        with socket.socket() as client:
            client.settimeout(1)
            return client.connect_ex(("127.0.0.1", port)) == 0
    except OSError:
        return False


def _signals(process: int) -> bool:
    """Whether the process outside that reads these answers could be signalled."""
    if not hasattr(os, "kill") or process == os.getppid():
        return False  # there is no such call, or it is the sandbox's first process, where both have the same number
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _processes(_: int) -> "list[int]":
    """Which process ids up to 5000 answer: there should be the first and this one."""
    found: "list[int]" = []  # noqa: UP037 - Python 3.8 reads this
    if not hasattr(os, "kill"):
        return found
    for process in range(1, 5001):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            continue
        except PermissionError:
            pass
        found.append(process)
    return found


def _privileges(_: int) -> "list[int] | str":
    """Capabilities that are held, no new privileges, and how calls are filtered, as the kernel tells them."""
    if sys.platform == "wasi":
        return "there is no kernel to call"
    import ctypes
    import struct

    libc = ctypes.CDLL(None)
    held = ctypes.create_string_buffer(24)
    if libc.capget(struct.pack("=Ii", 0x20080522, 0), held) != 0:
        raise OSError("the capabilities cannot be asked for")
    count = sum(bin(number).count("1") for number in struct.unpack("=6I", held.raw))
    return [count, libc.prctl(39, 0, 0, 0, 0), libc.prctl(21, 0, 0, 0, 0)]


def _proc(_: int) -> "list[str]":
    """What /proc shows."""
    try:
        return sorted(os.listdir("/proc"))[:20]
    except OSError:
        return []


def _first_process(_: int) -> int:
    """How many processes the sandbox's first process may start; 0 where no other process can be asked or told."""
    if sys.platform == "wasi":
        return 0
    import resource

    try:
        return resource.prlimit(os.getppid(), resource.RLIMIT_NPROC)[1]
    except PermissionError:
        return 0


def _user_namespace(_: int) -> bool:
    """Whether a child could make itself root of a namespace of its own."""
    if not hasattr(os, "fork"):
        return False
    child = os.fork()
    if child == 0:
        import ctypes

        os._exit(0 if ctypes.CDLL(None).unshare(0x10000000) == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


def _forks(limit: int) -> int:
    """How many children can live at the same time; at most a few more than should."""
    if not hasattr(os, "fork"):
        return 0
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


def _tree(limit: int) -> int:
    """How many bytes six children hold at the same time, each a quarter of what all may have."""
    if not hasattr(os, "fork"):
        return 0
    size = limit // 4
    stay = os.pipe()
    children: "list[int]" = []  # noqa: UP037 - Python 3.8 reads this
    for _ in range(6):
        reading, writing = os.pipe()
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            try:
                os.close(stay[1])
                data = bytearray(size)
                for place in range(0, size, 4096):
                    data[place] = 1
                os.write(writing, b"1")
                os.read(stay[0], 1)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
        os.close(writing)
        os.read(reading, 1)  # it has it, or was killed
        os.close(reading)
    os.close(stay[1])
    return sum(size for child in children if os.waitpid(child, 0)[1] == 0)


def _file(limit: int) -> int:
    """How long a file gets; a step beyond what it should at most."""
    return _filled([os.path.join(os.environ["HOME"], "evenhand-probe")], limit)


def _scratch(limit: int) -> int:
    """How much the writable folder takes; a step beyond what it should at most."""
    return _filled([os.path.join(os.environ["HOME"], f"evenhand-probe-{n}") for n in range(64)], limit)


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
