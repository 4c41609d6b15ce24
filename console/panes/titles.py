"""The words around lists: titles, status lines, and the texts of empty lists, with what to do next."""

from __future__ import annotations

from textual.content import Content

from console.panes.sidebar import sidebar_view
from console.render.safe import visible_line
from console.render.short_text import clock, count, shorten_end
from console.session import Session
from console.words.agent_words import doing_words, presence_line
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import Counts, View

LONGEST_QUERY = 120
"""Cells of a query that are repeated."""
NOTHING = {
    "all": "No mail.",
    "for-you": "Nothing is addressed to you.",
    "unread": "Nothing new to you.",
    "dead": "No dead letters.",
    "waiting": "No mail is on hold.",
    "attention": "Nothing needs attention.",
    "unreadable": "enter: list what can't be read",
    "drafts": "enter: list your drafts",
    "recent": "No mail within the retention of your settings.",
    "archive": "Nothing is archived.",
    "channel": "No mail in this channel yet. Press c to write.",
    "starred": "Nothing is starred.",
    "snoozed": "No thread is snoozed.",
    "muted": "No mail is muted. Press m here for what is muted.",
    "role": "No mail to this role yet. Press c to write to it.",
    "type": "No mail of this type.",
    "saved": "This search finds nothing. Press w to see its query.",
    "store": "No mail in this mailbox.",
    "agent": "No mail to or from this agent. Press c to write to it.",
}


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


def empty_mailbox(session: Session, is_loading: bool) -> list[str]:
    """Return the text of an empty mailbox."""
    if is_loading:
        return ["Reading…"]
    if session.mailbox.counts().unreadable:
        return ["No mail here can be read.", "", "Press ! to see why.", "", visible_line(session.store.title)]
    return [
        "This mailbox is empty.",
        "",
        "signalbox hook install lets agents hear of their mail.",
        "They write with",
        "signalbox send --from ID --to ADDR --body TEXT,",
        "which appears here at once.",
        "",
        "Press c to write the first message,",
        "? for all keys, q to leave.",
        "",
        visible_line(session.store.title),
    ]


def empty_list(session: Session, view: View, filter_text: str = "", *, is_filtered: bool) -> list[str]:
    """Return why a list is empty although the mailbox is not."""
    saved_view_hits = session.found.get(view.name) if view.kind == "saved" else None
    if saved_view_hits is not None and saved_view_hits.problem:
        return ["Invalid query.", visible_line(saved_view_hits.problem)]
    if view.kind == "store" and (reason := session.mailbox.failure_of(view.name)):
        lost = session.mailbox.cut_off_of(f"{view.name}/")
        since = [] if lost is None else [f"Cut off since {clock(lost.since, session.clock())}."]
        return ["This mailbox can't be read.", *since, visible_line(reason)]
    if is_filtered:
        from mailstore.queries.language.fields import FIELD_NAMES  # the first frame needs none of it

        fields = tuple(f"{name}:" for name in FIELD_NAMES)
        has_field = any(word.lstrip("-(").startswith(fields) for word in filter_text.casefold().split())
        known = ["A filter takes words only.", "/: search by fields"] if has_field else []
        return ["Nothing matches.", *known, "esc: clear the filter"]
    said = [NOTHING.get(view.kind, "Nothing here.")]
    if view.kind in ("for-you", "unread") and (quiet := quiet_words(session.mailbox.counts())):
        said += ["", f"Unseen, but left out here: {' · '.join(quiet)}"]
    return said


def no_hits(query: str, suggestion: str, noted: int, *, is_searching: bool) -> list[str]:
    """Return what a list says in which a search has nothing to show: why, and what to try."""
    if is_searching:
        return ["Searching…"]
    said = [f"Nothing found for {_short(query)}."]
    if noted:
        said += ["", f"{noted:,} found in agent notes.", "S: list them"]
    if suggestion:
        said += ["", f"Did you mean {_short(suggestion)}?", "enter: search for that"]
    return [*said, "esc: clear the search"]


def _short(query: str) -> str:
    return shorten_end(visible_line(query[: 2 * LONGEST_QUERY]), LONGEST_QUERY)
