"""Which process a hook belongs to, and whether it and its session run: as /proc says, or `ps` where there is none.

Imports next to nothing, because every hook does.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.hooks.sessions.session_state import SessionState


SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ash", "ksh", "busybox"})
"""What programs run their hooks with: not the program itself, but its child."""
MOST_SHELLS = 3
PROC = "/proc"
PS = "/bin/ps"
PS_SECONDS = 5.0
FIRST_PSEUDO, PSEUDO_MAJORS, CONSOLE = 136, 8, 4
"""The numbers of Linux's pseudo-terminals among its devices, and of the machine's own terminals."""
SILENT_SECONDS = 24 * 3600.0
"""After this time without any event, a session counts as ended where its process can't be asked for."""


def program_process() -> str:
    """Return what names the program that runs this hook among all processes of this machine; empty if unknown."""
    pid = os.getppid()
    for _ in range(MOST_SHELLS):
        stat = _stat(pid)
        if stat is None:
            return ""
        if stat[0] not in SHELLS:
            return process_name(pid)
        pid = stat[1]
    return ""


def process_name(pid: int) -> str:
    """Return what names a process among all of this machine, also when its number is used again; empty if unknown."""
    stat = _stat(pid)
    return "" if stat is None else f"{pid} {stat[2]} {_namespace()}"


def is_gone(process: str) -> bool:
    """Say whether a process has certainly ended."""
    if not is_of_this_system(process):
        return False
    pid, started, _ = process.split(" ")
    if not _has_table() and (int(pid) == os.getppid() or _is_signalled(int(pid))):
        # `ps` is slow, and may fail: only another start tells that the number is used again
        stat = None if int(pid) == os.getppid() else _stat(int(pid))
        return stat is not None and stat[2] != started
    stat = _stat(int(pid))
    return stat is None or stat[2] != started


def is_of_this_system(process: str) -> bool:
    """Say whether a process runs or ran here since the system started: of any other, nothing is known."""
    parts = process.split(" ")
    return len(parts) == 3 and parts[0].isdecimal() and bool(parts[2]) and parts[2] == _namespace()


def arguments_of(process: str) -> list[str]:
    """Return the arguments with which a process was started; none where that can't be told."""
    pid = process.partition(" ")[0]
    if not pid:
        return []
    try:
        with open(f"{PROC}/{pid}/cmdline", "rb") as file:
            return file.read().decode("utf-8", "replace").split("\0")
    except OSError:
        return [] if _has_table() else _ps("args=", pid).split()


def terminal_of(process: str) -> str:
    """Return the path of the terminal that a process runs at; empty if it has none here, or none that is known."""
    if not is_of_this_system(process) or is_gone(process):
        return ""
    pid = process.partition(" ")[0]
    try:
        with open(f"{PROC}/{pid}/stat", "rb") as file:
            device = int(file.read().rpartition(b")")[2].split()[4])
    except (OSError, ValueError, IndexError):
        name = _ps("tty=", pid).strip()
        return f"/dev/{name}" if name.startswith("tty") else ""
    major, minor = device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xFFF00
    if FIRST_PSEUDO <= major < FIRST_PSEUDO + PSEUDO_MAJORS:
        return f"/dev/pts/{minor + 256 * (major - FIRST_PSEUDO)}"
    return f"/dev/tty{minor}" if major == CONSOLE else ""


def _ps(field: str, pid: str) -> str:
    """Return what `ps` tells of a process; empty where it fails."""
    import subprocess

    try:
        done = subprocess.run([PS, "-o", field, "-p", pid], capture_output=True, timeout=PS_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")


def _has_table() -> bool:
    return os.path.exists(f"{PROC}/self/stat")  # noqa: PTH110


def _is_signalled(pid: int) -> bool:
    """Say whether a process can be there: this sends nothing."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _stat(pid: int) -> tuple[str, int, str] | None:
    """Return a process's name, its parent and when it started; None if it has ended, or nothing can be told."""
    try:
        with open(f"{PROC}/{pid}/stat", "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return None if _has_table() else _told_by_ps(pid)
    # the name stands in parentheses and may contain any
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields: Sequence[str] = rest.split()
    try:
        return name, int(fields[1]), "" if fields[0] in "ZX" else fields[19]
    except (IndexError, ValueError):
        return None


def _told_by_ps(pid: int) -> tuple[str, int, str] | None:
    """Return the same as macOS and BSD tell it; the start is a date, to the second."""
    import subprocess

    words = [PS, "-o", "ppid=", "-o", "state=", "-o", "lstart=", "-o", "comm=", "-p", str(pid)]
    try:
        done = subprocess.run(words, env={"LC_ALL": "C"}, capture_output=True, timeout=PS_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    # the date has five words; the program comes last, with its path, or with a dash as the first of a login
    fields = done.stdout.decode("utf-8", "replace").split(None, 7)
    if done.returncode or len(fields) < 8 or not fields[0].isdecimal():
        return None
    name = fields[7].strip().rpartition("/")[2].removeprefix("-")
    return name, int(fields[0]), "" if fields[1].startswith("Z") else "-".join(fields[3:7])


def _namespace() -> str:
    """Return what distinguishes this machine's processes from those of a container; empty where that is unknown."""
    try:
        with open(f"{PROC}/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read(8).decode("ascii", "replace")
        return f"{boot}-{os.readlink(f'{PROC}/self/ns/pid').strip('pid:[]')}"  # noqa: PTH115
    except OSError:
        # a date of its start tells a process apart on one machine, whenever that was started
        return "".join(os.uname().nodename.split()) if not _has_table() and os.access(PS, os.X_OK) else ""


def is_live(state: SessionState, now: float) -> bool:
    """Return whether a session still runs: it was not ended, and its process runs or it was active within a day."""
    if state.is_ended or not state.agent_id:
        return False
    if is_of_this_system(process_of(state)):
        return not process_is_gone(state)
    return now - state.last_run < SILENT_SECONDS


def process_is_gone(state: SessionState) -> bool:
    """Say whether a session's program has certainly ended."""
    process = process_of(state)
    return bool(state.agent_id and process) and is_gone(process)


def process_of(state: SessionState) -> str:
    """Return what names the program of a session among all processes; empty if unknown."""
    process = state.extra.get("process")
    return process if isinstance(process, str) else ""
