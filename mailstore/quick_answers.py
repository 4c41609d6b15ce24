"""What is unread for one agent, answered without opening a mailbox: what a hook asks at every start.

A kind that can tell this by reading little names an object of a class of `QuickAnswers` in its `StoreKind`. Imports
next to nothing, because hooks do (docs/decisions/0015).
"""

from __future__ import annotations

from mailstore.files.scan import Unusual
from mailstore.installed_kinds import LAYER, installed_kinds, turn_on_site_packages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any

    UnreadMessage = Any
    """A message of the one kind or the other; of one agent all are of the same."""


class NotRegistered(Unusual):
    """A name that is neither an agent's nor a role's: no mail is unread under it."""


class QuickMessage:
    """A live message with its text, as its record states it; `time` in seconds since the epoch."""

    __slots__ = (
        "content",
        "id",
        "mentions",
        "read_by",
        "recipients",
        "registered_sender",
        "sender",
        "subject",
        "tags",
        "thread",
        "time",
        "timestamp",
        "ttl_hours",
        "type",
    )
    timed = True
    is_listed = False

    def __init__(self, message_id: str, content: str, fields: dict[str, Any]) -> None:
        self.id = message_id
        self.content = content
        self.mentions: tuple[str, ...] = ()
        self.sender: str = fields["sender"]
        self.registered_sender = ""
        """The sender's name, if the roster knows it."""
        self.recipients: tuple[str, ...] = fields["recipients"]
        self.timestamp: str = fields["timestamp"]
        self.time: float = fields["time"]
        self.subject: str = fields["subject"]
        self.thread: str | None = fields["thread"]
        self.ttl_hours: float | None = fields["ttl_hours"]
        self.type: str = fields["type"]
        self.tags: tuple[str, ...] = fields["tags"]
        self.read_by: tuple[str, ...] = fields["read_by"]


class UnreadMail:
    """An agent's unread mail, the oldest first; nothing, known without looking, unless a subclass has looked.

    `watched` are the paths whose stats tell that mail came, and their stats before it was read; none as a rule.
    """

    watched: Mapping[str, str] = {}

    def __init__(self, messages: Sequence[UnreadMessage] = ()) -> None:
        self.messages: list[UnreadMessage] = [*messages]

    def texts(self, messages: Collection[UnreadMessage]) -> Iterable[str | None]:
        """Return the texts of some of them, read no further than needed; None for one that can't be read."""
        return [message.content for message in messages]

    def text(self, message: UnreadMessage) -> str:
        """Return the text of one; empty if it can't be read."""
        return next(iter(self.texts([message]))) or ""

    def proof(self, message: UnreadMessage) -> str:
        """Return according to what in the mailbox the user wrote a message; empty if nothing proves it."""
        return ""

    def registered(self, message: UnreadMessage) -> str:
        """Return the name of a message's sender, if the roster knows it."""
        return message.registered_sender  # type: ignore[no-any-return]

    def record(self, message_ids: Collection[str]) -> None:
        """Record that the agent has read messages, whether or not they are still unread. Raises StoreError."""

    def close(self) -> None:
        """Release the mailbox."""


class QuickMail(UnreadMail):
    """Unread mail that was found without folding a mailbox; `record` writes down that messages were read, by id."""

    def __init__(self, messages: Sequence[QuickMessage], record: Callable[[Collection[str]], None]) -> None:
        super().__init__(messages)
        self._record = record

    def record(self, message_ids: Collection[str]) -> None:
        self._record(message_ids)


class QuickAnswers:
    """What a kind of mailbox can tell at a glance. Locations are those of its stores' URLs."""

    def watched(self, location: str) -> tuple[str, ...]:
        """Return the paths whose stats change when unread mail comes, as `Store.watched` says; none if unknown."""
        return ()

    def unread(self, location: str, agent: str, now: float) -> QuickMail:
        """Return an agent's unread mail, by the rules of every other command; `now` in seconds since the epoch.

        Raises NotRegistered, and Unusual or any other error where the mailbox has to be folded.
        """
        raise Unusual("no quick answer")

    def registered(self, location: str, name: str) -> str:
        """Return a sender's name if the roster knows it; empty if not, or if that takes longer than a glance."""
        return ""


def quick_answers(kind: str) -> QuickAnswers | None:
    """Return what a kind can tell at a glance; None if it can't. Raises what the import of a package raises."""
    if kind in LAYER:
        target = LAYER[kind].quick
    else:
        installed = installed_kinds().get(kind)
        target = installed.quick if installed else ""
        if target:
            turn_on_site_packages()
    if not target:
        return None
    module, _, name = target.partition(":")
    answers: QuickAnswers = getattr(__import__(module, fromlist=[name]), name)  # `importlib` takes longer
    return answers
