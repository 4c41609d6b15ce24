"""One snooze: until when, or until what happens, and whether that is so."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from mailstore.records.message import Message
from mailstore.records.scope import Scope
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox

MOST_NAMES = 3
IsAwake = Callable[[str], bool]


class Occurrence(StrEnum):
    """What a snooze can wait for."""

    TIME = "time"
    ANSWER = "answer"
    READ = "read"
    MAIL = "mail"
    AGENT = "agent"


class Snooze(Struct, frozen=True):
    """What ends a snooze. `about` is the message whose answer or reads it waits for, until `due` if that is set.

    `agent` is the one that is to resume. `known` are the messages to the user that the thread held: any other ends
    the snooze. `ended` is when it ended (0 while it lasts), and `why` what ended it unless what it waited for. Times in
    seconds since the epoch.
    """

    until: Occurrence
    at: float
    due: float = 0.0
    about: str = ""
    agent: str = ""
    size: int = 0
    """How many messages the thread had."""
    known: frozenset[str] = frozenset()
    ended: float = 0.0
    why: str = ""

    def words(self, now: float) -> str:
        """Return until when or what, as text."""
        from console.quiet.times import due_words

        latest = f", {due_words(self.due, now)} at the latest" if self.due else ""
        match self.until:
            case Occurrence.TIME:
                return f"until {due_words(self.due, now)}"
            case Occurrence.ANSWER:
                return f"until it is answered{latest}"
            case Occurrence.READ:
                return f"until it is read{latest}"
            case Occurrence.MAIL:
                return "until new mail"
            case Occurrence.AGENT:
                return f"until {self.agent} resumes"

    def back_words(self) -> str:
        """Return what is said of a snooze that has ended."""
        if self.due and self.until is not Occurrence.TIME and self.why:
            return f"back: {self.why}"
        return f"snoozed {self.words(self.ended)}, back{self.why and ': '}{self.why}"

    def over(self, root: str, mailbox: Mailbox, now: float, is_awake: IsAwake, *, is_loading: bool) -> Snooze | None:
        """Return the snooze as ended, None while it lasts; a mailbox that is loading may lack what ends it."""
        if self.until is Occurrence.TIME and now >= self.due:
            return replace(self, ended=now)
        if self.until is Occurrence.AGENT and is_awake(self.agent):
            return replace(self, ended=now)
        if is_loading or not root or not (mail := _thread(mailbox, root)):
            return None
        if self.until is Occurrence.ANSWER and self._is_answered(mailbox, mail):
            return replace(self, ended=now)
        if self.until is Occurrence.MAIL and len(mail) > self.size:
            return replace(self, ended=now)
        if self.until is Occurrence.READ and not (unread := self._unread(mailbox, now)):
            return replace(self, ended=now)
        if self.until is not Occurrence.TIME and self.due and now >= self.due:
            from console.quiet.times import due_words

            by = f"by {due_words(self.due, now)}"
            missing = f"not answered {by}" if self.until is Occurrence.ANSWER else f"not read {by}: {unread}"
            return replace(self, ended=now, why=missing)
        if any(message.id not in self.known for message in mail_for_user(mailbox, mail)):
            return replace(self, ended=now, why="new mail to you")
        return None

    def _is_answered(self, mailbox: Mailbox, mail: list[Message]) -> bool:
        about = mailbox.message(self.about)
        if about is None or len(mail) <= self.size:
            return False
        return any(message.time >= about.time for message in mail if self._is_other(mailbox, message, about))

    def _unread(self, mailbox: Mailbox, now: float) -> str:
        """Return who has not read the message, as far as reads are recorded; the first few by name."""
        if (about := mailbox.message(self.about)) is None:
            return "the message is gone"
        states = mailbox.bare_states(about, now)
        names = [mailbox.label(name) for name, state in states.items() if state not in (State.READ, State.UNRECORDED)]
        more = len(names) - MOST_NAMES
        return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")

    @staticmethod
    def _is_other(mailbox: Mailbox, message: Message, about: Message) -> bool:
        """Return whether two messages have different senders; the user has several names."""
        return message.sender != about.sender and not (mailbox.is_own(message) and mailbox.is_own(about))

    def scoped(self, scope: Scope) -> Snooze:
        """Return the snooze with the label of its mailbox in all names."""
        return self._renamed(scope.id, scope.name)

    def bare(self, scope: Scope) -> Snooze:
        """Return the snooze without the label."""
        return self._renamed(scope.bare, scope.bare)

    def _renamed(self, of_id: Callable[[str], str], of_agent: Callable[[str], str]) -> Snooze:
        return replace(
            self,
            about=of_id(self.about) if self.about else "",
            agent=of_agent(self.agent) if self.agent else "",
            known=frozenset(map(of_id, self.known)),
        )


def _thread(mailbox: Mailbox, root: str) -> list[Message]:
    try:
        return mailbox.thread_messages(mailbox.root_of(root))
    except KeyError:
        return []


def mail_for_user(mailbox: Mailbox, mail: list[Message]) -> list[Message]:
    """Return what reaches the user in spite of any mute: addressed to them, mentioning or answering them."""
    return [message for message in mail if not mailbox.is_own(message) and to_the_user(mailbox, message)]


def to_the_user(mailbox: Mailbox, message: Message) -> bool:
    """Say whether a message addresses or mentions the user, or answers them."""
    answered = mailbox.message(message.thread) if message.thread else None
    return mailbox.is_mine(message) or (answered is not None and mailbox.is_own(answered))
