"""Concerns: as rows of a desk, and what is known of one of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

from msgspec import Struct
from rich.style import Style
from textual.strip import Strip

from console.concerns import ConcernResult
from console.panes.facts import FactPage, beginning, facts
from console.panes.list_rows import MARK, Piece, layout_line
from console.render.safe import visible_line
from console.render.short_text import age, clock, count
from console.session import Session
from console.widgets.rows import KeyedRows, RowStyle
from console.words.concern_words import heading_of, line_below, symbol_of
from console.words.styles import TextStyles
from console.words.symbols import DONE, SIGNS
from mailstore.queries.attention import addressees
from mailstore.queries.concerns import DEAD_LETTERS, QUESTION_TOO, Concern, ConcernKind
from mailstore.queries.takeover import last_seen, takers
from mailstore.state.views import DeadLetter

GROUPED = 4
"""From so many on, dead letters of one cause to one recipient are one row, which opens."""
FOLDED, UNFOLDED = SIGNS["folded replies or rows"], SIGNS["unfolded rows"]
LONG, KEPT = 30, 3
"""Rows past which those of a cause are folded, and how many of each cause that are not done stay."""


class DeskRow(Struct, frozen=True):
    """A concern, or several as one, with what was done about it; a heading over so many; or how many are folded.

    Of several, `concern` is the first that is left to do.
    """

    key: str
    concern: Concern | None = None
    result: str = ""
    heading: str = ""
    number: int = 0
    left_out: int = 0
    some: tuple[Concern, ...] = ()
    is_open: bool = False

    @property
    def opens(self) -> bool:
        """Whether there are rows behind it."""
        return bool(self.some) or (self.concern is None and not self.heading)


def desk_rows(
    concerns: Iterable[Concern],
    results: Collection[ConcernResult],
    left_out: Mapping[str, int],
    *,
    has_headings: bool,
    opened: Collection[str] = (),
    kept: str | None = None,
) -> list[DeskRow]:
    """Return concerns in their order as rows, with what was done about them; those that are done are not counted.

    `left_out` says how many more there are under a heading, `opened` which rows are open; the row with the key `kept`
    is never folded.
    """
    done = {result.concern.key: result.words for result in results}
    if not has_headings:
        return _grouped(list(concerns), done, opened)
    parts = [(words, list(some)) for words, some in groupby(concerns, key=heading_of)]
    below = {words: _grouped(some, done, opened) for words, some in parts}
    is_long = sum(map(len, below.values())) > LONG
    rows: list[DeskRow] = []
    for words, some in parts:
        number = sum(not done.get(concern.key) for concern in some) if done else len(some)
        rows.append(DeskRow(f"heading\n{words}", heading=words, number=number, left_out=left_out.get(words, 0)))
        rows += _folded(words, below[words], kept) if is_long and f"more\n{words}" not in opened else below[words]
    return rows


def _grouped(concerns: Sequence[Concern], done: Mapping[str, str], opened: Collection[str]) -> list[DeskRow]:
    """Return a row for each concern, and one for many dead letters of one cause to one recipient."""
    causes: dict[tuple[str, str], list[Concern]] = {}
    for concern in concerns:
        if concern.recipient:
            causes.setdefault(_cause(concern), []).append(concern)
    rows: list[DeskRow] = []
    shown: set[tuple[str, str]] = set()
    for concern in concerns:
        cause = _cause(concern) if concern.recipient else ("", "")
        some = causes.get(cause, ())
        if len(some) < GROUPED:
            rows.append(_row(concern, done))
        elif cause not in shown:
            shown.add(cause)
            rows += _group(some, done, opened)
    return rows


def _cause(concern: Concern) -> tuple[str, str]:
    return concern.recipient, concern.reason.removeprefix(QUESTION_TOO)


def _row(concern: Concern, done: Mapping[str, str]) -> DeskRow:
    key = concern.key
    return DeskRow(key, concern, done.get(key, ""))


def _group(some: Sequence[Concern], done: Mapping[str, str], opened: Collection[str]) -> list[DeskRow]:
    """Return the row of a group, and if it is open those of its concerns."""
    below = [_row(concern, done) for concern in some]
    left = [concern for concern, row in zip(some, below, strict=True) if not row.result]
    key = "\n".join(("group", *_cause(some[0])))
    result, is_open = "" if left else below[0].result, key in opened
    row = DeskRow(key, (left or some)[0], result, number=len(left), some=tuple(some), is_open=is_open)
    return [row, *below] if is_open else [row]


def _folded(words: str, rows: list[DeskRow], kept: str | None) -> list[DeskRow]:
    """Return the first rows under a heading, down to the one that is kept, and one that numbers the others."""
    first, left = 0, 0
    keys = [row.key for row in rows]
    least = keys.index(kept) + 1 if kept in keys else 0
    while first < len(rows) and (left < KEPT or first < least):
        left += not rows[first].result
        first += 1
    more = sum(max(1, row.number) for row in rows[first:] if not row.result)
    return [*rows[:first], DeskRow(f"more\n{words}", number=more)] if more > 1 else rows


def subject_of(session: Session, concern: Concern) -> str:
    """Return the subject of the message that a concern opens, or who is concerned where it is about none."""
    if concern.kind is ConcernKind.PERMISSION:
        return visible_line(concern.who)
    message = session.mailbox.message(concern.message_id or "")
    return visible_line((message.subject if message is not None else "") or concern.who)


class ConcernRows(KeyedRows[DeskRow]):
    """Rows as a source for the virtual list, of two lines each, or of one where there is little room."""

    def __init__(
        self, rows: Sequence[DeskRow], session: Session, styles: TextStyles, marked: Collection[str], height: int
    ) -> None:
        super().__init__(rows)
        self.row_height = height
        self._session = session
        self._styles = styles
        self._marked = marked

    def selectable(self, index: int) -> bool:
        return not self.rows[index].heading

    def content(self, index: int) -> object:
        row = self.rows[index]
        if row.concern is None:
            return row, self._styles
        return (
            row,
            subject_of(self._session, row.concern),
            self._age(row.concern),
            row.key in self._marked,
            self._styles,
        )

    def _age(self, concern: Concern) -> str:
        return age(self._session.now() - concern.since) if concern.since > 0 else ""

    def render(self, index: int, width: int, style: RowStyle) -> list[Strip]:
        row, base = self.rows[index], style.base
        if row.concern is None:
            if not row.heading:
                words = f"{FOLDED.glyph} {count(row.number)} more"
                more = layout_line([("  ", base), (words, self._styles.accent)], [], width, base)
                return [more, Strip.blank(width, base)][: self.row_height]
            heading = self._heading(row, width, base)
            return [Strip.blank(width, base), heading][-self.row_height :]
        return self._concern(row, row.concern, width, base)

    def _heading(self, row: DeskRow, width: int, base: Style) -> Strip:
        styles = self._styles
        words = f"{row.heading} "
        number = f"{count(row.number + row.left_out)} " if row.number + row.left_out else f"{DONE} "
        if row.left_out:
            number += f"· {count(row.number)} listed "
        rule = "─" * max(0, width - len(words) - len(number) - 3)
        pieces = [("─ ", styles.muted), (words, styles.strong), (number, styles.accent), (rule, styles.muted)]
        return layout_line(pieces, [], width, base)

    def _concern(self, row: DeskRow, concern: Concern, width: int, base: Style) -> list[Strip]:
        styles, symbol = self._styles, symbol_of(concern)
        mark: Piece = (MARK, styles.accent) if row.key in self._marked else ("  ", styles.text)
        glyph: Piece = (f"{symbol.glyph} ", getattr(styles, symbol.colour))
        subject = self._of_group(row) if row.some else subject_of(self._session, concern)
        reason: Piece = (visible_line(self._why(row, concern)), styles.muted)
        if row.result:
            glyph, reason = (f"{DONE} ", styles.good), (visible_line(row.result), styles.good)
        right: list[Piece] = [(f"{self._age(concern):>4}", styles.muted)]
        tone = styles.muted if row.result else styles.strong if concern.is_mine else styles.text
        if self.row_height == 1:
            return [layout_line([mark, glyph, (f"{subject}  ", tone), reason], right, width, base)]
        first = layout_line([mark, glyph, (subject, tone)], right, width, base)
        return [first, layout_line([("    ", styles.text), reason], [], width, base)]

    def _of_group(self, row: DeskRow) -> str:
        sign = UNFOLDED if row.is_open else FOLDED
        return f"{sign.glyph} {count(row.number or len(row.some))} messages to {visible_line(row.some[0].recipient)}"

    def _why(self, row: DeskRow, concern: Concern) -> str:
        """Return the cause of a group, and who could take it over; of a concern, what its heading doesn't say."""
        mailbox = self._session.mailbox
        if row.some:
            mail = message_of(self._session, concern)
            near = takers(mailbox, mail)[:1] if mail is not None else []
            return "; ".join([concern.reason.removeprefix(QUESTION_TOO), *(f"{name}?" for name in near)])
        message = mailbox.message(concern.message_id or "")
        if concern.kind not in (ConcernKind.QUESTION, ConcernKind.REQUEST, ConcernKind.NEW) or message is None:
            return line_below(concern)
        agent = mailbox.roster.get(concern.who)
        who = f"{concern.who} ({agent.role})" if agent is not None and agent.role else concern.who
        if concern.is_mine and len(message.recipients) == 1:
            return who
        return f"{who} → {addressees(mailbox, message)}"


def message_of(session: Session, concern: Concern) -> DeadLetter | None:
    """Return the dead letter that a concern is about; None once it is settled or was read."""
    mailbox, message_id = session.mailbox, concern.message_id or ""
    if concern.kind not in DEAD_LETTERS or message_id not in mailbox:
        return None
    dead_letters = mailbox.dead_letters_in(mailbox.root_of(message_id), session.now())
    return next(
        (
            dead_letter
            for dead_letter in dead_letters
            if (dead_letter.message.id, dead_letter.recipient) == (message_id, concern.recipient)
        ),
        None,
    )


def row_facts(session: Session, row: DeskRow) -> FactPage:
    """Return the details of the concern of a row."""
    if (concern := row.concern) is None:
        return facts([("folded", f"{count(row.number)} more")]) if row.opens else FactPage([])
    mail = message_of(session, concern)
    if mail is not None:
        return _dead_letter_facts(session, mail)
    message = session.mailbox.message(concern.message_id or "")
    told = [
        ("what", heading_of(concern)),
        ("who", concern.who),
        ("why", concern.reason),
        ("since", clock(concern.since, session.now()) if concern.since > 0 else "unknown"),
        ("subject", beginning(message.subject) if message is not None else "–"),
    ]
    return facts(told)


def _dead_letter_facts(session: Session, dead_letter: DeadLetter) -> FactPage:
    mailbox, now, message = session.mailbox, session.now(), dead_letter.message
    seen = last_seen(mailbox, dead_letter.recipient)
    when = clock(dead_letter.since, now) if dead_letter.since is not None else "unknown"
    doing = [word for word in (seen.role, seen.activity) if word]
    last = "never" if seen.status is None else clock(seen.time, now) if seen.time is not None else "unknown"
    told = [
        ("cause", f"{dead_letter.reason} ({dead_letter.state.value})"),
        ("since", when),
        ("from", message.sender),
        ("to", dead_letter.recipient),
        ("role", " · ".join(doing) or "–"),
        ("last seen", last),
        ("could take over", ", ".join(takers(mailbox, dead_letter)) or "no living agent shares its role or tags"),
        ("sent", clock(message.time, now) if message.timed else message.timestamp),
        ("type", message.type or "–"),
        ("message", message.id),
    ]
    return facts(told, room=15)
