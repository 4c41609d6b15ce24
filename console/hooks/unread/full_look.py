"""An agent's unread messages in a mailbox of any kind, or in several, by folding it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from console.hooks.quick_look import stat_mark
from console.settings.config_file import load_config
from console.settings.server_tables import use_config_file
from console.state.unread_mail import reads_of, record, shown_to, unread_mail
from mailstore.errors import ContentGone, StoreError
from mailstore.folding import fold_store
from mailstore.quick_answers import UnreadMail
from mailstore.records.message import Message
from mailstore.registry import open_store
from mailstore.rules.unread import registered_name
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store


class FoldedMail(UnreadMail):
    """An agent's unread mail in a folded mailbox."""

    def __init__(self, store: Store, mailbox: Mailbox, agent_id: str, now: float, watched: dict[str, str]) -> None:
        super().__init__(unread_mail(store, mailbox, agent_id, now))
        self._store = store
        self._mailbox = mailbox
        self._agent = agent_id
        self._now = now
        self.watched = watched

    def texts(self, messages: Collection[Message]) -> Iterator[str | None]:
        for text in self._store.contents(list(messages)):
            yield None if isinstance(text, ContentGone) else text

    def proof(self, message: Message) -> str:
        return self._store.proof(message)

    def registered(self, message: Message) -> str:
        return registered_name(message.sender, self._mailbox.roster, self._mailbox.user)

    def record(self, message_ids: Collection[str]) -> None:
        """Record the reads, in the mailbox or in Signalbox's own state. Raises StoreError."""
        messages = [message for each in message_ids if (message := self._mailbox.message(each)) is not None]
        shown = shown_to(self._store, self._agent)
        record(self._store, self._agent, reads_of(self._store, self._mailbox, self._agent, messages, self._now, shown))

    def close(self) -> None:
        self._store.close()


def full_look(url: str, agent_id: str, now: float) -> FoldedMail:
    """Return what an agent has still to read; `now` in seconds since the epoch. Raises MailError."""
    use_config_file()
    store = open_store(url)
    try:
        watched = {path: stat_mark(path) for path in store.watched().mail}
        mailbox = fold_store(store, load_config()[0].user, now)
        if mailbox.gone:
            raise StoreError(mailbox.gone, "try again later")
        mailbox.advance(now)
        return FoldedMail(store, mailbox, agent_id, now, watched)
    except BaseException:
        store.close()
        raise
