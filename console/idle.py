"""What can wait while somebody types: the rest of the program, and looking through all garbage."""

from __future__ import annotations

import asyncio
import gc
from time import monotonic

__all__ = ["IdleTracker"]

BREATH_SECONDS = 0.03
"""So long nobody has typed when the next piece of work begins that would hold up a key …"""
LONGEST_SECONDS = 0.5
"""… but so much later it begins all the same."""
TYPING_SECONDS = 2.0
SHORTEST_REST, LONGEST_REST = 0.0005, 0.01
MOST_YOUNG = 1_000
"""So many new values are left alone: looking through them takes less than a millisecond."""
FRAMES_SECONDS = 0.025
"""In what time that which a key or a message brings about is drawn."""
QUIET_SECONDS = 5.0
WHOLE_SECONDS, LONGEST_WHOLE_SECONDS = 60.0, 1800.0
"""How much time passes at least between two looks through all, and at most, however much is typed."""


class IdleTracker:
    """Knows when a key came last. Collects garbage only where the program began by turning the collector off."""

    def __init__(self) -> None:
        self._is_ours = not gc.isenabled()
        self._is_settled = self._is_due = False
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
        """Look for garbage from now on, and pass over what there is: that lives as long as the program."""
        self._is_settled = True
        self.pass_over()

    def pass_over(self) -> None:
        """Have nothing looked at any more that there is by now."""
        if self._is_ours:
            gc.freeze()

    def sweep_soon(self) -> None:
        """Look through what is new when this is drawn: left to itself, the collector would do it meanwhile."""
        if self._is_ours and self._is_settled and not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(FRAMES_SECONDS, self._sweep)

    def _sweep(self) -> None:
        self._is_due = False
        if self._is_ours and self._is_settled and gc.get_count()[0] > MOST_YOUNG:
            gc.collect(1)

    def tick(self) -> None:
        """Let a second pass: look through all, where it is time to."""
        now = monotonic()
        is_quiet = now > self._key + QUIET_SECONDS
        pause = WHOLE_SECONDS if is_quiet else LONGEST_WHOLE_SECONDS
        if self._is_ours and self._is_settled and now > self._collected + pause:
            self._collected = now
            gc.collect()
        else:
            self._sweep()
