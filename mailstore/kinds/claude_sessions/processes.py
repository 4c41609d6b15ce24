"""Which sessions run: the program's files of them, one for each process, and whether that process lives."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from mailstore.files.folder import Stamp
from mailstore.files.salvage import UNREADABLE
from mailstore.files.whole import NotAFile, open_binary, read_whole
from mailstore.kit.transcripts.source import FileFinder
from mailstore.records.message import Problem

LARGEST = 1 << 20
MOST_FILES = 4096
NAMESPACE = "/proc/self/ns/pid"


class SessionProcess(msgspec.Struct, frozen=True, rename="camel"):
    """A process of the program, as it says itself; times are in milliseconds since the epoch."""

    pid: int
    session_id: str
    cwd: str = ""
    started_at: float = 0
    proc_start: str = ""
    pid_domain: str = ""
    version: str = ""
    kind: str = ""
    entrypoint: str = ""
    name: str = ""
    status: str = ""
    waiting_for: str = ""
    job_id: str = ""
    updated_at: float = 0
    status_updated_at: float = 0


class _Job(msgspec.Struct):
    """A session in the background, as its own file says: what it waits for, in words. The rest is not kept."""

    needs: str = ""


JOB = msgspec.json.Decoder(_Job)
DECODER = msgspec.json.Decoder(SessionProcess)


class Processes:
    """The processes beside a folder of projects; reading them changes nothing, and their keys are not read."""

    def __init__(self, projects: Path) -> None:
        self.folder = projects.parent / "sessions"
        self._jobs = projects.parent / "jobs"
        self._finder = FileFinder(projects.parent)
        self._known: dict[str, tuple[Stamp, SessionProcess | None]] = {}
        self.living: dict[str, SessionProcess] = {}
        """By session, the process that runs it."""
        self._was_there = False
        self.is_there = False
        """Whether the program writes down its processes, and all can be read: older releases don't."""

    @property
    def problems(self) -> list[Problem]:
        return self._finder.problems

    def look(self) -> list[SessionProcess]:
        """Look which processes there are; return those that were not known as they are."""
        stamps: dict[str, tuple[Stamp, SessionProcess | None]] = {}
        fresh = []
        self._finder.problems = []
        self._was_there |= self._finder.stamp(self.folder) is not None
        for entry in [each for each in self._finder.entries(self.folder) if each.name.endswith(".json")][:MOST_FILES]:
            if (stamp := self._finder.stamp(entry.path)) is None:
                continue
            known = self._known.get(entry.name)
            if known is None or known[0] != stamp:
                try:
                    known = stamp, _read(Path(entry.path))
                except OSError as error:
                    self._finder.fail(error, entry.path)
                    continue
                if known[1] is not None:
                    fresh.append(known[1])
            stamps[entry.name] = known
        self.is_there = self._was_there and not self.problems
        self._known = self._known | stamps if self.problems else stamps
        alive = [process for _, process in self._known.values() if process is not None and is_alive(process)]
        self.living = {
            session_process.session_id: self._in_words(session_process)
            for session_process in sorted(alive, key=lambda process: process.started_at)
        }
        return fresh

    def _in_words(self, process: SessionProcess) -> SessionProcess:
        """Return a process with what it waits for in the words of its job, if it is one in the background."""
        if not process.waiting_for or not process.job_id or os.sep in process.job_id:
            return process
        try:
            needs = JOB.decode(read_whole(self._jobs / process.job_id / "state.json", LARGEST)).needs
        except (OSError, NotAFile, *UNREADABLE):
            return process
        return msgspec.structs.replace(process, waiting_for=needs or process.waiting_for)


def _read(path: Path) -> SessionProcess | None:
    try:
        process = DECODER.decode(read_whole(path, LARGEST))
    except (NotAFile, *UNREADABLE):
        return None  # it may be half-written: it is asked for again when it changes
    return process if process.session_id and 0 < process.pid < 1 << 31 else None


def is_alive(process: SessionProcess) -> bool:
    """Say whether a process runs that is the one which wrote its file; where that can't be seen, it does."""
    if _is_elsewhere(process.pid_domain):
        return True
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    started = _started(process.pid)
    return not started or not process.proc_start or started == process.proc_start


def _is_elsewhere(domain: str) -> bool:
    """Say whether a process runs among others than ours, as in a container, so that its number says nothing here."""
    space = domain.rpartition(":pid:")[2] if ":pid:" in domain else ""
    try:
        return bool(space) and f"pid:{space}" != os.readlink(NAMESPACE)  # noqa: PTH115
    except OSError:
        return False


def _started(pid: int) -> str:
    """Return when a process was started, in the system's clock ticks; empty where the system doesn't say."""
    try:
        with open_binary(f"/proc/{pid}/stat") as file:
            return file.read(4096).rpartition(b")")[2].split()[19].decode()
    except (OSError, NotAFile, IndexError):
        return ""
