"""An agent's unread letters: by the quick path for the lines that name it, or else by folding the mailbox.

Imports next to nothing until the mailbox has to be folded.
"""

from __future__ import annotations

import os

from console.hooks.log import log_unexpected
from console.hooks.unread.watched import mailbox_file
from console.hooks.user_settings import names_the_user
from mailstore.installed_kinds import turn_on_site_packages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any, ClassVar, Protocol

    from mailstore.haak.quick.quick_unread import QuickMessage

    Letter = Any
    """A message of the one kind or the other; of one agent all are of the same."""

    class UnreadMail(Protocol):
        """An agent's unread mail, the oldest first."""

        letters: list[Letter]

        @property
        def watched(self) -> Mapping[str, str]:
            """Return the paths whose stats tell that mail came, and their stats before it was read; none as a rule."""

        def texts(self, letters: Collection[Letter]) -> Iterable[str]:
            """Return the texts of some of them, read no further than needed."""

        def registered(self, letter: Letter) -> str:
            """Return the name of a letter's sender, if the roster knows it."""

        def record(self, message_ids: Collection[str]) -> None:
            """Record that the agent has read letters, whether or not they are still unread. Raises StoreError."""

        def close(self) -> None:
            """Release the mailbox."""


class NoMail:
    """Nothing unread, known without looking."""

    __slots__ = ("letters",)
    watched: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        self.letters: list[Letter] = []

    def texts(self, letters: Collection[Letter]) -> Iterable[str]:
        """Return nothing."""
        return []

    def registered(self, letter: Letter) -> str:
        """Return nothing."""
        return ""

    def record(self, message_ids: Collection[str]) -> None:
        """Record nothing."""

    def close(self) -> None:
        """Nothing is held."""


class QuickMail:
    """Unread mail of a HAAK mailbox, found without folding it."""

    __slots__ = ("_agent", "_mailbox", "letters")
    watched: ClassVar[dict[str, str]] = {}

    def __init__(self, mailbox: str, agent_id: str, letters: list[QuickMessage]) -> None:
        self._mailbox = mailbox
        self._agent = agent_id
        self.letters: list[Letter] = [*letters]

    def texts(self, letters: Collection[Letter]) -> Iterable[str]:
        """Return the texts, which were read with the rest."""
        return [each.content for each in letters]

    def registered(self, letter: Letter) -> str:
        """Return what was found out when the letter was read."""
        return letter.registered_sender  # type: ignore[no-any-return]

    def record(self, message_ids: Collection[str]) -> None:
        """Append read records."""
        from mailstore.haak.quick.quick_reads import record_reads

        record_reads(self._mailbox, self._agent, message_ids)

    def close(self) -> None:
        """Nothing is held."""


def sender_in(mailbox: str, name: str) -> str:
    """Return a sender's name if the roster of a mailbox knows it; nothing where that can't be read at a glance."""
    path = mailbox_file(mailbox)
    try:
        from mailstore.haak.quick.quick_records import roster_in
        from mailstore.rules.unread import registered_name

        return registered_name(name, roster_in(os.path.dirname(path))) if path else ""  # noqa: PTH120
    except Exception as error:  # an unusual roster: the name is not needed
        log_unexpected("hook", "sender", error)
        return ""


def look(mailbox: str, agent_id: str, now: float, env: Mapping[str, str]) -> UnreadMail:
    """Return what an agent has still to read; `now` in seconds since the epoch. Raises MailError and OSError."""
    path = mailbox_file(mailbox)
    if path and not names_the_user(env):
        try:
            from mailstore.haak.quick.quick_unread import quick_unread

            return QuickMail(path, agent_id, quick_unread(path, agent_id, now))
        except Exception as error:  # whatever it was (nearly always Unusual), the fold meets it too
            log_unexpected("hook", "look", error)
    turn_on_site_packages()
    from console.hooks.unread.full_look import full_look

    return full_look(mailbox, agent_id, now)
