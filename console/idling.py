"""What can wait while somebody types: the rest of the program, and looking through all garbage."""

from __future__ import annotations

import asyncio
import gc
from time import monotonic

__all__ = ["Idling"]

BREATH_SECONDS = 0.03
"""So long nobody has typed when the next piece of work begins that would hold up a key …"""
LONGEST_SECONDS = 0.5
"""… but so much later it begins all the same."""
TYPING_SECONDS = 2.0
SHORTEST_REST, LONGEST_REST = 0.0005, 0.01
GARBAGE = 1_500, 4, 1_000_000
"""When the collector looks by itself: often at what is new, never at all, which is longer than a frame."""
QUIET_SECONDS = 5.0
WHOLE_SECONDS, LONGEST_WHOLE_SECONDS = 60.0, 1800.0
"""How much time passes at least between two looks through all, and at most, however much is typed."""


class Idling:
    """Knows when a key came last. Sets the collector only where the program began by turning it off."""

    def __init__(self) -> None:
        self._is_ours = not gc.isenabled()
        self._is_settled = False
        self._key = 0.0
        self._collected = monotonic()

    def key(self) -> None:
        """Note that somebody types."""
        self._key = monotonic()

    async def moment(self) -> None:
        """Wait for a moment in which nobody types; there is always one soon."""
        latest = monotonic() + LONGEST_SECONDS
        while (now := monotonic()) < latest and now < self._key + BREATH_SECONDS:
            await asyncio.sleep(self._key + BREATH_SECONDS - now)

    def rest(self, worked: float) -> float:
        """Return how long to rest after so many seconds of work: as long, while somebody types.

        A key passes through many hands, each of which waits for the loop's next turn.
        """
        return min(worked, LONGEST_REST) if monotonic() < self._key + TYPING_SECONDS else SHORTEST_REST

    def settle(self) -> None:
        """Let the collector work from now on, and pass over what there is: that lives as long as the program."""
        self._is_settled = True
        self.pass_over()
        if self._is_ours:
            gc.set_threshold(*GARBAGE)
            gc.enable()

    def pass_over(self) -> None:
        """Have nothing looked at any more that there is by now."""
        if self._is_ours:
            gc.freeze()

    def tick(self) -> None:
        """Let a second pass: look through all, where it is time to."""
        now = monotonic()
        is_quiet = now > self._key + QUIET_SECONDS
        if (
            self._is_ours
            and self._is_settled
            and now > self._collected + (WHOLE_SECONDS if is_quiet else LONGEST_WHOLE_SECONDS)
        ):
            self._collected = now
            gc.collect()
