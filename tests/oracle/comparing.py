"""A mailbox held against the oracle in every way: the facts in which they differ, each with its cause."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.oracle.answers import Answers, expected
from tests.oracle.commands import expected_of_commands, found_by_commands, found_quickly
from tests.oracle.copies import COPYING, noticed_alterations, reads_of, reads_of_copy
from tests.oracle.making import NOW, Made
from tests.oracle.records import read_box
from tests.oracle.ways import Tally, ask, small_thresholds


@dataclass(frozen=True)
class Difference:
    """One fact that the program tells otherwise than the page, in one of its ways."""

    way: str
    fact: str
    expected: Any
    found: Any

    @property
    def cause(self) -> str:
        """Return what groups differences that are likely of one cause."""
        kind = self.fact.split()[0]
        before, after = self.expected, self.found
        if kind == "counts" and isinstance(after, dict):
            return f"counts: {', '.join(name for name in before if before[name] != after.get(name))}"
        if kind == "dead":
            states = [one[0] if one else "none" for one in (before, after)]
            return (
                f"dead letter: {' → '.join(states)}"
                if states[0] != states[1]
                else f"since of a dead letter that is {states[0]}"
            )
        if kind == "error":
            return f"error: {after}"
        return f"state: {before or 'none'} → {after or 'none'}" if kind == "state" else kind


def differences(made: Made, tally: Tally, *, with_commands: bool, only: str = "") -> Iterator[Difference]:
    """Yield where the program differs from the oracle; with `only`, in one way alone."""
    with tempfile.TemporaryDirectory(prefix="oracle-") as name, small_thresholds(Path(name) / "cache", tally):
        folder = Path(name)
        ways = ask(made, folder, tally)
        box = read_box(folder / "whole")
        now, then = expected(box, NOW), expected(box, made.past, is_past=True)
        tally["facts"] += len(now) * 5 + len(then) * 2
        for way, answer in ways.items():
            if only in ("", way):
                yield from _compared(way, then if way.startswith("past") else now, answer)
        if only in ("", "quick"):
            names = [fact.removeprefix("status ") for fact in now if fact.startswith("status ")]
            quick: Answers = {}
            yield from _compared("quick", {}, lambda: found_quickly(folder / "whole", names, quick))
            tally["quick"] += len(quick)
            tally["looks"] += len(names)
            yield from _compared("quick", {fact: now[fact] for fact in quick}, lambda: quick)
        if with_commands:
            for way, told, at in (("commands", now, None), ("commands --at", then, made.past)):
                if only in ("", way):
                    rows = expected_of_commands(box, told, NOW if at is None else at, is_past=at is not None)
                    tally["facts"] += len(rows)
                    yield from _compared(
                        way, rows, lambda rows=rows, at=at: found_by_commands(folder / "whole", rows, at)
                    )  # type: ignore[misc]
            reads = reads_of(box)
            for name in COPYING:
                if only in ("", way := f"commands {name}"):
                    tally["facts"] += len(reads)
                    yield from _compared(way, reads, lambda name=name: reads_of_copy(folder / "whole", name))  # type: ignore[misc]
            if only in ("", way := "commands export"):
                noticed = noticed_alterations(folder / "whole")
                tally["altered"] += len(noticed)
                yield from _compared(way, {fact: fact != "nothing" for fact in noticed}, lambda: noticed)


def _compared(way: str, told: Answers, answer: Any) -> Iterator[Difference]:
    try:
        found = answer()
    except Exception as error:
        yield Difference(way, "error", "", f"{type(error).__name__}: {error}")
        return
    told, found = _plain(told), _plain(found)
    for fact in sorted({*told, *found}):
        if told.get(fact) != found.get(fact):
            yield Difference(way, fact, told.get(fact), found.get(fact))


def _plain(value: Any) -> Any:
    """Make lists of tuples, so that what came as JSON can be compared."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
