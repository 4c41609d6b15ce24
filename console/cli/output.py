"""What commands print with `--json` about mail and agents; the field names are the interface."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

__all__ = [
    "AgentRow",
    "ArchiveRow",
    "AttachmentRow",
    "ByeRow",
    "ChannelRow",
    "ConcernRow",
    "DeadLetterRow",
    "FactRow",
    "FindingRow",
    "HappeningRow",
    "MessageRow",
    "MomentRow",
    "OpenMailRow",
    "OpenMessageRow",
    "PresenceRow",
    "SettledRow",
    "StayRow",
    "ThreadRow",
    "ViewRow",
]


class MessageRow(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A message; `timestamp` as its record has it, `thread` its parent's id, `states` by recipient, `tags` if any.

    `places` are the files of all copies, if there are several.
    """

    id: str
    sender: str
    recipients: tuple[str, ...]
    timestamp: str
    subject: str
    content: str
    thread: str | None
    type: str
    states: Mapping[str, str]
    tags: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


class HappeningRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """What happened in a mailbox: `event` is `message`, `read`, `agent`, `cut-off` or `back`; `at` when it was noticed.

    `mailbox` is the label of one of several that is cut off or back, `since` when it was cut off, `reason` why.
    """

    event: str
    at: str
    message: MessageRow | None = None
    message_id: str = ""
    reader: str = ""
    session_id: str = ""
    status: str = ""
    mailbox: str = ""
    since: str | None = None
    reason: str = ""


class AttachmentRow(msgspec.Struct, frozen=True):
    """A file attached to a message: `size` in bytes, null where it can't be read, `problem` why; `saved` is where."""

    name: str
    size: int | None
    problem: str = ""
    saved: str = ""


class ThreadRow(msgspec.Struct, frozen=True):
    """A thread under its root's id; `unread` the person's own, or the agent's that was asked for."""

    root: str
    subject: str
    participants: tuple[str, ...]
    messages: int
    unread: int
    last_timestamp: str


class ChannelRow(msgspec.Struct, frozen=True):
    """A channel: its full tag, its mail, and the agents with the tag."""

    tag: str
    messages: int
    unread: int
    agents: tuple[str, ...]


class FactRow(msgspec.Struct, frozen=True):
    """What a mailbox says of an agent; `source` is the file that it is from, a `warning` something to be mended."""

    name: str
    value: str
    source: str
    warning: bool


class AgentRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """An agent of the roster; `unread` is its own, null where reads are not recorded, `last_seen` ISO 8601 or null.

    The fields from `state` on are as in `PresenceRow`; `facts` is what its mailbox says of it, if it says anything.
    """

    session_id: str
    role: str
    tags: tuple[str, ...]
    status: str
    unread: int | None
    last_seen: str | None
    state: str
    substate: str
    since: str | None
    stale: bool
    gone: bool
    hook: str | None
    can_wake: bool
    facts: tuple[FactRow, ...] = ()


class PresenceRow(msgspec.Struct, frozen=True):
    """An agent's presence: `state` and `substate` in its own words, `stale` if it was not seen recently.

    `since` is when it began to be in that state, ISO 8601 or null; `unread` is null where reads are not recorded;
    `gone` says that its program ended without saying so, `hook` the program whose hook notifies it of mail, or null.
    """

    session_id: str
    role: str
    status: str
    state: str
    substate: str
    last_seen: str | None
    stale: bool
    unread: int | None
    since: str | None
    gone: bool
    hook: str | None
    can_wake: bool


class ViewRow(msgspec.Struct, frozen=True):
    """A saved search, and what it finds now; `unread` by the person, `problem` why it can't be read."""

    name: str
    query: str
    messages: int
    unread: int
    problem: str


class DeadLetterRow(msgspec.Struct, frozen=True):
    """A letter that one recipient will not read; `since` ISO 8601 in UTC, or null if unknown.

    `takers` are agents that could take it over, the best candidate first.
    """

    message_id: str
    recipient: str
    state: str
    since: str | None
    sender: str
    subject: str
    reason: str
    takers: list[str]


class ConcernRow(msgspec.Struct, frozen=True):
    """Something that needs attention; `since` ISO 8601 in UTC. A dead letter names its recipient."""

    trouble: str
    who: str
    reason: str
    since: str | None
    message_id: str | None
    recipient: str | None = None
    is_mine: bool = False


class FindingRow(msgspec.Struct, frozen=True):
    """The verdict on one record of an export, and the reason."""

    message_id: str
    verdict: str
    reason: str


class MomentRow(msgspec.Struct, frozen=True):
    """An event in the life of a message; `time` ISO 8601 in UTC, or null if unknown."""

    time: str | None
    what: str
    who: str
    how: str


class SettledRow(msgspec.Struct, frozen=True):
    """What was written for one letter: the message sent, if any, and the record in the journal; null in a dry run."""

    action: str
    message_id: str
    recipient: str
    sent: str | None
    intervention_id: str | None


class StayRow(msgspec.Struct, frozen=True):
    """How many messages are kept for a reason, and by recipient if it concerns recipients."""

    reason: str
    messages: int
    by: dict[str, int]


class WriterRow(msgspec.Struct, frozen=True):
    """A program that has a mailbox file open, and may write to it after an archival."""

    program: str
    pid: int
    file: str


class ArchiveRow(msgspec.Struct, frozen=True):
    """What an archival did, or would do in a dry run; `files` from the mailbox's folder.

    `months` and `stays` are what was planned; a thread that got new mail meanwhile stays all the same.

    `run` names the run in the journal; null where nothing was moved. `mended` says what an interrupted run needed.
    """

    archived: int
    kept: int
    files: list[str]
    months: dict[str, int]
    stays: list[StayRow]
    dry_run: bool
    run: str | None
    mended: list[str]
    writers: list[WriterRow]


class OpenMessageRow(msgspec.Struct, frozen=True):
    """A message without its text."""

    id: str
    sender: str
    recipients: tuple[str, ...]
    timestamp: str
    subject: str
    type: str


class OpenMailRow(msgspec.Struct, frozen=True):
    """How much mail there is, and the oldest of it."""

    count: int
    oldest: list[OpenMessageRow]


class ByeRow(msgspec.Struct, frozen=True):
    """What an agent leaves behind, and its status now.

    `unread` is for it; `asked` are questions to it, `asking` its own, without an answer.
    """

    agent: str
    status: str
    unread: OpenMailRow
    asked: OpenMailRow
    asking: OpenMailRow
