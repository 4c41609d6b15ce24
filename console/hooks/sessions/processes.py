"""Which process a hook belongs to, and whether it still runs: known on Linux only.

Imports next to nothing, because every hook does.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["is_gone", "is_of_this_system", "process_name", "program_process"]

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ash", "ksh", "busybox"})
"""What programs run their hooks with: not the program itself, but its child."""
MOST_SHELLS = 3


def program_process() -> str:
    """Return what names the program that runs this hook among all processes of this machine; empty if unknown."""
    pid = os.getppid()
    for _ in range(MOST_SHELLS):
        found = _stat(pid)
        if found is None:
            return ""
        if found[0] not in SHELLS:
            return process_name(pid)
        pid = found[1]
    return ""


def process_name(pid: int) -> str:
    """Return what names a process among all of this machine, also when its number is used again; empty if unknown."""
    found = _stat(pid)
    return "" if found is None else f"{pid} {found[2]} {_namespace()}"


def is_gone(process: str) -> bool:
    """Say whether a process has certainly ended."""
    if not is_of_this_system(process):
        return False
    pid, started, _ = process.split(" ")
    found = _stat(int(pid))
    return found is None or found[2] != started


def is_of_this_system(process: str) -> bool:
    """Say whether a process runs or ran here since the system started: of any other, nothing is known."""
    parts = process.split(" ")
    return len(parts) == 3 and parts[0].isdecimal() and bool(parts[2]) and parts[2] == _namespace()


def _stat(pid: int) -> tuple[str, int, str] | None:
    """Return a process's name, its parent and when it started; None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return None
    # the name stands in parentheses and may contain any
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields: Sequence[str] = rest.split()
    try:
        return name, int(fields[1]), "" if fields[0] in "ZX" else fields[19]
    except (IndexError, ValueError):
        return None


def _namespace() -> str:
    """Return what distinguishes this machine's processes from those of a container; empty where that is unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read(8).decode("ascii", "replace")
        return f"{boot}-{os.readlink('/proc/self/ns/pid').strip('pid:[]')}"  # noqa: PTH115
    except OSError:
        return ""
