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

    A warning is something that the user should fix or ask about.
    """

    name: str
    value: str
    source: str = ""
    is_warning: bool = False


HOURS = 24


class AgentUsage(msgspec.Struct, frozen=True, gc=False):
    """What an agent's program says that it has used. None is *not said*: nothing here is estimated.

    `context` tokens of `window` are those of its last answer, at `answered`, in seconds since the epoch. `given` and
    `written` are the tokens of the last 24 hours, of which `hours` has the sums, the current hour last; `total`
    those of the whole session. `cost` is in dollars. `is_whole` unless only the last part of those hours could be read.
    """

    model: str = ""
    context: int | None = None
    window: int | None = None
    given: int = 0
    written: int = 0
    hours: tuple[int, ...] = (0,) * HOURS
    total: int | None = None
    cost: float | None = None
    answered: float | None = None
    is_whole: bool = True

    @property
    def share(self) -> float | None:
        """The part of its window that its context fills."""
        return self.context / self.window if self.context is not None and self.window else None

    @property
    def tokens(self) -> int:
        """The tokens of the last 24 hours."""
        return self.given + self.written


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
