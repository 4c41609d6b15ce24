"""The left column: views, channels and agents, each with a number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from console.panes.list_rows import Piece, layout_line
from console.panes.quiet_rows import snoozed_number, snoozed_threads, starred_number, starred_threads
from console.render.safe import visible_line
from console.render.short_text import age, clock, shorten_end, shorten_middle
from console.render.short_text import count as in_words
from console.session import Session
from console.widgets.rows import KeyedRows, RowStyle
from console.widgets.virtual_list import VirtualList
from console.words.agent_words import is_full, presence_symbol, usage_words
from console.words.styles import TextStyles
from console.words.symbols import ACTIVITIES, AGENTS, DONE, FAILED, SIGNS
from mailstore.records.roster import Agent, Status
from mailstore.records.scope import label_of
from mailstore.rules.presence import Working, is_dormant
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import Counts, View, ViewKind

Number = Callable[[Session, Counts], int]
Threads = Callable[[Session], Sequence[str]]
DIGITS = re.compile("[0-9]+")
MUTED = SIGNS["muted"].glyph
ORDER = {Status.LIVING: 0, Status.FROZEN: 1, Status.DEAD: 2}
SHORTEST_DOING = 10
"""Cells in which it is worth saying what an agent works on."""


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


class SidebarRow(Struct, frozen=True):
    """One row; a heading if `view` is None."""

    key: str
    label: str
    view: View | None = None
    count: int = 0
    glyph: str = ""
    note: str = ""
    tone: str = "text"
    sign: str = ""
    how_long: str = ""
    """For how long an agent has been in its state or has not been seen; the last to give way to a long name."""
    command: str = ""
    """The action that opens a screen of its own, in place of the list of threads."""
    quiet: int = 0
    """How much unseen mail is muted or snoozed."""
    used: Sequence[str] = ()
    """How full an agent's context is and its tokens, and the same shorter, of which the first that fits is shown."""
    doing: str = ""
    """What an agent is working on, where there is room for it; its glyph says that it works."""
    agent: Agent | None = None
    """The agent whose state is yet to be added (`with_state`)."""


def sidebar_rows(session: Session, kept: str | None = None) -> list[SidebarRow]:
    """Return the sidebar's rows for the mailbox as it is now; the row `kept` stays though its view is empty."""
    mailbox = session.mailbox
    rows = [_view_row(shown, number) for shown, number in listed_views(session, kept)]
    if session.personal.views:
        rows.append(SidebarRow("heading:saved", "Saved views"))
    for name in session.personal.views:
        saved_view_hits = session.found.get(name)
        note = (
            "" if saved_view_hits is None else FAILED if saved_view_hits.problem else in_words(saved_view_hits.messages)
        )
        unseen = saved_view_hits.unseen if saved_view_hits else 0
        rows.append(SidebarRow(f"saved:{name}", name, View("saved", name), unseen, note=note))
    labels = mailbox.mailboxes()
    if labels:
        rows.append(SidebarRow("heading:stores", "Mailboxes"))
        news = mailbox.unseen_by_mailbox()
        for label in labels:
            trouble = _trouble(mailbox, label, session.clock())
            rows.append(SidebarRow(f"store:{label}", label, View("store", label), news.get(label, 0), **trouble))
    for label in labels or [""]:
        rows += _channels(session, label)
    for label in labels or [""]:
        rows += _agents(session, label)
    return rows


def _view_row(shown: SidebarView, number: int) -> SidebarRow:
    """Return the row of a view; what is muted is dimmed."""
    kind = shown.view.kind
    new, quiet = (0, number) if kind == "muted" else (number, 0)
    return SidebarRow(
        *(f"view:{kind}", shown.label, shown.view, new), tone=shown.tone, command=shown.command, quiet=quiet
    )


def _trouble(mailbox: Mailbox, label: str, now: float) -> dict[str, Any]:
    """Return how the row of one of several mailboxes says that the mailbox, or some of its lines, can't be read."""
    if mailbox.failure_of(label):
        lost = mailbox.cut_off_of(f"{label}/")
        return {"note": FAILED, "tone": "bad", "how_long": "" if lost is None else clock(lost.since, now)}
    unreadable = mailbox.unreadable_in(label)
    return {"sign": f"!{in_words(unreadable)}"} if unreadable else {}


def _heading(words: str, label: str) -> SidebarRow:
    return SidebarRow(f"heading:{words}:{label}", f"{words} · {label}" if label else words)


def _channels(session: Session, label: str) -> Iterator[SidebarRow]:
    """Yield the channels; with a label, those of that mailbox, without its label."""
    mailbox = session.mailbox
    channels = [channel for channel in mailbox.channels() if not label or label_of(channel.tag) == label]
    if channels:
        yield _heading("Channels", label)
    muted = mailbox.own_marks().channels
    labels = tuple(mailbox.label(channel.tag) for channel in channels)
    for at in in_natural_order(labels):
        channel, name = channels[at], labels[at]
        mark = DONE if channel.tag in session.personal.joined else ""
        mark += MUTED if channel.tag in muted else ""
        shown = name.replace(f"{label}/", "", 1) if label else name
        yield SidebarRow(
            channel.tag, shown, View("channel", channel.tag), channel.unseen, note=mark, quiet=channel.quiet
        )


def _agents(session: Session, label: str) -> Iterator[SidebarRow]:
    """Yield the agents; with a label, those of that mailbox, without its label."""
    mailbox = session.mailbox
    agents = [agent for agent in mailbox.roster if not label or label_of(agent.session_id) == label]
    if agents:
        yield _heading("Agents", label)
    head = f"{label}/" if label else ""
    muted = mailbox.own_marks().agents
    ordered = (agents[at] for at in in_natural_order(tuple(agent.session_id for agent in agents)))
    for agent in sorted(ordered, key=lambda it: ORDER[it.status]):
        name, role, (glyph, tone) = agent.session_id, agent.role.removeprefix(head), AGENTS[agent.status]
        note = f"{MUTED} {role}" if name in muted else role
        view = View("agent", name)
        yield SidebarRow(f"agent:{name}", name.removeprefix(head), view, 0, glyph, note, tone, agent=agent)


def with_state(row: SidebarRow, session: Session) -> SidebarRow:
    """Return an agent's row with its number and what the agent is doing: only for rows in sight, of thousands."""
    agent = row.agent
    if agent is None:
        return row
    mailbox, name, now = session.mailbox, agent.session_id, session.now()
    unread, hook = mailbox.unread_count(name), session.hooked.live.get(name)
    stale_after, types = session.config.stale_after_minutes * 60, session.config.wake.types
    is_asleep = is_dormant(agent, now, stale_after) if hook is None else hook.can_be_woken and hook.is_idle
    wakes = mailbox.unread_of_types(name, types) if unread and is_asleep else 0
    usage = session.usage_now().get(name)
    used = tuple(usage_words(usage)) if usage is not None else ()
    is_context_full = usage is not None and is_full(usage, session.config.attention.context_percent)
    signs = (used[-1] if is_context_full else "", f"↯{wakes}" if wakes else "")
    glyph, tone, how_long, doing = row.glyph, row.tone, "", ""
    if agent.status is Status.LIVING:
        seen = session.presence(agent)
        seconds = seen.age if seen.is_stale else None if seen.since is None else now - seen.since
        glyph, tone = presence_symbol(agent, seen)
        how_long = "" if seconds is None else age(seconds)
        doing = agent.activity.partition(": ")[2]
    return replace(
        row,
        count=unread,
        glyph=glyph,
        tone=tone,
        sign=" ".join(filter(None, signs)),
        how_long=how_long,
        used=() if is_context_full else used,
        doing=doing,
        agent=None,
    )


def number_asking(session: Session) -> int:
    """Return how many agents wait for a permission."""
    waiting, live = ACTIVITIES[Working.WAITING], session.hooked.live
    return sum(
        presence_symbol(agent, session.presence(agent)) == waiting
        for agent in session.mailbox.roster
        if agent.session_id in live or agent.activity.startswith(Working.WAITING)
    )


@lru_cache(8)
def in_natural_order(names: tuple[str, ...]) -> tuple[int, ...]:
    """Return the places of names, sorted as people number them: room-2 before room-10."""
    keys = [DIGITS.sub(lambda match: f"{len(match[0].lstrip('0')):04}{match[0].lstrip('0')}", name) for name in names]
    return tuple(sorted(range(len(names)), key=lambda at: (keys[at], names[at])))


class SidebarRows(KeyedRows[SidebarRow]):
    """The sidebar's rows as a source for the virtual list."""

    row_height = 1

    def __init__(self, rows: Sequence[SidebarRow], session: Session, styles: TextStyles) -> None:
        super().__init__(rows)
        self._session = session
        self._text_styles = styles
        self._complete: dict[int, SidebarRow] = {}

    def complete(self, index: int) -> SidebarRow:
        """Return a row with the state of its agent, which stays the same until the next source."""
        row = self._complete.get(index)
        if row is None:
            row = self._complete[index] = with_state(self.rows[index], self._session)
        return row

    def selectable(self, index: int) -> bool:
        return self.rows[index].view is not None

    def content(self, index: int) -> object:
        return self.complete(index), self._text_styles

    def render(self, index: int, width: int, style: RowStyle) -> list[Strip]:
        row, styles = self.complete(index), self._text_styles
        if row.view is None:
            rule = "─" * max(0, width - cell_len(row.label) - 1)
            return [layout_line([(f"{row.label} ", styles.muted), (rule, styles.muted)], [], width, style.base)]
        number = in_words(row.count) if row.count else ""
        tone: Style = getattr(styles, row.tone)
        right: list[Piece] = (
            [(number, styles.accent if row.view.kind == "for-you" else styles.strong)] if number else []
        )
        if row.quiet:
            right.insert(0, (f"{MUTED}{in_words(row.quiet)}{' ' if number else ''}", styles.muted))
        if row.sign:
            right.insert(0, (f"{row.sign} ", styles.warn))
        left: list[Piece] = [(f"{row.glyph} ", tone)] if row.glyph else []
        room = width - sum(cell_len(text) for text, _ in right) - 1 - (2 if row.glyph else 0)
        faded = row.view.kind == "agent" and tone is styles.muted
        label = shorten_middle(visible_line(row.label), room)
        left.append((label, styles.muted if faded else styles.strong if row.count else styles.text))
        note, left_over = visible_line(row.note), room - cell_len(label) - 2
        for words in (f"{note} {row.how_long}".strip(), row.how_long):
            if words and left_over >= cell_len(words):
                left.append((f" {words}", styles.muted))
                left_over -= cell_len(words)
                break
        if used := next((it for it in row.used if cell_len(it) < left_over), ""):
            left.append((f" {used}", styles.muted))
            left_over -= cell_len(used) + 1
        doing = visible_line(row.doing)
        if doing and left_over >= min(SHORTEST_DOING, cell_len(doing) + 3):
            left.append((f" · {shorten_end(doing, left_over - 3)}", styles.muted))
        return [layout_line(left, right, width, style.base)]


class Sidebar(VirtualList):
    """Views, channels and agents; the threads of the one at the cursor are shown."""

    asking = 0
    """How many agents wait for a permission."""

    def show(self, session: Session, styles: TextStyles) -> None:
        """Draw the rows for the mailbox as it is now."""
        rows = sidebar_rows(session, self.cursor_key)
        self._keep_row(rows)
        self.asking = number_asking(session)
        self.set_source(SidebarRows(rows, session, styles))

    def _keep_row(self, rows: list[SidebarRow]) -> None:
        """Keep the row at the cursor where its agent or channel is gone, as all are while a mailbox is read again."""
        source, key = self.source, self.cursor_key
        if key is None or not isinstance(source, SidebarRows) or (at := source.index(key)) is None:
            return
        row = source.rows[at]
        if (
            row.view is not None
            and row.view.kind in ("agent", "channel")
            and all(sidebar_row.key != key for sidebar_row in rows)
        ):
            rows.insert(at, replace(row, count=0, quiet=0))

    def view_of(self, key: str) -> View | None:
        """Return the view of a row."""
        source = self.source
        if not isinstance(source, SidebarRows) or (at := source.index(key)) is None:
            return None
        return source.rows[at].view

    @property
    def command(self) -> str:
        """The action that opens the screen of the row at the cursor; empty where its threads are listed."""
        source = self.source
        return source.rows[self.cursor].command if isinstance(source, SidebarRows) and self.cursor >= 0 else ""

    @staticmethod
    def key_of(view: View) -> str:
        """Return the key of a view's row."""
        if view.kind == "channel":
            return view.name
        return f"{view.kind}:{view.name}" if view.name else f"view:{view.kind}"
