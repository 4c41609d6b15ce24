"""Keys typed before the first screen is complete."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Any

from textual.app import App
from textual.events import Event, Key, Paste

KEY_SECONDS = 0.25
"""How long the effect of one held key may delay the next one."""


class EarlyKeys:
    """Holds keys back until the panes that they may open are mounted; `moves` are keys that never need any."""

    def __init__(self, moves: Collection[str]) -> None:
        self._moves = moves
        self._held: list[Key | Paste] | None = []

    def hold(self, event: Event) -> bool:
        """Hold an event back if it must wait; return whether it is held. Keys keep their order."""
        if self._held is None or not isinstance(event, Key | Paste) or event.is_forwarded:
            return False
        if isinstance(event, Key) and not self._held and event.key in self._moves:
            return False
        self._held.append(event)
        return True

    async def release(self, app: App[Any], handle: Callable[[Event], Awaitable[None]]) -> None:
        """Handle the held keys one by one, each after the effects of the one before; hold none from then on."""
        while self._held:
            path = (app.focused or app.screen).ancestors_with_self
            await handle(self._held.pop(0))
            for node in path:
                done = asyncio.Event()
                node.call_later(done.set)
                with suppress(TimeoutError):  # a node that was removed calls nothing
                    await asyncio.wait_for(done.wait(), KEY_SECONDS)
        self._held = None
