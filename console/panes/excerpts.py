"""The words around the first hit in the texts of messages, read when a row becomes visible."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual.cache import LRUCache

from console.render.excerpts import NO_EXCERPT, Excerpt, excerpt_of
from mailstore.errors import StoreError
from mailstore.records.message import Message

if TYPE_CHECKING:
    from console.session import Session
    from mailstore.queries.language.tree import Sought

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
        self._known: LRUCache[str, Excerpt] = LRUCache(KEPT)
        self._wanted: dict[str, Message] = {}

    def of(self, message: Message) -> Excerpt | None:
        """Return the excerpt of a message; None while it is not read."""
        if not self._words:
            return NO_EXCERPT
        known = self._known.get(message.id)
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
                self._known[message_id] = excerpt
                self._wanted.pop(message_id, None)
            self._came()

    def _excerpt(self, message: Message) -> Excerpt:
        try:
            return excerpt_of(self._store.search_text(message), self._words)
        except StoreError:
            return NO_EXCERPT
