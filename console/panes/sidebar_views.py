"""The views at the top of the sidebar, in their order: what each is called, and its number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from console.panes.quiet_rows import snoozed_number, snoozed_threads, starred_number, starred_threads
from console.session import Session
from mailstore.state.views import Counts, View, ViewKind

Number = Callable[[Session, Counts], int]
Threads = Callable[[Session], Sequence[str]]


def no_number(session: Session, counts: Counts) -> int:
    """Return no number."""
    return 0


class SidebarView(Struct, frozen=True):
    """A view of the sidebar, with a number in the colour `tone` (of `TextStyles`).

    An optional one is only listed while its number is not 0. `threads` returns the roots of a view that the console
    itself finds, from the user's own state; without it, the mailbox finds them.
    """

    view: View
    label: str
    number: Number = no_number
    tone: str = "text"
    is_optional: bool = False
    threads: Threads | None = None
    command: str = ""
    """The action that opens a screen of its own for it, such as `opening.drafts`: Enter runs it."""


SIDEBAR_VIEWS: tuple[SidebarView, ...] = (
    SidebarView(
        View("attention"),
        "Attention",
        lambda session, counts: session.attention.number(session.mailbox),
        "warn",
        threads=lambda session: [root for root in session.attention.roots if root in session.mailbox],
        command="attention",
    ),
    SidebarView(View("for-you"), "For you", lambda session, counts: counts.for_you, "accent"),
    SidebarView(View("unread"), "New to you", lambda session, counts: counts.unseen),
    SidebarView(
        View("dead"),
        "Dead letters",
        lambda session, counts: counts.dead,
        "bad",
        command="view.dead",
    ),
    SidebarView(View("waiting"), "On hold", lambda session, counts: counts.waiting, "warn"),
    SidebarView(
        View("starred"),
        "Starred",
        lambda session, counts: starred_number(session),
        is_optional=True,
        threads=starred_threads,
    ),
    SidebarView(
        View("snoozed"),
        "Snoozed",
        lambda session, counts: snoozed_number(session),
        is_optional=True,
        threads=snoozed_threads,
    ),
    SidebarView(
        *(View("drafts"), "Drafts", lambda session, counts: session.personal.draft_count, "warn"),
        is_optional=True,
        command="drafts",
    ),
    SidebarView(View("muted"), "Muted", lambda session, counts: counts.quiet - counts.snoozed, "muted", True),
    SidebarView(
        *(View("unreadable"), "Unreadable", lambda session, counts: counts.unreadable, "bad"),
        is_optional=True,
        command="unreadable",
    ),
    SidebarView(View("recent"), "Recent"),
    SidebarView(View("all"), "All mail"),
    SidebarView(View("archive"), "Archive"),
)
"""All of them, in the order of the sidebar. The functions are called for the first frame: they import nothing."""

_BY_KIND = {shown.view.kind: shown for shown in SIDEBAR_VIEWS}


def sidebar_view(kind: ViewKind) -> SidebarView | None:
    """Return the view of a kind; None for channels, agents, saved views and mailboxes."""
    return _BY_KIND.get(kind)


def own_threads(session: Session, view: View) -> Sequence[str] | None:
    """Return the roots of a view that the console itself finds; None for views of the mailbox."""
    shown = _BY_KIND.get(view.kind)
    return None if shown is None or shown.threads is None else shown.threads(session)


def listed_views(session: Session, kept: str | None = None) -> list[tuple[SidebarView, int]]:
    """Return the views that the sidebar lists, with their numbers; the one of the row `kept` even while it is empty."""
    counts = session.mailbox.counts()
    numbered = [(shown, shown.number(session, counts)) for shown in SIDEBAR_VIEWS]
    return [(shown, number) for shown, number in numbered if number or _is_listed(session, shown, kept)]


def _is_listed(session: Session, shown: SidebarView, kept: str | None) -> bool:
    if shown.view.kind == "recent":
        return session.config.retention.rule().is_limited
    if shown.view.kind == "muted" and session.mailbox.own_marks().mutes:
        return True
    return not shown.is_optional or kept == f"view:{shown.view.kind}"
