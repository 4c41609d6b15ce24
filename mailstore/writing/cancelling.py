"""Whom a cancellation has to reach besides those that it names: the agents at work on the tasks below."""

from __future__ import annotations

from mailstore.records.address import is_person
from mailstore.rules.cancelling import CANCEL
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability, Store


def passed_on(store: Store, mailbox: Mailbox, *, kind: str, thread: str | None, sender: str) -> tuple[str, ...]:
    """Return the addresses of the tasks that a `cancel` in a thread cancels; never its sender, or the user.

    None for other types, and where a message has one recipient only.
    """
    answered = None if kind != CANCEL or thread is None else mailbox.message(thread)
    if answered is None or store.capabilities.why_not(Capability.SEVERAL):
        return ()
    tasks = mailbox.tasks(mailbox.root_of(answered.id)).open_below(answered.id)
    names = dict.fromkeys(name for task in tasks for name in task.recipients)
    return tuple(name for name in names if name != sender and not is_person(name, mailbox.roster, mailbox.user))
