"""The brush of a histogram: one bar, or a range of bars, kept by its time."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from mailstore.overview.bars import TimeBars


class Brush(Struct, frozen=True):
    """A stretch of time: the middle of the bar where it was begun, and of the one where it is (None: the newest).

    Times are seconds since the epoch, so that the brush stays where it is while bars move on.
    """

    at: float | None = None
    begun: float | None = None
    is_extending: bool = False

    @property
    def is_range(self) -> bool:
        """Whether it covers more than one bar, or is about to."""
        return self.begun is not None

    def bars(self, bars: TimeBars) -> tuple[int, int]:
        """Return the first and the last bar that it covers."""
        end = self._bar(self.at, bars)
        start = end if self.begun is None else self._bar(self.begun, bars)
        return min(start, end), max(start, end)

    @staticmethod
    def _bar(time: float | None, bars: TimeBars) -> int:
        if time is None or time >= bars.end:
            return bars.number - 1
        return bars.bar(max(time, bars.start)) or 0

    def within(self, bars: TimeBars) -> Brush:
        """Return it without the part before the first bar."""
        if self.at is not None and self.at < bars.start:
            return Brush()
        begun = None if self.begun is None else max(self.begun, _middle(0, bars))
        return replace(self, begun=begun)

    def moved(self, bars: TimeBars, step: int, *, is_extending: bool = False) -> Brush:
        """Return it moved by some bars; extending moves only its end."""
        at = self._bar(self.at, bars)
        there = min(bars.number - 1, max(0, at + step))
        begun = self.begun
        if is_extending and begun is None:
            begun = _middle(at, bars)
        elif not is_extending and not self.is_extending:
            begun = None
        return Brush(_moving(there, bars), begun, self.is_extending)

    def placed(self, bars: TimeBars, last: int, *, is_extending: bool = False) -> Brush:
        """Return it at a bar; extending keeps its beginning."""
        if is_extending or self.is_extending:
            begun = self.begun if self.begun is not None else _middle(self._bar(self.at, bars), bars)
            return Brush(_moving(last, bars), begun, self.is_extending)
        return Brush(_moving(last, bars))

    def toggled(self, bars: TimeBars) -> Brush:
        """Return it at the beginning of a range, or at the end of one."""
        if self.is_extending:
            return replace(self, is_extending=False)
        return Brush(self.at, _middle(self._bar(self.at, bars), bars), True)

    def single(self) -> Brush:
        """Return only its end."""
        return Brush(self.at)


def _middle(bar: int, bars: TimeBars) -> float:
    return bars.edge(bar) + bars.length / 2


def _moving(bar: int, bars: TimeBars) -> float | None:
    """Return the time that identifies a bar; None for the newest, which moves."""
    return None if bar == bars.number - 1 else _middle(bar, bars)
