"""What some kinds of mailboxes know besides records: files and ways of messages, facts about agents, their notes."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class WayState(StrEnum):
    """How far a message got on a way."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    REFUSED = "refused"
    GIVEN_UP = "given up"
    RECEIVED = "received"
    DUPLICATE = "received again"
    TURNED_AWAY = "turned away"


class MessageWay(msgspec.Struct, frozen=True, gc=False):
    """A message on one transport, to a recipient or from the other side; times in seconds since the epoch.

    `tries` have been made, the last one at `last`; `reason` is why that failed, and `next_try` when the next is due.
    """

    transport: str
    recipient: str
    state: WayState
    tries: int = 1
    last: float | None = None
    reason: str = ""
    next_try: float | None = None


class Speaker(StrEnum):
    """Who said something in a session."""

    USER = "user"
    AGENT = "agent"
    SESSION = "another session"
    PROGRAM = "program"


class SessionTurn(msgspec.Struct, frozen=True, gc=False):
    """What was said in a session, with the tools that were called, each in a line; `time` in seconds since the epoch.

    `is_sought` marks the turn that was looked for.
    """

    speaker: Speaker
    time: float | None
    text: str
    tools: tuple[str, ...] = ()
    is_sought: bool = False


class TranscriptPlace(msgspec.Struct, frozen=True, gc=False):
    """Where an agent's transcript has a message: a file's name within the mailbox, and a byte offset.

    `did` is what the agent did there, as *sent*; `resume` is the command that continues its session in `folder`.
    """

    agent: str
    did: str
    file: str
    offset: int
    resume: tuple[str, ...] = ()
    folder: str = ""


class AttachedFile(msgspec.Struct, frozen=True, gc=False):
    """A file by the name that its sender gave it, which may be anything; `size` in bytes, None if it can't be read.

    `problem` says why it can't.
    """

    name: str
    size: int | None = None
    problem: str = ""


class AgentFact(msgspec.Struct, frozen=True, gc=False):
    """One labelled text, perhaps of several lines; `source` names the file that it is from, within the mailbox.

    A warning is something that the user should mend or ask about.
    """

    name: str
    value: str
    source: str = ""
    is_warning: bool = False


class AgentNote(msgspec.Struct, frozen=True, gc=False):
    """A text that an agent keeps beside its mail, so that it is searched too.

    `kind` is what it is: memory, note, task, identity, or index, a list of the mail of a day. `day` is its day in ISO
    form, which begins at `time` in seconds since the epoch; `source` names its file within the mailbox.
    """

    agent: str
    kind: str
    title: str
    day: str
    time: float
    text: str
    source: str
