"""Decide when to draw mail that came: at once, or together with what else comes in the next moment."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

FRAME_SECONDS = 1 / 60
MOST_AT_ONCE = 8
STORM_SECONDS = 0.2
LOADING_SECONDS = 0.2
SHARE = 4
"""How many times as long as drawing took the pause between two drawings lasts at least: keys come first."""


class Pacing:
    """Knows when the screen was last drawn, how long that took, and how many messages there were."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._drawn = 0.0
        self._took = self._last_took = 0.0
        self._messages = 0

    def wait(self, messages: int, *, is_loading: bool) -> float:
        """Return how many seconds to wait before drawing a mailbox of so many messages; 0 or less: draw now."""
        is_first = messages > 0 and not self._messages
        # more arrives than can be read: frames are left out, so that keys are handled at once
        pause = STORM_SECONDS if messages - self._messages > MOST_AT_ONCE else FRAME_SECONDS
        if is_loading and self._drawn and not is_first:
            pause = LOADING_SECONDS
        return self._drawn + max(pause, SHARE * self._took) - self._clock()

    def begin(self, messages: int) -> None:
        """Note that a mailbox of so many messages is being drawn."""
        self._drawn = self._clock()
        self._messages = messages

    def end(self) -> None:
        """Note that it was drawn; of the last two drawings the shorter counts, the other may have waited."""
        took, self._last_took = self._last_took, self._clock() - self._drawn
        self._took = min(took, self._last_took)
