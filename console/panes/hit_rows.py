"""How the rows of a search show what was found: words in another style, and the text around the first hit."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from console.panes.excerpts import Excerpts
from console.panes.row_layout import Piece
from console.render.excerpts import Excerpt
from console.render.hits import mark_pieces
from console.render.safe import visible_line
from console.render.short_text import shorten_middle
from mailstore.errors import QueryError
from mailstore.queries.language.tree import sought_in
from mailstore.queries.query import parse
from mailstore.records.message import Message

if TYPE_CHECKING:
    from console.session import Session
    from console.words.styles import TextStyles
    from mailstore.queries.language.tree import SoughtWords

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
