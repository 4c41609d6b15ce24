"""What an empty list says: what is not there, and what to do next."""

from __future__ import annotations

from console.render.safe import visible_line
from console.session import Session
from mailstore.state.views import View

__all__ = ["empty_list", "empty_mailbox"]

NOTHING = {
    "all": "No mail.",
    "for-you": "Nothing is addressed to you.",
    "unread": "You have seen everything.",
    "dead": "No dead letters.",
    "waiting": "No mail waits for a role.",
    "recent": "Nothing came so lately as the retention of your settings asks.",
    "archive": "Nothing is archived.",
    "channel": "Nobody has written into this channel yet. Press c to begin.",
    "saved": "Nothing is found by this search. w shows what it asks for.",
    "store": "No mail in this mailbox.",
    "agent": "No mail to or from this agent. Press c to write to it.",
}


def empty_mailbox(session: Session, is_loading: bool) -> list[str]:
    """Greet the person who opens an empty mailbox."""
    if is_loading:
        return ["Reading…"]
    return [
        "This mailbox is empty.",
        "",
        "Agents write here with",
        "signalbox send --from ID --to ADDR --body TEXT",
        "and what they write appears at once.",
        "",
        "Press c to write the first message,",
        "? for all keys, q to leave.",
        "",
        visible_line(session.store.title),
    ]


def empty_list(session: Session, view: View, *, is_filtered: bool) -> list[str]:
    """Say why a list is empty although the mailbox is not."""
    found = session.found.get(view.name) if view.kind == "saved" else None
    if found is not None and found.problem:
        return ["This search can't be read.", visible_line(found.problem)]
    if view.kind == "store" and (reason := session.mailbox.failure_of(view.name)):
        return ["This mailbox can't be read.", visible_line(reason)]
    return ["Nothing matches.", "esc takes the filter away"] if is_filtered else [NOTHING[view.kind]]
