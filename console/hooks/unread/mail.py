"""An agent's unread mail as a look at a mailbox finds it. Imports nothing, because hooks do."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from mailstore.haak.quick.quick_unread import QuickMessage

    Letter = Any
    """A message of the one kind or the other; of one agent all are of the same."""


class UnreadMail:
    """An agent's unread mail, the oldest first; nothing, known without looking, unless a subclass has looked.

    `watched` are the paths whose stats tell that mail came, and their stats before it was read; none as a rule.
    """

    watched: Mapping[str, str] = {}

    def __init__(self, letters: Sequence[Letter] = ()) -> None:
        self.letters: list[Letter] = [*letters]

    def texts(self, letters: Collection[Letter]) -> Iterable[str]:
        """Return the texts of some of them, read no further than needed."""
        return [each.content for each in letters]

    def registered(self, letter: Letter) -> str:
        """Return the name of a letter's sender, if the roster knows it."""
        return letter.registered_sender  # type: ignore[no-any-return]

    def record(self, message_ids: Collection[str]) -> None:
        """Record that the agent has read letters, whether or not they are still unread. Raises StoreError."""

    def close(self) -> None:
        """Release the mailbox."""


class QuickMail(UnreadMail):
    """Unread mail of a HAAK mailbox, found without folding it."""

    def __init__(self, mailbox: str, agent_id: str, letters: list[QuickMessage]) -> None:
        super().__init__(letters)
        self._mailbox = mailbox
        self._agent = agent_id

    def record(self, message_ids: Collection[str]) -> None:
        from mailstore.haak.quick.quick_reads import record_reads

        record_reads(self._mailbox, self._agent, message_ids)
