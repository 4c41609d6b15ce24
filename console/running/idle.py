"""Moments in which nobody types, for long work and garbage collection; imports beside the event loop."""

from __future__ import annotations

import asyncio
import gc
from importlib import import_module
from time import monotonic

PAUSE_SECONDS = 0.03
"""Work that would delay a key starts after so long without one …"""
LONGEST_WAIT_SECONDS = 0.5
"""… but waits no longer than this."""
HANDLING_SECONDS = 0.05
"""How long it takes, as a rule, until the effect of a key is drawn: several turns of the event loop."""
LONGEST_REST = 0.01
MOST_YOUNG = 1_000
"""New objects that are left uncollected: visiting them takes less than a millisecond."""
FRAME_SECONDS = 0.025
"""How long the effect of a key or a message takes to be drawn."""
QUIET_SECONDS = 1.0
FULL_SECONDS, LONGEST_FULL_SECONDS = 60.0, 120.0
"""Time between two full collections: if no key came for a second, and at most."""


class IdleTracker:
    """Knows when the last key came. Collects garbage only if the program was started with the collector off."""

    def __init__(self) -> None:
        self._collects = not gc.isenabled()
        self._is_started = self._is_due = False
        self._last_key = float("-inf")
        self._last_full = monotonic()

    def note_key(self) -> None:
        """Note that a key was pressed."""
        self._last_key = monotonic()

    async def wait(self) -> None:
        """Wait until nobody types, for half a second at most."""
        latest = monotonic() + LONGEST_WAIT_SECONDS
        while (now := monotonic()) < latest and now < self._last_key + PAUSE_SECONDS:
            await asyncio.sleep(self._last_key + PAUSE_SECONDS - now)

    def rest(self, worked: float) -> float:
        """Return how long to sleep after so many seconds of work: as long as the work took, while a key is handled."""
        return min(worked, LONGEST_REST) if monotonic() < self._last_key + HANDLING_SECONDS else 0.0

    def start_collecting(self) -> None:
        """Collect garbage from now on, except what exists now: that lives as long as the program."""
        self.freeze_garbage()
        self._is_started = True

    def freeze_garbage(self) -> None:
        """Exclude everything that exists now from all later collections; garbage is freed first."""
        if self._collects:
            if self._is_started:
                gc.collect()
            gc.freeze()

    def collect_soon(self) -> None:
        """Collect new garbage after the next frame, so that the collector doesn't run before it."""
        if self._collects and self._is_started and not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(FRAME_SECONDS, self._collect_young)

    def _collect_young(self) -> None:
        self._is_due = False
        if self._collects and self._is_started and gc.get_count()[0] > MOST_YOUNG:
            gc.collect(1)

    def tick(self) -> None:
        """Collect garbage once a second if there is much; all of it, if that is due."""
        now = monotonic()
        is_quiet = now > self._last_key + QUIET_SECONDS
        pause = FULL_SECONDS if is_quiet else LONGEST_FULL_SECONDS
        if self._collects and self._is_started and now > self._last_full + pause:
            self._last_full = now
            gc.collect()
        else:
            self._collect_young()


_loaded: set[str] = set()


async def load_modules(*modules: str) -> None:
    """Import modules in a thread: the larger ones would hold up keys for longer than a frame."""
    for module in modules:
        if module not in _loaded:
            await asyncio.to_thread(import_module, module)
            _loaded.add(module)
