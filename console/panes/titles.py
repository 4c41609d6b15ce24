"""The titles and status lines around lists."""

from __future__ import annotations

from textual.content import Content

from console.panes.sidebar_views import sidebar_view
from console.render.safe import visible_line
from console.render.short_text import count
from console.session import Session
from console.words.agent_presence import doing_words, presence_line
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import Counts, View


def as_title(text: str) -> Content:
    """Return text from a mailbox as a border title: Textual would parse a plain string as markup."""
    return Content(visible_line(text))


def view_title(session: Session, view: View) -> str:
    """Return the title of a view's list."""
    mailbox = session.mailbox
    if view.kind == "channel":
        return f"{mailbox.label(view.name)} · {view.name}"
    if view.kind == "agent":
        agent = mailbox.roster.get(view.name)
        if agent is None:
            return view.name
        presence = session.presence(agent)
        notes = presence_line(presence, session.now()), agent.role, doing_words(presence)
        return " · ".join([view.name, *filter(None, notes)])
    if view == View("type"):
        return "All mail by time"
    if view.kind in ("role", "type"):
        return f"{view.kind}:{view.name}"
    if view.kind in ("saved", "store"):
        return view.name
    shown = sidebar_view(view.kind)
    return view.kind if shown is None else shown.label


def quiet_words(counts: Counts) -> list[str]:
    """Return how many unseen messages are muted, and how many snoozed, as far as any are."""
    muted = counts.quiet - counts.snoozed
    return [f"{count(number)} {what}" for number, what in ((muted, "muted"), (counts.snoozed, "snoozed")) if number]


def status_words(mailbox: Mailbox, view: View, listed: int, width: int, *, is_all: bool = True) -> str:
    """Return what is listed and what is not, the most important first, in so many cells.

    Unless `is_all`, more threads may follow. For one of several mailboxes, its own unreadable lines are counted.
    """
    counts = mailbox.counts()
    own = quiet_words(counts) if view.kind in ("for-you", "unread") else []
    words = [f"{count(listed)} thread{'s' * (listed != 1)}{'' if is_all else ' so far'}"]
    words += own
    unreadable = mailbox.unreadable_in(view.name) if view.kind == "store" else counts.unreadable
    if unreadable:
        words.append(f"{count(unreadable)} line{'s' * (unreadable != 1)} unreadable")
    if counts.expired:
        words.append(f"{count(counts.expired)} expired")
    if counts.archived:
        words.append(f"{count(counts.archived)} archived")
    while len(words) > 1 and len(" · ".join(words)) > width - 2:
        words.pop()
    return " · ".join(words)
