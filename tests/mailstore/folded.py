"""Everything that can be asked of a mailbox, to hold two of them against each other."""

from __future__ import annotations

from typing import Any

from mailstore.records.message import by_age
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View

KINDS = ("all", "unread", "for-you", "dead", "waiting", "archive")


def answers(mailbox: Mailbox, now: float) -> dict[str, Any]:
    """Return what a mailbox answers, by question."""
    mailbox.advance(now)
    messages = mailbox.messages()
    names = sorted({agent.session_id for agent in mailbox.roster} | {"user"})
    views = [View(kind) for kind in KINDS]  # type: ignore[arg-type]
    views += [View("channel", channel.tag) for channel in mailbox.channels()]
    views += [View("agent", name) for name in (*names, *sorted({message.sender for message in messages}))]
    roots = sorted(mailbox.threads(View("all")))
    return {
        "messages": messages,
        "counts": mailbox.counts(),
        "views": {view: list(mailbox.threads(view)) for view in views},
        "mail": {
            view: list(mailbox.view_messages(view).look(1.0)) for view in views if view.kind in ("agent", "channel")
        },
        "newest": list(mailbox.newest()),
        "summaries": [mailbox.summary(root) for root in roots],
        "trees": [mailbox.tree(root) for root in roots],
        "unread": {name: mailbox.unread(name, now) for name in names},
        "unread counts": {name: mailbox.unread_count(name) for name in names},
        "questions": {name: mailbox.unread_of_types(name, ["question"]) for name in names},
        "inboxes": {name: mailbox.inbox(name, now) for name in names},
        "states": {message.id: mailbox.states(message, now) for message in messages},
        "receipts": {message.id: sorted(map(repr, mailbox.receipts(message.id))) for message in messages},
        "deliveries": {message.id: mailbox.deliveries(message.id) for message in messages},
        "open": sorted((message.id, name, state) for message, name, state in mailbox.open_mail(now)),
        "dead": mailbox.dead_letters(now),
        "waiting": mailbox.waiting(),
        "channels": mailbox.channels(),
        "cycles": sorted(sorted(cycle.members) for cycle in mailbox.cycles()),
        "orphans": sorted(mailbox.orphans()),
        "problems": sorted(map(repr, mailbox.problems)),
        "duplicates": sorted(mailbox.duplicates, key=by_age),
        "journal": mailbox.interventions(),
    }
