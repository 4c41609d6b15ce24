"""Waits for what `changes` yields: without polling, and with a time limit."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

from mailstore.records.events import Event
from mailstore.records.message import Message
from mailstore.store import Store

PATIENCE_SECONDS = 20.0
Kind = TypeVar("Kind")


class Follower:
    """The batches that a store's `changes` have yielded so far."""

    def __init__(self, changes: AsyncGenerator[list[Event], None]) -> None:
        self._changes = changes
        self.batches: list[list[Event]] = []

    @property
    def events(self) -> list[Event]:
        return [event for batch in self.batches for event in batch]

    async def until(self, holds: Callable[[list[Event]], bool]) -> list[Event]:
        """Consume changes until a condition holds for all events so far; return them."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not holds(self.events):
                    batch = await anext(self._changes)
                    assert batch, "an empty batch"
                    self.batches.append(batch)
        except TimeoutError:
            raise AssertionError(f"the expected events did not come; these did: {self.events!r}") from None
        return self.events

    async def until_message(self, *wanted: str) -> list[Event]:
        """Consume changes until messages with these ids have come."""
        return await self.until(lambda events: set(wanted) <= set(ids(events)))


@asynccontextmanager
async def following(store: Store) -> AsyncIterator[Follower]:
    """Follow a store's changes, and close them at the end."""
    async with aclosing(store.changes()) as changes:
        yield Follower(changes)


def scanned(store: Store) -> list[Event]:
    """Return everything that a scan yields."""
    return [event for batch in store.scan() for event in batch]


def of(kind: type[Kind], events: Iterable[Event]) -> list[Kind]:
    """Return the events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def ids(events: Iterable[Event]) -> Counter[str]:
    """Return how many messages of each id there are."""
    return Counter(message.id for message in of(Message, events))
