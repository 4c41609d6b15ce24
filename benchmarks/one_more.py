"""What one more message costs the fold of a mailbox that holds many."""

from __future__ import annotations

from statistics import median

from benchmarks.bench import Bench
from benchmarks.generate import generate
from benchmarks.library import ONE_BY_ONE, asked


def measure(bench: Bench) -> None:
    """Fold other messages one by one into each mailbox, round by round."""
    taken: dict[int, list[int]] = {size: [] for size in bench.sizes}
    with bench.home() as home:
        other = home / "other"
        generate(other, ONE_BY_ONE, seed=2)
        for _ in range(bench.rounds(3)):
            for size, times in taken.items():
                times += asked("one-more", bench.mailbox(size), home, other)[1]["taken"]
    for size, times in taken.items():
        bench.results.add("one more message folded", size, median(times) / 1e3, "µs", len(times))
