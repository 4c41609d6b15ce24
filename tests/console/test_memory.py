"""What the console drew and shows no more doesn't stay in memory, however long somebody goes on typing."""

from __future__ import annotations

import gc
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.strip import Strip

from console.running import idle
from console.running.idle import IdleTracker
from tests.console.screen_text import opened
from tests.mailboxes import every_case

WARM = 3
"""Rounds after which caches of a fixed size are full."""
FEW = 100
"""Lines of a round that may wait for a collection: those of the header, the footer, borders and scroll bars."""


def lines_in_memory() -> int:
    return sum(isinstance(each, Strip) for each in gc.get_objects())


@pytest.mark.parametrize("opening", ["enter", "slash", "p", "question_mark"])
async def test_what_was_closed_leaves_few_lines_in_memory(opening: str, tmp_path: Path) -> None:
    async with opened(every_case(tmp_path)[0].data) as seat:
        lines = []
        for _ in range(2 * WARM):
            before = seat.text
            await seat.press(opening)
            assert seat.text != before
            await seat.press("escape")
            assert len(seat.lines) == seat.app.size.height
            seat.app._tick()
            lines.append(lines_in_memory())
        assert lines[-1] - lines[WARM - 1] < WARM * FEW, lines


class Collector(SimpleNamespace):
    """A collector of garbage that is off; `full` and `frozen` are the seconds at which that was done."""

    def __init__(self) -> None:
        super().__init__(full=[], frozen=[], now=1000.0)

    def isenabled(self) -> bool:
        return False

    def freeze(self) -> None:
        self.frozen.append(self.now - 1000)

    def get_count(self) -> tuple[int, int, int]:
        return 0, 0, 0

    def collect(self, generation: int = 2) -> None:
        if generation == 2:
            self.full.append(self.now - 1000)


@pytest.mark.parametrize(("seconds_between_keys", "longest"), [(1, 123), (3, 65)])
def test_everything_is_collected_while_somebody_types_too(
    seconds_between_keys: int, longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = Collector()
    monkeypatch.setattr(idle, "gc", collector)
    monkeypatch.setattr(idle, "monotonic", lambda: collector.now)
    tracker = IdleTracker()
    tracker.start_collecting()
    for second in range(3600):
        if second % seconds_between_keys == 0:
            tracker.note_key()
        tracker.tick()
        collector.now += 1
    times = [0, *collector.full]
    assert max(later - sooner for sooner, later in pairwise(times)) < longest
    assert collector.full[-1] > 3600 - longest


def test_no_garbage_is_kept_with_a_mailbox_that_was_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    collector = Collector()
    monkeypatch.setattr(idle, "gc", collector)
    tracker = IdleTracker()
    tracker.start_collecting()
    assert (collector.full, collector.frozen) == ([], [0])
    collector.now += 5
    tracker.freeze_garbage()
    assert (collector.full, collector.frozen) == ([5], [0, 5])
