"""A repository with a mailbox, and sessions whose events reach registration as hooks bring them there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from console.hooks.events import END, START, HookEvent
from console.hooks.programs import program
from console.hooks.sessions import registration
from console.hooks.sessions.mailbox_choice import mailbox_of
from console.hooks.sessions.processes import process_name
from console.hooks.sessions.registration import Arrival
from console.hooks.sessions.session_state import SessionState, opened, states_in
from console.hooks.state_folder import hooks_folder

NOW = 1_800_000_000.0
needs_processes = pytest.mark.skipif(not process_name(os.getpid()), reason="only Linux tells which processes run")


class Fleet:
    """The sessions in one folder; `now` is the time of the next event, in seconds since the epoch."""

    def __init__(self, folder: Path, *, store: str = "") -> None:
        self.folder = folder
        self.store = store
        self.env: dict[str, str] = {}
        self.now = NOW
        self.problems: list[str] = []
        self.process = process_name(os.getpid())

    @property
    def roster(self) -> Path:
        """Return the roster of a HAAK mailbox in the folder."""
        return self.folder / "data" / "agent-roster.jsonl"

    @property
    def mailbox(self) -> str:
        """Return the URL of the mailbox."""
        found = mailbox_of(str(self.folder), self.store, self.env)
        assert found is not None
        return found

    def event(
        self,
        session: str,
        moment: str = START,
        source: str = "",
        *,
        tool: str = "claude-code",
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        at_end: str = "",
        **fields: Any,
    ) -> Arrival | None:
        """Let an event of a session reach registration; return who its agent is, if that was asked."""
        cwd = cwd or self.folder
        event = HookEvent(moment, moment, session, str(cwd), source=source, **fields)
        env = self.env if env is None else env
        known = program(tool)
        assert known is not None
        mailbox = mailbox_of(str(cwd), self.store, env)
        assert mailbox is not None
        arrival = None
        with opened(hooks_folder(mailbox), tool, session) as held:
            state = held.state
            if moment == END:
                problem = registration.leave(state, mailbox, at_end, self.now)
            elif event.is_subagent or (moment != START and state.agent_id and not state.is_ended):
                problem = registration.beat(event, state, mailbox, self.now)
            else:
                arrival = registration.arrive(event, state, mailbox, env, known, self.now)
                problem = arrival.problem
            state.mailbox, state.cwd, state.last_run = mailbox, str(cwd), self.now
            held.save()
        if problem:
            self.problems.append(problem)
        return arrival

    def start(self, session: str, source: str = "startup", **fields: Any) -> str:
        """Start a session; return its agent's id."""
        arrival = self.event(session, START, source, **fields)
        assert arrival is not None
        return arrival.agent_id

    def state(self, session: str) -> SessionState:
        """Return what is remembered of a session."""
        return next(state for state in states_in(hooks_folder(self.mailbox)) if state.session_id == session)

    def lines(self) -> list[dict[str, Any]]:
        """Return the lines of the roster."""
        return [json.loads(line) for line in self.roster.read_text(encoding="utf-8").splitlines()]

    def entry(self, agent_id: str) -> dict[str, Any]:
        """Return the last line of an agent."""
        return next(line for line in reversed(self.lines()) if line["session_id"] == agent_id)
