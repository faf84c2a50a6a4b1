"""A filter of system calls, as the kernel reads it: what no candidate needs and what the namespaces do not close.

Namespaces leave open: sockets of the virtual machine's host (AF_VSOCK has no network namespace), memory that no limit
counts (shared segments, memory files, message queues), and the kernel's rarely used interfaces. Refused calls fail with
an error, as on a machine that lacks them.
"""

import platform
import struct

__all__ = ["seccomp_filter"]

_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_NEW_USER_NAMESPACE = 0x10000000
_X32 = 0x40000000
_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6

# Of the two architectures: the number in AUDIT_ARCH, and those of the calls. From 424 on they are the same.
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SOCKET, _CLONE, _CLONE3 = {"x86_64": 41, "aarch64": 198}, {"x86_64": 56, "aarch64": 220}, 435
_REFUSED = {
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


def seccomp_filter(machine: str = "") -> bytes | None:
    """The filter as a classic BPF program, or None for an architecture that it was not written for.

    Args:
        machine: as `platform.machine()`, which is taken where it is empty.

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
    for numbers in _REFUSED.values():
        program += [_step(_EQUAL, numbers[column], no=1), _refuse(_EPERM)]
    program += [
        _step(_EQUAL, _CLONE[machine], no=4),
        _step(_LOAD, _FIRST_ARGUMENT_AT),
        _step(_ANY_BIT, _NEW_USER_NAMESPACE, no=1),
        _refuse(_EPERM),
        _step(_RETURN, _ALLOW),
        _step(_EQUAL, _SOCKET[machine], yes=1),
        _step(_RETURN, _ALLOW),
        _step(_LOAD, _FIRST_ARGUMENT_AT),
    ]
    for family in _FAMILIES:
        program += [_step(_EQUAL, family, no=1), _step(_RETURN, _ALLOW)]
    return b"".join([*program, _refuse(_EAFNOSUPPORT)])


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """One instruction; `yes` and `no` say how many to skip after a comparison."""
    return struct.pack("=HBBI", code, yes, no, value)


def _refuse(error: int) -> bytes:
    """Fail with an error number."""
    return _step(_RETURN, _ERRNO | error)
