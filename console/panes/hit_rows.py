"""How the rows of a search show what was found: words in another style, and the text around the first hit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from console.panes.list_rows import Piece
from console.render.excerpts import NO_EXCERPT, Excerpt, excerpt_of, mark_pieces
from console.render.safe import visible_line
from console.render.short_text import shorten_middle
from console.widgets.block_lines import RecentlyUsed
from mailstore.errors import QueryError, StoreError
from mailstore.queries.language.tree import sought_in
from mailstore.queries.query import parse
from mailstore.records.message import Message

if TYPE_CHECKING:
    from console.session import Session
    from console.words.styles import TextStyles
    from mailstore.queries.language.tree import Sought, SoughtWords

KEPT = 512
AT_ONCE = 16
"""Excerpts read before rows are drawn: those of a screen, the ones asked for last first."""


class Excerpts:
    """Excerpts by message; those that are asked for and not known are read in a thread, several at once.

    `run` runs a coroutine beside other work, and `came` draws the rows that show them.
    """

    def __init__(
        self,
        session: Session,
        words: tuple[Sought, ...],
        run: Callable[[Coroutine[Any, Any, object]], None],
        came: Callable[[], None],
    ) -> None:
        self._store = session.store
        self._words = words
        self._run = run
        self._came = came
        self._known: RecentlyUsed[str, Excerpt] = RecentlyUsed(KEPT)
        self._wanted: dict[str, Message] = {}

    def of(self, message: Message) -> Excerpt | None:
        """Return the excerpt of a message; None while it is not read."""
        if not self._words:
            return NO_EXCERPT
        known = self._known.use(message.id)
        if known is None:
            if not self._wanted:
                self._run(self._read())
            self._wanted[message.id] = message
        return known

    async def _read(self) -> None:
        await asyncio.sleep(0)  # more rows are asked for while they are drawn
        while wanted := list(self._wanted.values())[-AT_ONCE:]:
            excerpts = await asyncio.to_thread(lambda: [(message.id, self._excerpt(message)) for message in wanted])
            for message_id, excerpt in excerpts:
                self._known.put(message_id, excerpt)
                self._wanted.pop(message_id, None)
            self._came()

    def _excerpt(self, message: Message) -> Excerpt:
        try:
            return excerpt_of(self._store.search_text(message), self._words)
        except StoreError:
            return NO_EXCERPT


SENDER_CELLS = 14


class HitRows:
    """What a query sought, as rows and conversations show it."""

    def __init__(self, query: str, words: SoughtWords, excerpts: Excerpts) -> None:
        self.query = query
        self.words = words
        self._excerpts = excerpts

    def excerpt(self, message: Message) -> Excerpt | None:
        """Return the text around a message's first hit; None while it is not read."""
        return self._excerpts.of(message)

    def subject(self, piece: Piece, styles: TextStyles) -> list[Piece]:
        """Return a subject with what was found in it."""
        return mark_pieces(*piece, (*self.words.texts, *self.words.subjects), styles.hit)

    def names(self, piece: Piece, styles: TextStyles) -> list[Piece]:
        """Return names with what was found in them."""
        return mark_pieces(*piece, (*self.words.texts, *self.words.names), styles.hit)

    def second(self, sender: str, excerpt: Excerpt, room: int, styles: TextStyles) -> list[Piece]:
        """Return who wrote a message and its text around the first hit, for so many cells."""
        who = shorten_middle(visible_line(sender), min(SENDER_CELLS, max(3, room * 2 // 5)))
        text = excerpt.led(room - cell_len(who) - 2)
        return [
            *self.names((who, styles.text), styles),
            (": ", styles.muted),
            *mark_pieces(text, styles.muted, self.words.texts, styles.hit),
        ]


def hit_rows(
    session: Session, query: str, run: Callable[[Coroutine[Any, Any, object]], None], came: Callable[[], None]
) -> HitRows | None:
    """Return how a query's hits are shown; None if it can't be read or seeks no words."""
    try:
        words = sought_in(parse(query, session.now()))
    except QueryError:
        return None
    return HitRows(query, words, Excerpts(session, words.texts, run, came)) if words else None
