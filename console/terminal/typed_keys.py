"""Keys in the order in which they were typed, though the program was busy: each that may lead elsewhere acts first.

Textual puts a key into the queue of what has the focus, and looks for its binding once it has gone up to the
application. Of keys that are typed at once, the later ones would go where the focus was before the first one acted:
what follows Tab into the field that was left, what follows Backspace before what it deletes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from time import monotonic
from typing import Any

from textual.app import App
from textual.events import Event, Key, Paste

KEY_SECONDS = 30.0
"""How long the effect of one held key may delay the next one: only a key that is stuck takes so long."""
LOOK_SECONDS = 0.01
"""How often it is looked whether what takes a key has been removed by it."""


class TypedKeys:
    """Holds keys back until the first screen is complete, and behind keys that may lead to another place.

    In a text field these are all that are no text, elsewhere all but `moves`, which need no more than is there;
    `handle` hands a key to the application.
    """

    def __init__(self, app: App[Any], moves: Collection[str], handle: Callable[[Event], Awaitable[None]]) -> None:
        self._app = app
        self._moves = moves
        self._handle = handle
        self._held: deque[Key | Paste] = deque()
        self._is_starting = True
        self._is_releasing = False
        self._task: asyncio.Task[None] | None = None

    def hold(self, event: Event) -> bool:
        """Hold an event back if it must wait; return whether it is held. Keys keep their order."""
        if not isinstance(event, Key | Paste) or event.is_forwarded:
            return False
        if self._is_starting:
            if isinstance(event, Key) and not self._held and event.key in self._moves:
                return False
        elif not self._is_releasing and not self._may_lead_on(event):
            return False
        self._held.append(event)
        if not self._is_starting and not self._is_releasing:
            self._is_releasing = True
            self._task = asyncio.create_task(self._release())  # from Python 3.12 on, it may be done before this returns
        return True

    def _may_lead_on(self, event: Key | Paste) -> bool:
        from textual.widgets import Input, TextArea  # not for the first frame

        if isinstance(event, Paste):
            return False
        in_field = isinstance(self._app.focused, Input | TextArea)
        return not event.is_printable if in_field else event.key not in self._moves

    async def begin(self) -> None:
        """Handle the keys that were held until the first screen was complete."""
        while self._held:
            await self._hand_on(self._held.popleft())
        self._is_starting = False

    async def _release(self) -> None:
        try:
            while self._held and self._app.return_code is None:  # the end overtakes what is typed behind it
                event = self._held.popleft()
                if self._may_lead_on(event):
                    await self._hand_on(event)
                else:
                    await self._handle(event)
        finally:
            self._held.clear()
            self._is_releasing = False

    async def _hand_on(self, event: Key | Paste) -> None:
        """Handle a key, and wait for its effects: all that it goes through on its way has nothing more to do."""
        await _within_time(lambda: self._app.screen.is_mounted)
        path = (self._app.focused or self._app.screen).ancestors_with_self
        await self._handle(event)
        for node in path:
            done = asyncio.Event()
            node.call_later(done.set)
            await _within_time(lambda: done.is_set() or not node.is_attached, done)  # noqa: B023 - called at once


async def _within_time(holds: Callable[[], bool], event: asyncio.Event | None = None) -> None:
    """Wait until something holds, for a moment at most; `event` is set when it may."""
    deadline = monotonic() + KEY_SECONDS
    while not holds() and monotonic() < deadline:
        if event is None:
            await asyncio.sleep(LOOK_SECONDS)
        else:
            with suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), LOOK_SECONDS)
