"""A filter of system calls, as the kernel reads it: what no candidate needs and what the namespaces do not close.

Namespaces leave open: sockets of the virtual machine's host (AF_VSOCK has no network namespace), memory that no limit
counts (shared segments, memory files, message queues), and the kernel's rarely used interfaces. Refused calls fail with
an error, as on a machine that lacks them.

Where there are no namespaces (`alone`), it closes what they would: every socket, and whatever reaches another process
or another's shared memory, or tells of what others do with files. Landlock does not know modes, owners and times of
files: where code runs under the caller's own id, it must not change those either.
"""

import platform
import struct

__all__ = ["seccomp_filter", "seccomp_profile"]

_EPERM, _ENOTTY, _ENOSYS, _EAFNOSUPPORT = 1, 25, 38, 97
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT, _SECOND_ARGUMENT_AT = 0, 4, 16, 24
_NEW_NAMESPACES = 0x7E020000
_KIND_OF_SOCKET, _STREAM = 0xF, 1
_KIND_OF_IOCTL, _OF_STREAMS = 0xFF00, 0x5400
_X32 = 0x40000000
_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6

# Of the two architectures: the number in AUDIT_ARCH, and those of the calls. From 424 on they are the same.
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SOCKET, _CLONE, _CLONE3 = {"x86_64": 41, "aarch64": 198}, {"x86_64": 56, "aarch64": 220}, 435
_SOCKET_PAIR, _PRLIMIT = {"x86_64": 53, "aarch64": 199}, {"x86_64": 302, "aarch64": 261}
_IOCTL = {"x86_64": 16, "aarch64": 29}
_REFUSED: dict[str, tuple[int, int | None]] = {
    "shmget": (29, 194),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "userfaultfd": (323, 282),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "memfd_secret": (447, 447),
}
_REFUSED_ALONE: dict[str, tuple[int, int | None]] = {
    "connect": (42, 203),  # a pair of sockets must lead to nobody else
    "bind": (49, 200),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_unlink": (241, 181),
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262),
}
_REFUSED_AS_CALLER: dict[str, tuple[int, int | None]] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "fremovexattr": (199, 16),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}


def seccomp_filter(machine: str = "", *, alone: bool = False, as_caller: bool = False) -> bytes | None:
    """The filter as a classic BPF program, or None for an architecture that it was not written for.

    Args:
        machine: as `platform.machine()`, which is taken where it is empty.
        alone: whether no namespaces stand around it.
        as_caller: whether code runs under the id of its caller, without namespaces.

    >>> len(seccomp_filter("x86_64")) % 8, seccomp_filter("sparc64")
    (0, None)
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        return None
    column = list(_ARCHITECTURES).index(machine)
    program = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_EQUAL, _ARCHITECTURES[machine], yes=1),
        _refuse(_EPERM),  # calls of another architecture have other numbers
        _step(_LOAD, _NUMBER_AT),
        _step(_AT_LEAST, _X32, no=1),
        _refuse(_ENOSYS),
        _step(_EQUAL, _CLONE3, no=1),
        _refuse(_ENOSYS),  # its flags lie in memory, where a filter cannot look; libraries then use clone
    ]
    for numbers in _refused(alone=alone, as_caller=as_caller):
        if (number := numbers[column]) is not None:
            program += [_step(_EQUAL, number, no=1), _refuse(_EPERM)]
    if alone:
        program += _guards(machine)
    program += [
        _step(_EQUAL, _CLONE[machine], no=4),
        _step(_LOAD, _FIRST_ARGUMENT_AT),
        _step(_ANY_BIT, _NEW_NAMESPACES, no=1),
        _refuse(_EPERM),
        _step(_RETURN, _ALLOW),
        _step(_EQUAL, _SOCKET[machine], yes=1),
        _step(_RETURN, _ALLOW),
        _step(_LOAD, _FIRST_ARGUMENT_AT),
    ]
    for family in () if alone else _FAMILIES:
        program += [_step(_EQUAL, family, no=1), _step(_RETURN, _ALLOW)]
    return b"".join([*program, _refuse(_EAFNOSUPPORT)])


def seccomp_profile(machine: str = "") -> dict[str, object] | None:
    """The same filter in the form that container engines read, or None for another architecture.

    Args:
        machine: as `platform.machine()`, which is taken where it is empty.
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        return None
    flags = [1 << bit for bit in range(64) if _NEW_NAMESPACES >> bit & 1]
    others = [family for family in range(max(_FAMILIES)) if family not in _FAMILIES]
    conditions = [("socket", {"index": 0, "value": family, "op": "SCMP_CMP_EQ"}) for family in others]
    conditions += [("socket", {"index": 0, "value": max(_FAMILIES), "op": "SCMP_CMP_GT"})]
    conditions += [
        ("clone", {"index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ"}) for flag in flags
    ]
    rules: list[dict[str, object]] = [
        {"names": list(_REFUSED), "action": "SCMP_ACT_ERRNO", "errnoRet": _EPERM},
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": _ENOSYS},
    ]
    for name, condition in conditions:
        error = _EAFNOSUPPORT if name == "socket" else _EPERM
        rules.append({"names": [name], "action": "SCMP_ACT_ERRNO", "errnoRet": error, "args": [condition]})
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": [f"SCMP_ARCH_{machine.upper()}"],
        "syscalls": rules,
    }


def _refused(*, alone: bool, as_caller: bool) -> list[tuple[int, int | None]]:
    """The numbers of what is refused whatever its arguments are."""
    more = {**(_REFUSED_ALONE if alone else {}), **(_REFUSED_AS_CALLER if as_caller else {})}
    return [*_REFUSED.values(), *more.values()]


def _guards(machine: str) -> list[bytes]:
    """What depends on an argument: pairs of stream sockets alone, since others can be pointed elsewhere; own limits."""
    return [
        _step(_EQUAL, _IOCTL[machine], no=5),
        _step(_LOAD, _SECOND_ARGUMENT_AT),
        _step(_AND, _KIND_OF_IOCTL),
        _step(_EQUAL, _OF_STREAMS, yes=1),
        _refuse(_ENOTTY),  # flags of files, which whoever may read one may change
        _step(_RETURN, _ALLOW),
        _step(_EQUAL, _SOCKET_PAIR[machine], no=5),
        _step(_LOAD, _SECOND_ARGUMENT_AT),
        _step(_AND, _KIND_OF_SOCKET),
        _step(_EQUAL, _STREAM, yes=1),
        _refuse(_EAFNOSUPPORT),
        _step(_RETURN, _ALLOW),
        _step(_EQUAL, _PRLIMIT[machine], no=4),
        _step(_LOAD, _FIRST_ARGUMENT_AT),
        _step(_EQUAL, 0, yes=1),
        _refuse(_EPERM),
        _step(_RETURN, _ALLOW),
    ]


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """One instruction; `yes` and `no` say how many to skip after a comparison."""
    return struct.pack("=HBBI", code, yes, no, value)


def _refuse(error: int) -> bytes:
    """Fail with an error number."""
    return _step(_RETURN, _ERRNO | error)
