"""The goals and whether they are met: absolute, or relative to a baseline of the same run."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.measure import Results, short, table

SMALL, LARGE = 10_000, 1_000_000


class Goal(NamedTuple):
    """An upper limit for a figure at a size: in its own unit, or as a multiple of a baseline.

    An absolute goal may name a baseline too; it is shown for comparison.
    """

    figure: str
    most: float
    over: str = ""
    at: int = LARGE
    over_at: int = LARGE
    is_times: bool = True

    def cells(self, results: Results) -> tuple[str, ...]:
        """Return a row: figure, number of measurements, value, baseline, ratio, goal, whether it is met."""
        found, base = results.get(self.figure, self.at), results.get(self.over, self.over_at)
        if found is None or (self.over and self.is_times and base is None):
            return (_named(self.figure, self.at), "", "not measured", *[""] * 4)
        at, value = found
        start = (_named(self.figure, at), str(value.count), str(value))
        reached, goal, beside = value.value, f"≤ {short(self.most)} {value.unit}", ("", "")
        if base is not None:
            ratio = value.value / base[1].value
            of = f"at {base[0]:,}" if self.over == self.figure else _named(self.over, base[0] if base[0] != at else 0)
            beside = (f"{of}: {base[1]}", f"{ratio:.3g} ×")
            if self.is_times:
                reached, goal = ratio, f"≤ {self.most:g} ×"
        return (*start, *beside, goal, self._met(reached))

    def _met(self, value: float) -> str:
        return "met" if value <= self.most else "missed"


def _named(name: str, size: int) -> str:
    return f"{name}, {size:,}" if size else name


GOALS = (
    Goal("first screen", 1.25, "empty Textual application", over_at=0),
    Goal("first screen", 1.15, "first screen", over_at=SMALL),
    Goal("everything read, cold", 30, "`wc -l`"),
    Goal("fold in a library, cold", 30, "`wc -l`"),
    Goal("key to frame while it reads, p99", 30),
    Goal("everything read, warm", 0.1, "everything read, cold"),
    Goal("everything read, grown by 1,000", 0.1, "everything read, cold"),
    Goal("fold in a library, warm", 0.1, "fold in a library, cold"),
    Goal("memory a message, console", 260),
    Goal("memory a message, library", 260),
    Goal("one more message folded", 1.5, "one more message folded", over_at=SMALL),
    Goal("one message appended, file to screen, p50", 8),
    Goal("one message appended, file to screen, p99", 20),
    Goal("key to frame, p99", 16),
    Goal("key to frame in a storm, worst", 50),
    Goal("missing at the end of the storm", 0),
    Goal("list: mount", 1.2, "list: mount", over_at=1_000),
    Goal("list: jump to its end", 1.2, "list: jump to its end", over_at=1_000),
    Goal("list: next unread", 1.2, "list: next unread", over_at=1_000),
    Goal("first 50 hits, a common word", 10, "ripgrep, a common word", is_times=False),
    Goal("first 50 hits, an absent word", 500, "ripgrep, an absent word", is_times=False),
    Goal("first 50 hits, an absent word, with an index", 10, "ripgrep, an absent word", is_times=False),
    Goal("opening a thread", 60, "opening a thread", at=10_000, over_at=10, is_times=False),
    Goal("opening a message of 5,000 words", 60, "opening a thread", at=0, over_at=10, is_times=False),
    Goal("opening one of 1 MB", 60, "opening a thread", at=0, over_at=10, is_times=False),
    Goal("overview: key to frame", 1.2, "overview: key to frame", over_at=SMALL),
    Goal("overview: longest step on the loop", 8),
    Goal("idle console", 0.5),
    Goal("read --unread --json, cold", 0.2, "decoding the file with json", at=100_000, over_at=100_000),
    Goal("check, 250 unread of 600 characters", 3, "python -c pass", at=1_000, over_at=1_000),
    Goal("check, 250 unread of 600 characters", 6, "python -c pass"),
    Goal("status --tmux", 30, "python -c pass", at=1_000, over_at=1_000, is_times=False),
    Goal("status --tmux", 30, "python -c pass", is_times=False),
    Goal("completion of an agent", 100, "python -c pass", is_times=False),
    Goal("hook after a tool, nothing new", 1.3, "python -c pass (beside hooks)", over_at=0),
    Goal("hook after a tool, nothing new", 1.3, "python -c pass (beside hooks)", at=1_000, over_at=0),
    Goal("hook after a tool, a new message", 4.5, "python -c pass (beside hooks)", at=1_000, over_at=0),
)


def report(results: Results, goals: tuple[Goal, ...] = GOALS) -> str:
    """Return the goals as a table."""
    heads = ("what, at how many messages", "n", "measured", "baseline", "ratio", "goal", "")
    return table(heads, [goal.cells(results) for goal in goals])
