"""One container to start, and its `config.json` in the form of the runtime specification of Open Containers, 1.0.

Source:
    https://github.com/opencontainers/runtime-spec/blob/v1.0.2/config.md
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Run", "bundle_config"]

_NAMESPACES = ("pid", "network", "ipc", "uts", "mount")
_SETS = ("bounding", "effective", "inheritable", "permitted", "ambient")
_MASKED = ("acpi", "kcore", "keys", "latency_stats", "timer_list", "timer_stats", "sched_debug", "scsi")
_READ_ONLY = ("bus", "fs", "irq", "sys", "sysrq-trigger")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One container to start.

    Args:
        name: that no other container has.
        folder: of this run alone, to which the engine alone needs access.
        root: the root folder, with every place that something is mounted at.
        argv: what is its first process.
        env: name to value.
        cwd: its working folder, a writable one in memory.
        uid: user and group inside, and outside as well.
        mounts: (path of this machine, path inside), read-only.
        scratch_bytes: size of each writable folder.
        tree_bytes: memory of everything inside together.
        processes: inside together.
        profile: the filter of system calls as a file, or None.
    """

    name: str
    folder: Path
    root: Path
    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    uid: int
    mounts: Sequence[tuple[str, str]]
    scratch_bytes: int
    tree_bytes: int
    processes: int
    profile: Path | None

    @property
    def writable(self) -> tuple[str, ...]:
        """Folders that are given in memory."""
        return tuple(dict.fromkeys(("/tmp", self.cwd)))  # noqa: S108 - the container's own


def bundle_config(run: Run, *, grouped: bool, proc: bool) -> dict[str, object]:
    """What a runtime is told of one container.

    Args:
        run: the container.
        grouped: whether memory and processes are bounded together by control groups.
        proc: whether there is a /proc, without which some runtimes do not start.
    """
    linux: dict[str, object] = {"namespaces": [{"type": name} for name in _NAMESPACES]}
    if proc:
        linux["maskedPaths"] = [f"/proc/{name}" for name in _MASKED]
        linux["readonlyPaths"] = [f"/proc/{name}" for name in _READ_ONLY]
    if grouped:
        linux["resources"] = {
            "devices": [{"allow": False, "access": "rwm"}],
            "memory": {"limit": run.tree_bytes},
            "pids": {"limit": run.processes},
        }
    if run.profile is not None:
        linux["seccomp"] = json.loads(run.profile.read_text("utf-8"))
    return {
        "ociVersion": "1.0.2",
        "hostname": "sandbox",
        "root": {"path": str(run.root), "readonly": True},
        "process": {
            "terminal": False,
            "user": {"uid": run.uid, "gid": run.uid},
            "args": list(run.argv),
            "env": [f"{name}={value}" for name, value in run.env.items()],
            "cwd": run.cwd,
            "capabilities": {name: [] for name in _SETS},
            "noNewPrivileges": True,
        },
        "mounts": [*_own(run, proc=proc), *(_bind(host, inside) for host, inside in run.mounts)],
        "linux": linux,
    }


def _own(run: Run, *, proc: bool) -> list[dict[str, object]]:
    """What is there in memory."""
    mounts = [_memory("/dev", "noexec", "mode=755", "size=65536")]
    if proc:
        options = ["nosuid", "nodev", "noexec"]
        mounts.append({"destination": "/proc", "type": "proc", "source": "proc", "options": options})
    return mounts + [_memory(folder, "nodev", "mode=1777", f"size={run.scratch_bytes}") for folder in run.writable]


def _memory(folder: str, *options: str) -> dict[str, object]:
    return {"destination": folder, "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", *options]}


def _bind(host: str, inside: str) -> dict[str, object]:
    options = ["rbind", "ro", "nosuid", "nodev"]
    return {"destination": inside, "type": "bind", "source": host, "options": options}
