"""Go to the terminal in which an agent's program runs: its pane, where that is in tmux, else say which it is."""

from __future__ import annotations

import asyncio
import os
import subprocess
from typing import Any

import msgspec
from msgspec import Struct

from console.hooks.sessions.hooked_agents import LiveHook
from console.hooks.sessions.processes import process_name, terminal_of
from console.render.safe import visible_line
from console.screens.base_screen import BaseScreen
from console.session import Session
from mailstore.records.roster import Status

TMUX = "tmux"
PATIENCE_SECONDS = 3.0
FORMAT = "#{pane_tty}\t#{pane_id}\t#{session_name}\t#{window_index}.#{pane_index}"


class Pane(Struct, frozen=True):
    """A pane of tmux: its id, its session, and its place in it."""

    id: str
    session: str
    place: str


class AgentTerminal:
    """Shows the terminal of an agent."""

    def __init__(self, screen: BaseScreen[Any]) -> None:
        self._screen = screen

    def go(self, session_id: str) -> None:
        """Go to an agent's terminal, or say where it is."""
        if has_process(self._screen.session, session_id):
            self._screen.run_task(self._go(session_id), group="terminal", exclusive=True)
        else:
            self._screen.tell(f"No hook runs for {visible_line(session_id)}: its terminal is not known")

    async def _go(self, session_id: str) -> None:
        session = self._screen.session
        hook, pid = session.hooked.live.get(session_id), process_number(session, session_id)
        self._screen.tell(visible_line(await asyncio.to_thread(shown_terminal, session_id, hook, pid)))


def has_process(session: Session, session_id: str) -> bool:
    """Say whether it is known in which process an agent runs: from its hooks, or as its mailbox says."""
    return session_id in session.hooked.live or process_number(session, session_id) > 0


def process_number(session: Session, session_id: str) -> int:
    """Return the number of the process in which a living agent runs, as its mailbox says; 0 if it says none."""
    agent = session.mailbox.roster.get(session_id)
    if agent is None or agent.status is not Status.LIVING or not agent.extra:
        return 0
    pid = msgspec.json.decode(agent.extra).get("pid")
    return pid if isinstance(pid, int) else 0


def shown_terminal(session_id: str, hook: LiveHook | None, pid: int = 0) -> str:
    """Show the pane in which a session runs, if it is one of tmux; return where it is, in words. Blocks."""
    terminal = terminal_of(process_name(pid) if hook is None else hook.process)
    if not terminal:
        return f"The terminal of {session_id} is not known: it may run on another machine, or without one"
    if (pane := pane_on(terminal)) is None:
        return f"{session_id} runs at {terminal}, not in this tmux"
    place = f"{pane.session}:{pane.place}"
    if os.environ.get("TMUX"):
        shown = _tmux("switch-client", "-t", pane.id)
    else:
        shown = _tmux("select-window", "-t", pane.id, ";", "select-pane", "-t", pane.id)
    if shown is None:
        return f"{session_id} runs in the tmux pane {place}, which could not be shown"
    return f"{session_id} is in the tmux pane {place}" + (
        "" if os.environ.get("TMUX") else f" · tmux attach -t '{pane.session}' shows it"
    )


def pane_on(terminal: str) -> Pane | None:
    """Return the pane of tmux that has a terminal; None without one, or without tmux. Blocks."""
    rows = (line.split("\t") for line in (_tmux("list-panes", "-a", "-F", FORMAT) or "").splitlines())
    return next((Pane(*row[1:]) for row in rows if len(row) == 4 and row[0] == terminal), None)


def _tmux(*words: str) -> str | None:
    """Run a command of tmux; return what it prints, None where that fails."""
    try:
        done = subprocess.run(
            [TMUX, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout.decode("utf-8", "replace")
