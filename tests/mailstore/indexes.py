"""Write the index of a mailbox, as folding a long one does."""

from __future__ import annotations

from platformdirs import user_cache_path

from mailstore.haak import HaakStore
from mailstore.state.mailbox import Mailbox
from tests.mailboxes import NOW, MailFiles


def note(mail: MailFiles, now: float = NOW) -> None:
    """Fold a mailbox at once, and write its index."""
    with HaakStore.open(mail.data) as store:
        mailbox = Mailbox()
        store.fold_all(mailbox, now)
        store.note(mailbox, user_cache_path("signalbox") / "folded")
