"""What `hook status` reports of each program: installed, version, trusted, when and for whom its hooks last ran."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from console.hooks.install.choose import version_of
from console.hooks.install.installed import Installed, installed
from console.hooks.install.programs import ProgramFiles, Target
from console.hooks.install.trust import trust_of
from console.hooks.log import log_file
from console.hooks.programs import FORMER
from console.hooks.sessions.processes import is_live
from console.hooks.sessions.session_state import SessionState, states_in
from console.hooks.state_folder import all_folders
from console.render.timestamps import iso_time
from mailstore.files.whole import open_binary
from mailstore.location import without_secrets

ENDED = "ended"
VERSION_SECONDS = 20.0
LOG_BYTES = 1 << 18
LAST_LINES = 5


class SessionReport(Struct, frozen=True):
    """A session whose hooks have run."""

    agent: Annotated[str, "Its agent in the mailbox; empty if it has none yet."]
    session_id: Annotated[str, "The program's own id of the session."]
    doing: Annotated[str, "What it is doing: working, idle, waiting or ended."]
    last_run: Annotated[str | None, "When its hooks last ran: ISO 8601 in UTC; null if never."]
    mailbox: Annotated[str, "The mailbox that they read."]
    folder: Annotated[str, "The folder that it was started in."]


class HookReport(Struct, frozen=True):
    """The hooks of one program, as far as a folder is concerned."""

    program: Annotated[str, "The program, as `--for` takes it."]
    title: Annotated[str, "Its name."]
    tried: Annotated[bool, "Whether our hooks were tried with the real program."]
    command: Annotated[str | None, "Where it was found on the PATH; null if it was not."]
    version: Annotated[str | None, "Its version; null if unknown."]
    installed: Annotated[list[Installed], "The files with its hooks."]
    problems: Annotated[list[str], "What is wrong with them."]
    trusted: Annotated[
        str | None, "Whether the program lets them run, in its own words; null where nothing is installed."
    ]
    remark: Annotated[str, "What to do about that; may be empty."]
    last_run: Annotated[str | None, "When its hooks last ran: ISO 8601 in UTC; null if never."]
    sessions: Annotated[list[SessionReport], "The sessions whose hooks have run, the latest first."]


class LogReport(Struct, frozen=True):
    """What the hooks wrote down of what went wrong."""

    file: Annotated[str, "Its path."]
    lines: Annotated[int, "How many lines it has."]
    last: Annotated[list[str], "The last five of them."]


def reports(programs: Sequence[ProgramFiles], target: Target) -> list[HookReport]:
    """Return a report of each program; they are asked at the same time, because some take long to answer."""
    now = time.time()
    states = [state for folder in all_folders() for state in states_in(folder)]
    with ThreadPoolExecutor(max_workers=len(programs) or 1) as pool:
        return list(pool.map(lambda program: _report(program, target, states, now), programs))


def log_report() -> LogReport:
    """Return what the log holds."""
    path = Path(log_file())
    try:
        with open_binary(path) as file:
            lines = file.read(LOG_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    return LogReport(str(path), len(lines), lines[-LAST_LINES:])


def _report(program: ProgramFiles, target: Target, states: Sequence[SessionState], now: float) -> HookReport:
    places, problems = installed(program, target)
    version = version_of(program, target, VERSION_SECONDS)
    trusted, remark = trust_of(program.NAME, target) if places else (None, "")
    own = sorted((state for state in states if state.tool == program.NAME), key=lambda state: -state.last_run)
    return HookReport(
        program=program.NAME,
        title=program.TITLE,
        tried=program.NAME not in FORMER,
        command=shutil.which(program.COMMAND, path=target.env.get("PATH")) if program.COMMAND else None,
        version=".".join(map(str, version)) if version else None,
        installed=places,
        problems=problems,
        trusted=trusted,
        remark=remark,
        last_run=iso_time(own[0].last_run) if own and own[0].last_run else None,
        sessions=[_session(state, now) for state in own],
    )


def _session(state: SessionState, now: float) -> SessionReport:
    return SessionReport(
        agent=state.agent_id,
        session_id=state.session_id,
        doing=state.doing if is_live(state, now) else ENDED,
        last_run=iso_time(state.last_run) if state.last_run else None,
        mailbox=without_secrets(state.mailbox),
        folder=state.cwd,
    )
