"""What the user has muted, snoozed and starred, and what is new to them for all that."""

from __future__ import annotations

from mailstore.records.message import Message
from mailstore.records.own_marks import OwnMarks
from mailstore.rules.muting import is_muted_agent
from mailstore.state.filing import FiledMail
from mailstore.steps import Steps


class OwnMail(FiledMail):
    """The user's own marks on messages and threads; `root` is the id of a thread's root."""

    def own_marks(self) -> OwnMarks:
        """Return what the user has muted, snoozed and starred."""
        return self.contents.marks

    def change_marks(self, marks: OwnMarks) -> Steps[None]:
        """Replace the user's marks and, in steps, all numbers that depend on them; raises MailboxReloaded."""
        return self._filing.quieting.change(marks)

    def is_new(self, message: Message) -> bool:
        """Return whether a message is new to the user: unseen, and neither muted nor snoozed."""
        row = self.contents.row(message.id)
        return row is not None and self.contents.is_unseen(row) and row not in self.contents.index.quiet.rows

    def is_muted(self, message: Message) -> bool:
        """Return whether a message is muted, and does not break through."""
        row = self.contents.row(message.id)
        return row is not None and self._filing.quieting.is_muted(row)

    def is_snoozed(self, message: Message) -> bool:
        """Return whether the thread of a message is snoozed."""
        row = self.contents.row(message.id)
        return row is not None and self._filing.quieting.is_snoozed(row)

    def is_starred(self, message: Message) -> bool:
        """Return whether the user has starred a message, or its whole thread."""
        contents = self.contents
        row = contents.row(message.id)
        if row is None or not (contents.marks.starred or contents.index.quiet.starred_roots):
            return False
        ids = (contents.messages.ids[copy] for copy in contents.copies_of(row))
        return contents.index.forest.root(row) in contents.index.quiet.starred_roots or any(
            message_id in contents.marks.starred for message_id in ids
        )

    def is_thread_muted(self, root: str) -> bool:
        """Return whether a whole thread is muted."""
        return self.contents.messages.ids.row(root) in self.contents.index.quiet.muted_roots

    def quiet_from(self, agent: str) -> int:
        """Return how many unseen messages from a muted agent are quiet."""
        contents = self.contents
        marks = OwnMarks(agents=frozenset({agent}))
        senders = contents.index.quiet.senders.items()
        return sum(it for name, it in senders if is_muted_agent(name, marks, contents.roster, contents.user))

    def quiet_of_type(self, kind: str) -> int:
        """Return how many unseen messages of a muted type are quiet."""
        types = self.contents.index.quiet.types
        return types.get(kind, 0)

    def quiet_in(self, root: str) -> int:
        """Return how many unseen messages of a thread are muted or snoozed."""
        row = self.contents.messages.ids.row(root)
        return 0 if row is None else self.contents.index.quiet.in_thread(row)
