"""A pluggable layer over the mailboxes of AI agents: open one where it is, fold it, write to it.

with open_store("haak:data/") as store:
    mailbox = Mailbox()
    for batch in store.scan():
        mailbox.fold(batch, now)
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing costs more than a hook that needs none of these
if TYPE_CHECKING:
    from typing import Any

    from mailstore.records.draft import Draft
    from mailstore.records.message import Message
    from mailstore.records.roster import Agent
    from mailstore.registry import open_store
    from mailstore.state.mailbox import Mailbox
    from mailstore.store import Store

__all__ = ["Agent", "Draft", "Mailbox", "Message", "Store", "open_store"]

_HOMES = {
    "Agent": "mailstore.records.roster",
    "Draft": "mailstore.records.draft",
    "Mailbox": "mailstore.state.mailbox",
    "Message": "mailstore.records.message",
    "Store": "mailstore.store",
    "open_store": "mailstore.registry",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: a hook that runs at every start needs few."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
