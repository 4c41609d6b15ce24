"""The ways in which the program comes to its answers: line by line, at once, kept, grown, and in the past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from mailstore.bulk.open_mail import FilerOfMany
from mailstore.folding import fold_store, kept
from mailstore.haak import HaakStore
from mailstore.records.address import resolve
from mailstore.records.roster import Roster
from mailstore.state.mailbox import Mailbox
from mailstore.state.past import mailbox_at
from tests.oracle.answers import Answers, found
from tests.oracle.making import NOW, Made, write

Tally = Counter[str]
"""How often a way was really taken."""


@contextmanager
def small_thresholds(cache: Path, tally: Tally) -> Iterator[None]:
    """Let the smallest mailbox go the way of the big ones, and count what went it."""
    file = FilerOfMany.file

    def counted(filer: FilerOfMany, head: Any, rows: Any, now: float) -> Any:
        tally["filed at once"] += len(rows)
        tally.update({f"at once: {what}": len(rows) for what in _features(head, filer._roster)})
        return file(filer, head, rows, now)

    with ExitStack() as stack:
        for name, value in (
            ("mailstore.haak.store.LONG", 0),
            ("mailstore.haak.bulk.parallel_read.SHARE", 400),
            ("mailstore.bulk.shares.FEW", 1),
            ("mailstore.bulk.build.FEWEST", 1),
            ("mailstore.bulk.open_mail.FilerOfMany.file", counted),
            ("mailstore.folding.user_cache_path", lambda _: cache),
        ):
            stack.enter_context(patch(name, value))
        yield


def _features(head: Any, roster: Roster) -> set[str]:
    """Return what is remarkable in messages that share a head."""
    found = {"mention"} if head.mentions else set[str]()
    found |= {"archived"} if head.archived else set()
    for text in head.recipients:
        found.add(resolve(text, roster).kind)
        reached = [*roster.bearers(text), *(agent for agent in roster if agent.session_id == text)]
        found |= {agent.status.value for agent in reached}
    return found


def scanned(folder: Path, now: float) -> Mailbox:
    """Fold a mailbox record by record."""
    mailbox = Mailbox()
    with HaakStore.open(folder) as store:
        for batch in store.scan():
            mailbox.fold(batch, now)
    return mailbox


def at_once(folder: Path, now: float) -> Mailbox:
    """Fold a mailbox as a long one is: from what is kept of it, or all at once."""
    with HaakStore.open(folder) as store:
        return fold_store(store, "user", now)


def kept_before(folder: Path, tally: Tally) -> Mailbox:
    """Load what the fold before has kept."""
    with HaakStore.open(folder) as store:
        mailbox = kept(store, "user", NOW)
        tally["kept"] += mailbox is not None
    return mailbox if mailbox is not None else at_once(folder, NOW)


def ask(made: Made, folder: Path, tally: Tally) -> dict[str, Callable[[], Answers]]:
    """Write a mailbox; return the ways to ask of it, to be taken in their order."""
    whole, growing = folder / "whole", folder / "growing"
    write(whole, made.files)
    step = 6 * 3600.0

    def grown() -> Answers:
        first = {
            name: lines[: int(len(lines) * made.cut)] if name.endswith(".jsonl") else lines
            for name, lines in made.files.items()
        }
        write(growing, first)
        at_once(growing, NOW - step)
        write(
            growing, {name: lines[len(first[name]) :] for name, lines in made.files.items() if name.endswith(".jsonl")}
        )
        tally["grown"] += 1
        return found(at_once(growing, NOW), NOW)

    def later() -> Answers:
        mailbox = scanned(whole, NOW - step)
        mailbox.advance(NOW - step / 2)
        return found(mailbox, NOW)

    return {
        "line by line": lambda: found(scanned(whole, NOW), NOW),
        "later": later,
        "at once": lambda: found(at_once(whole, NOW), NOW),
        "kept": lambda: found(kept_before(whole, tally), NOW),
        "grown": grown,
        "past": lambda: found(mailbox_at(scanned(whole, NOW), made.past), made.past, is_past=True),
        "past of what is kept": lambda: found(mailbox_at(at_once(whole, NOW), made.past), made.past, is_past=True),
    }
