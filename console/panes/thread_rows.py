"""The rows of the thread list: two lines each, read from the mailbox when they become visible."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from console.panes.list_rows import MARK, Piece, layout_line
from console.panes.quiet_rows import RowSigns, no_signs
from console.render.safe import visible_line
from console.render.short_text import age, count, shorten_middle
from console.widgets.rows import RowStyle
from console.widgets.virtual_list import VirtualList
from console.words.styles import TextStyles
from console.words.symbols import SIGNS, STATES, TYPE_GLYPHS
from mailstore.records.message import Message, by_age
from mailstore.records.scope import label_of
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import ThreadSummary, View

if TYPE_CHECKING:
    from console.panes.hit_rows import HitRows
    from console.render.excerpts import Excerpt
    from mailstore.queries.concerns import Concern

ThreadNote = tuple[str, State]
"""A text, and the state whose glyph and colour it has."""
LABEL_CELLS = 14
CANCELLED = TYPE_GLYPHS["cancel"]
STARRED, MUTED, SNOOZED = SIGNS["starred"], SIGNS["muted"], SIGNS["snoozed"]


def notes_for(
    mailbox: Mailbox, view: View, now: float, concerns: Mapping[str, Concern]
) -> Callable[[str], ThreadNote | None]:
    """Return the function that returns a thread's note in a view, or None if there is none.

    `concerns` are those that need attention, by thread.
    """
    match view.kind:
        case "attention":
            return lambda root: _concern(concerns.get(root))
        case "dead":
            return lambda root: _cause(mailbox, root, now)
        case "waiting":
            return lambda root: _vacancy(mailbox, root)
        case "for-you":
            return lambda root: _answer(mailbox, root)
        case _:
            return lambda root: None


def _concern(concern: Concern | None) -> ThreadNote | None:
    if concern is None:
        return None
    from console.words.concern_words import line_of

    return line_of(concern), concern.state or State.UNREAD


def _cause(mailbox: Mailbox, root: str, now: float) -> ThreadNote | None:
    messages = mailbox.dead_letters_in(root, now)
    return (f"{messages[0].recipient}: {messages[0].reason}", messages[0].state) if messages else None


def _vacancy(mailbox: Mailbox, root: str) -> ThreadNote | None:
    roles = mailbox.waiting_in(root)
    if not roles:
        return None
    held = mailbox.roster.held(roles[-1])
    return f"on hold, no holder: {roles[-1]}" + (f", last {held[-1]}" if held else ", never held"), State.WAITING


def _answer(mailbox: Mailbox, root: str) -> ThreadNote | None:
    """Return whether the user has answered the newest message to them in a thread."""
    mail = sorted(mailbox.thread_messages(root), key=by_age)
    to_you = [at for at, message in enumerate(mail) if mailbox.is_mine(message)]
    if not to_you:
        return None
    asked = mail[to_you[-1]]
    if any(message.sender == mailbox.user for message in mail[to_you[-1] + 1 :]):
        return f"answered · {asked.sender}", State.READ
    if asked.type == "question":
        return f"waiting for your answer · {asked.sender}", State.UNREAD
    return None


class ThreadContent(Struct, frozen=True):
    """What a row shows: a thread, or the `hit` of a search in it, and what depends on the time and on other mail."""

    summary: ThreadSummary
    hit: Message | None
    when: str
    names: tuple[str, ...]
    label: str
    note: ThreadNote | None
    is_marked: bool
    signs: RowSigns
    styles: TextStyles
    sought: HitRows | None = None
    excerpt: Excerpt | None = None


def no_note(root: str) -> None:
    """Return no note: the row names the participants."""


class ThreadRows:
    """Thread roots as a source for the virtual list; only visible rows are read.

    `hits` are the messages that a search found, by root: the row shows the hit instead of the newest message, and
    `sought` what was found in it. `notes` replace the participants, in the colour of a state; `marked` threads are
    marked by the user, to act upon them, and `signs` are the stars, mutes and snoozes.
    """

    row_height = 2

    def __init__(
        self,
        mailbox: Mailbox,
        roots: Sequence[str],
        styles: TextStyles,
        now: Callable[[], float],
        hits: dict[str, Message] | None = None,
        notes: Callable[[str], ThreadNote | None] = no_note,
        marked: Collection[str] = (),
        sought: HitRows | None = None,
        signs: Callable[[ThreadSummary], RowSigns] = no_signs,
    ) -> None:
        self.roots = roots
        self._mailbox = mailbox
        self._text_styles = styles
        self._now = now
        self._hits = hits or {}
        self._note = notes
        self._marked = marked
        self._sought = sought
        self._signs = signs
        self._length = len(roots)
        self._places: dict[str, int] | None = None
        self._keys: dict[int, str] = {}
        """Rows that were visible: they stay the same while mail arrives."""

    def __len__(self) -> int:
        return self._length

    def key(self, index: int) -> str:
        key = self._keys.get(index)
        if key is None:
            key = self._keys[index] = self.roots[min(index, len(self.roots) - 1)]
        return key

    def index(self, key: str) -> int | None:
        if isinstance(self.roots, list):
            if self._places is None:
                self._places = {root: at for at, root in enumerate(self.roots)}
            return self._places.get(key)
        try:
            return self.roots.index(key)
        except ValueError:
            return None

    def selectable(self, index: int) -> bool:
        return True

    def content(self, index: int) -> ThreadContent | None:
        # rows are painted between updates too: by now this root may be a reply in another thread, or be gone
        mailbox = self._mailbox
        try:
            summary = mailbox.summary(mailbox.root_of(self.key(index)))
        except KeyError:
            return None
        root, hit = summary.root, self._hits.get(summary.root)
        shown = hit or summary.latest
        return ThreadContent(
            summary,
            hit,
            age(self._now() - shown.time) if shown.timed else "–",
            tuple(map(mailbox.label, summary.participants)),
            label_of(root) if mailbox.roster.scopes else "",
            self._note(root),
            root in self._marked,
            self._signs(summary),
            self._text_styles,
            self._sought,
            self._sought.excerpt(hit) if self._sought is not None and hit is not None else None,
        )

    def render(self, index: int, width: int, style: RowStyle) -> list[Strip]:
        content = self.content(index)
        if content is None:
            return [Strip.blank(width, style.base)] * self.row_height
        return [_first(content, width, style.base), _second(content, width, style.base)]


def _first(content: ThreadContent, width: int, base: Style) -> Strip:
    styles, summary, hit = content.styles, content.summary, content.hit
    bar = _bar(content)
    glyph = TYPE_GLYPHS.get((hit or summary.latest).type, " ")
    if glyph == "·":
        glyph = " "
    subject = visible_line(hit.subject if hit else summary.subject) or "(no subject)"
    tone = styles.unread if summary.unseen else styles.muted if content.signs.is_muted else styles.text
    marks: list[Piece] = [(MARK, styles.accent)] if content.is_marked else []
    marks += [(f"{STARRED.glyph} ", styles.accent)] if content.signs.is_starred else []
    marks += [(f"{MUTED.glyph} ", styles.muted)] if content.signs.is_muted else []
    marks += [(f"{glyph} ", styles.accent)] if glyph != " " else []
    marks += [(f"{CANCELLED} ", styles.warn)] if summary.cancelled and glyph != CANCELLED else []
    shown = [(subject, tone)] if content.sought is None else content.sought.subject((subject, tone), styles)
    return layout_line([bar, *marks, *shown], [(f"{content.when:>4}", styles.muted)], width, base)


def _bar(content: ThreadContent) -> Piece:
    """Return the bar of a row: bright where something is new, dimmed where all that is unseen is muted or snoozed."""
    summary, styles = content.summary, content.styles
    return (
        ("▌", styles.unread if summary.unseen else styles.muted)
        if summary.unseen or summary.quiet
        else (" ", styles.text)
    )


def _second(content: ThreadContent, width: int, base: Style) -> Strip:
    styles, summary = content.styles, content.summary
    bar = _bar(content)
    number = count(summary.unseen or summary.quiet) if summary.unseen or summary.quiet else ""
    numbers: list[Piece] = [(number, styles.accent if summary.unseen else styles.muted)]
    size = f"{count(summary.messages)} " if summary.messages > 1 else ""
    if content.signs.words and content.excerpt is None:
        tone = styles.accent if content.signs.is_back else styles.warn
        return layout_line([bar, (f"{SNOOZED.glyph} {content.signs.words}", tone)], numbers, width, base)
    if content.note is not None:
        words, state = content.note
        left: list[Piece] = [bar, (f"{STATES[state].glyph} {visible_line(words)}", styles.states[state])]
        return layout_line(left, numbers, width, base)
    where = f"{shorten_middle(content.label, LABEL_CELLS)}  " if content.label else ""
    room = max(4, width - len(number) - len(size) - len(where) - 3)
    names = tuple(name.replace(f"{content.label}/", "", bool(content.label)) for name in content.names)
    people: list[Piece] = [(where, styles.text), *_people(content, names, room)]
    return layout_line([bar, (size, styles.text), *people], numbers, width, base)


def _people(content: ThreadContent, names: tuple[str, ...], room: int) -> list[Piece]:
    """Return the participants, or what a search found in the text."""
    sought, hit, styles = content.sought, content.hit, content.styles
    if sought is not None and hit is not None and content.excerpt:
        sender = hit.sender.removeprefix(f"{content.label}/")
        return sought.second(sender, content.excerpt, room, styles)
    people = (people_line(names, room), styles.muted)
    return [people] if sought is None else sought.names(people, styles)


def people_line(names: tuple[str, ...], room: int) -> str:
    """Name a thread's participants in so many cells: each shortened in the middle, the rest as a number."""
    shown: list[str] = []
    left = room
    for at, name in enumerate(names):
        more = f" +{len(names) - at}"
        piece = shorten_middle(visible_line(name), 18)
        need = cell_len(piece) + (2 if shown else 0)
        if need > left - (len(more) if at < len(names) - 1 else 0):
            if shown:
                return ", ".join(shown) + more
            others = f" +{len(names) - 1}" if len(names) > 1 else ""
            return shorten_middle(piece, max(1, left - len(others))) + others
        shown.append(piece)
        left -= need
    return ", ".join(shown)


class ThreadListPane(VirtualList):
    """A list of threads, the most recent first."""
