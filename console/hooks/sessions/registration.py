"""A session's agent in the roster: registered at the first event, resumed, replaced, heard beating, frozen or buried.

No session needs the roster to hear of its mail: what goes wrong is returned, to be logged, and tried again at the next
heartbeat. Imports next to nothing, because every hook does.
"""

from __future__ import annotations

from console.hooks.events import ASKED, INTERRUPT, PROMPT, START, STOP, TOOL
from console.hooks.events import WAITING as WAITS
from console.hooks.sessions.claims import claim
from console.hooks.sessions.identity import VARIABLE, identity_of, is_usable_id, shown_name
from console.hooks.sessions.processes import process_is_gone, program_process
from console.hooks.sessions.roster_access import change_agent, label_for
from console.hooks.sessions.session_state import IDLE, WAITING, WORKING, opened, states_in
from console.hooks.state_folder import hooks_folder
from mailstore.errors import MailError, Unsupported, reason_of
from mailstore.records.agent_table import DEAD, FROZEN, LIVING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from console.hooks.events import HookEvent
    from console.hooks.programs import Program
    from console.hooks.sessions.identity import AgentIdentity
    from console.hooks.sessions.roster_access import Change
    from console.hooks.sessions.session_state import SessionState

GENERATIONS = 1000
NO_ROSTER = "none"
REPLACING = ("clear", "fork")
"""The sources of a session that takes the place of another."""
JUST_NOW_SECONDS = 10.0
BURY = "bury"
COMPACT = "compact"
OFFLINE = "offline"
DOING = {START: IDLE, PROMPT: WORKING, TOOL: WORKING, STOP: IDLE, INTERRUPT: IDLE, WAITS: WAITING, ASKED: WAITING}
WORDS = frozenset({WORKING, IDLE, WAITING, OFFLINE, "awake"})
"""How an activity begins that is the state of an agent (`mailstore/rules/presence.py`)."""


class Arrival:
    """Who the agent of a session is from now on.

    `note` is a sentence for an agent that is not who the environment says; `problem` what kept it out of the roster.
    """

    __slots__ = ("agent_id", "is_registered", "note", "problem", "role", "tags")

    def __init__(self, state: SessionState, entry: Arriving, note: str, problem: str) -> None:
        self.agent_id = state.agent_id
        self.role = entry.role
        self.tags = entry.tags
        self.note = note
        self.problem = problem
        self.is_registered = state.registered > 0


def arrive(
    event: HookEvent, state: SessionState, mailbox: str, env: Mapping[str, str], program: Program, now: float
) -> Arrival:
    """Give a session an agent and register it: a new one, or the one it had. `now` in seconds since the epoch."""
    identity = identity_of(event, program, env, mailbox)
    folder = hooks_folder(mailbox)
    state.extra["process"] = "" if state.extra.get("unsure") else program_process()
    problem = ""
    if event.source in REPLACING and not state.agent_id:
        problem = _inherit(identity, folder, state, event.cwd, mailbox, now)
    state.do(doing_at(event, state), now)
    state.is_ended = False
    before = state.agent_id
    label = before.rpartition("/")[0] if before else label_for(mailbox, event.cwd)
    head = f"{label}/" if label else ""
    entry = Arriving(identity, state.doing, now)
    name, trouble = _settled(identity, head, folder, state, mailbox, entry, now)
    state.agent_id = name
    state.beat = now
    state.extra.update(said=state.doing, role=entry.role, tags=list(entry.tags), name=entry.name)
    return Arrival(state, entry, _note(identity, name, head, before), trouble or problem)


def beat(event: HookEvent, state: SessionState, mailbox: str, now: float, doing: str = "") -> str:
    """Note what a session does, and record it in the roster when that is due; return what went wrong, or nothing.

    `doing` is what it does where the moment says otherwise; `now` in seconds since the epoch.
    """
    if not state.agent_id or state.is_ended:
        return ""
    if process_is_gone(state):
        _doubt(state)
    state.do(doing or doing_at(event, state), now)
    if not is_due(state, now):
        return ""
    title = shown_name(event.title)
    problem = _changed(state, mailbox, state.agent_id, Beating(state, title, now).changes, now)
    state.beat = now
    state.extra["said"] = state.doing
    if title:
        state.extra["name"] = title
    return problem


def leave(state: SessionState, mailbox: str, at_end: str, now: float) -> str:
    """End a session: its agent is frozen, or buried with `at_end` "bury"; return what went wrong, or nothing."""
    if not state.agent_id or state.is_ended:
        return ""
    state.do(IDLE, now)
    state.is_ended = True
    state.last_run = now
    return _changed(state, mailbox, state.agent_id, lambda known: ended(known, at_end, now), now)


def _doubt(state: SessionState) -> None:
    """Note an event of a session whose process is gone; at the second one, forget the process.

    The first may come from a hook that outlived its program. If more follow, what ran the hooks was not the program.
    """
    state.extra["unsure"] = "unsure" in state.extra
    if state.extra["unsure"]:
        state.extra["process"] = ""


def _settled(
    identity: AgentIdentity,
    head: str,
    folder: str,
    state: SessionState,
    mailbox: str,
    entry: Arriving,
    now: float,
) -> tuple[str, str]:
    """Claim and register the first id that is free and whose agent lives or is new; return it and what went wrong."""
    wanted = identity.wanted.removeprefix(head)
    own = [head + each for each in identity.own]
    known = str(state.extra.get("base", state.agent_id))
    bases = [known, head + wanted if is_usable_id(wanted) else "", *own]
    for base in filter(None, dict.fromkeys(bases)):
        for name in _generations(base, state.agent_id if base == known else base):
            if not claim(folder, name, state, now, is_own=base in own):
                break
            entry.is_dead = False
            problem = _changed(state, mailbox, name, entry.changes, now)
            if not entry.is_dead:
                state.extra["base"] = base
                return name, problem
    return own[-1], "no id could be claimed"


def _generations(base: str, first: str) -> Iterator[str]:
    """Yield an id, and from `first` on those that follow where its agent is dead: `a`, `a.2`, `a.3`."""
    number = first.removeprefix(f"{base}.")
    start = int(number) if number != first and number.isdecimal() else 1
    yield from (f"{base}.{each}" if each > 1 else base for each in range(start, GENERATIONS))


def _inherit(identity: AgentIdentity, folder: str, state: SessionState, cwd: str, mailbox: str, now: float) -> str:
    """Take over role and tags of the session that this one replaces, and freeze that one; return what went wrong."""
    before = replaced_by(folder, state, cwd, now)
    if before is None:
        return ""
    problem = ""
    if not before.is_ended:
        with opened(folder, before.tool, before.session_id) as held:
            problem = leave(held.state, mailbox, "", now)
            held.save()
    tags: list[Any] = []
    problem = _changed(before, mailbox, before.agent_id, tags.append, now) or problem
    if tags and tags[0] is not None:
        if "role" not in identity.given:
            identity.role = tags[0].role
        identity.tags = tuple(dict.fromkeys((*tags[0].tags, *identity.tags)))
    return problem


def _changed(state: SessionState, mailbox: str, agent_id: str, change: Change, now: float) -> str:
    """Change an agent in the roster; return what went wrong, or nothing: a mailbox without a roster isn't an error."""
    if state.extra.get("roster") == NO_ROSTER:
        return ""
    try:
        change_agent(mailbox, agent_id, change, now)
    except Unsupported:
        state.extra["roster"] = NO_ROSTER
    except (MailError, OSError) as error:
        return reason_of(error)
    else:
        state.registered = state.registered or now
    return ""


def _note(identity: AgentIdentity, name: str, head: str, before: str) -> str:
    """Return what an agent must know that is not who the environment says; empty for any other."""
    wanted = identity.wanted.removeprefix(head)
    if not wanted or name == head + wanted:
        return ""
    if not is_usable_id(wanted):
        return f"${VARIABLE} does not hold a valid id and was not used."
    if name == before:
        return f"${VARIABLE} names {wanted}, but this session has the id {name}: use that one."
    if name.startswith(f"{head}{wanted}."):
        return f"${VARIABLE} names {wanted}, which is dead: use {name} instead."
    return f"${VARIABLE} names {wanted}, which another session has: use {name} instead."


def replaced_by(folder: str, state: SessionState, cwd: str, now: float) -> SessionState | None:
    """Return the last session of the same process, else the one that has just ended in the same folder; or None.

    `now` in seconds since the epoch. A fork of a session that runs in another window replaces nothing.
    """
    process = state.extra.get("process")

    def is_replaced(other: SessionState) -> bool:
        if other.tool != state.tool or other.session_id == state.session_id or not other.agent_id:
            return False
        if process and other.extra.get("process"):
            return bool(other.extra["process"] == process)
        return other.cwd == cwd and other.is_ended and 0 <= now - other.last_run < JUST_NOW_SECONDS

    return max(filter(is_replaced, states_in(folder)), key=lambda other: other.last_run, default=None)


class Arriving:
    """Computes the entry of an agent whose session arrives; a dead one is left alone, and `is_dead` says so."""

    __slots__ = ("_doing", "_identity", "_now", "is_dead", "name", "role", "tags")

    def __init__(self, identity: AgentIdentity, doing: str, now: float) -> None:
        self._identity = identity
        self._doing = doing
        self._now = now
        self.is_dead = False
        self.role, self.tags, self.name = identity.role, identity.tags, identity.name

    def changes(self, known: Any) -> dict[str, Any] | None:
        """Return the new values of an agent's fields; `known` is None for one that is not registered."""
        self.is_dead = known is not None and known.status == DEAD
        if self.is_dead:
            return None
        identity = self._identity
        if known is None:
            self.role, self.tags, self.name = identity.role, identity.tags, identity.name
        else:
            self.role = identity.role if "role" in identity.given else known.role or identity.role
            self.name = identity.name if "name" in identity.given else known.name or identity.name
            self.tags = tuple(dict.fromkeys((*known.tags, *identity.tags)))
        return {
            "status": LIVING,
            "role": self.role,
            "tags": self.tags,
            "name": self.name,
            "activity": activity(self._doing, "" if known is None else known.activity),
            "started_at": self._now if known is None else known.started_at,
            "ended_at": None,
            "last_seen": self._now,
        }


class Beating:
    """Computes the entry of an agent whose session continues; `title` is what the session is called now, if it says."""

    __slots__ = ("_now", "_state", "_title")

    def __init__(self, state: SessionState, title: str, now: float) -> None:
        self._state = state
        self._title = title
        self._now = now

    def changes(self, known: Any) -> dict[str, Any] | None:
        """Return the new values; None for an agent that is dead, which only a new start replaces."""
        extra = self._state.extra
        if known is None:  # the roster has lost it
            tags = extra.get("tags")
            return {
                "status": LIVING,
                "role": str(extra.get("role", "")),
                "tags": tuple(map(str, tags)) if isinstance(tags, list) else (),
                "name": self._title or str(extra.get("name", "")),
                "activity": self._state.doing,
                "started_at": self._now,
                "last_seen": self._now,
            }
        if known.status == DEAD:
            return None
        doing = activity(self._state.doing, known.activity)
        named = {"name": self._title} if self._title and self._title != extra.get("name") else {}
        return {"status": LIVING, "activity": doing, "last_seen": self._now, **named}


def ended(known: Any, at_end: str, now: float) -> dict[str, Any] | None:
    """Return the new values for an agent whose session has ended; None where there is none, or it is dead already."""
    if known is None or known.status == DEAD:
        return None
    if at_end == BURY:
        return {"status": DEAD, "ended_at": now, "last_seen": now}
    return {"status": FROZEN, "activity": activity(OFFLINE, known.activity), "last_seen": now}


def doing_at(event: HookEvent, state: SessionState) -> str:
    """Return what a session does from an event on: what it did before where the event says nothing about it."""
    if event.is_subagent:
        return WORKING
    if event.source == COMPACT:
        return state.doing
    return DOING.get(event.moment, state.doing)


def is_due(state: SessionState, now: float) -> bool:
    """Say whether what a session does is to be recorded now.

    A heartbeat is, every BEAT_SECONDS at first, every five minutes in the end. In between, only what would be wrong for
    long is: that a turn has ended, or that a user is waited for or no longer is; but not that a turn begins. So a
    session writes two lines a minute at most, unless a user answers it more often.
    """
    if not 0 <= now - state.beat < state.pause(now):
        return True
    said = state.extra.get("said")
    return said != state.doing and (state.doing != WORKING or said == WAITING)


def activity(doing: str, said: str) -> str:
    """Return an agent's activity: what it does, and what the agent itself last said of it."""
    word, _, detail = said.partition(": ")
    detail = detail if word in WORDS else said
    return f"{doing}: {detail}" if detail else doing
