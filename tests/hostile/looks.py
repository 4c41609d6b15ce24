"""Has every command that reads, and the console, look at every kind of mailbox, and sees that nothing could change it.

Each runs in a process in which the interpreter tells of every call that could change a file or a folder of the mailbox;
and bytes, times, inodes and folders are the same afterwards.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from mailstore.records.message import Message
from mailstore.registry import open_store
from tests.hostile.boxes import ANN, KINDS, made
from tests.hostile.faults import CONSOLE, OWN, Bench, Fault
from tests.hostile.kill import files

AS = ("--as", ANN)
LOOKS: list[tuple[str, ...]] = [
    (CONSOLE,),
    ("read", *AS),
    ("read", *AS, "--unread", "--json"),
    ("check", *AS, "--dry-run"),
    ("wait", *AS, "--timeout", "0"),
    ("history",),
    ("history", "--at", "2d"),
    ("thread", "{id}"),
    ("timeline", "{id}"),
    ("search", "message"),
    ("search", "--archive", "is:unread", "--json"),
    ("views",),
    ("export",),
    ("export", "--format", "html", "--archive"),
    ("threads",),
    ("status",),
    ("channels",),
    ("agents",),
    ("who",),
    ("dead-letters",),
    ("attention",),
    ("away", "--since", "3d"),
    ("bye", *AS, "--dry-run"),
    ("checkpoint", *AS),
    ("roster",),
    ("doctor",),
    ("archive", "--dry-run", "--keep", "1"),
]
DOUBLE = ("convert", "{url}", "haak:{own}/copy", "--dry-run")


class Look(NamedTuple):
    """A command that looks at a mailbox, of a kind and in a state; `is_long` where little is taken for much."""

    state: str
    words: tuple[str, ...]
    is_long: bool


def looks(wanted: Sequence[str], seed: int) -> list[Look]:
    """Return all looks, or those at some states or by some commands, in an order that a seed gives."""
    found = [
        Look(state, words, is_long)
        for state in STATES
        for words in (*LOOKS, DOUBLE)
        for is_long in ((False, True) if "haak" in state else (False,))
        if not wanted or {state, words[0]} & set(wanted)
    ]
    random.Random(seed).shuffle(found)
    return found


Prepare = Callable[[Bench, Path, str], None]


def _late(bench: Bench, folder: Path, url: str) -> None:
    """Archive while another program holds the file open, which then writes to it."""
    with (folder / "data" / "agent-mailbox.jsonl").open("ab") as holder:
        assert bench.run(("archive", "--yes", "--keep", "2", "--store", url), folder).status == 0
        holder.write(b'{"id": "late", "sender": "bob", "recipient": "all", "content": "Late."}\n{"id": "torn')


def _aside(bench: Bench, folder: Path, url: str) -> None:
    """Kill an archival just after the change-over."""
    words = ("archive", "--yes", "--keep", "2", "--store", url)
    live = folder / "data" / "agent-mailbox.jsonl"
    call = 1
    while all(path.samefile(live) for path in live.parent.glob("*.archiving-*")):
        assert bench.run(words, folder, Fault(kill=call)).status is None, "it was never set aside"
        call += 1


STATES: dict[str, tuple[str, Prepare | None]] = {
    **{kind: (kind, None) for kind in KINDS},
    "haak with late lines": ("haak", _late),
    "haak set aside": ("haak", _aside),
}


@contextmanager
def looked(state: str, bench: Bench, folder: Path) -> Iterator[Callable[[Look], None]]:
    """Make a mailbox in a state; give what looks at it, and raises AssertionError where that could change it."""
    folder.mkdir(parents=True, exist_ok=True)
    kind, prepare = STATES[state]
    with made(kind, folder) as box:
        with box.open() as store:
            url = store.url
        if prepare is not None:
            prepare(bench, folder, url)
        with open_store(url) as store:
            ids = [event.id for batch in store.scan() for event in batch if isinstance(event, Message)]
        assert ids

        def look(one: Look) -> None:
            words = [word.format(url=url, own=folder / OWN[0], id=ids[0]) for word in one.words]
            is_whole = one.words in (DOUBLE, (CONSOLE,))
            before = files(folder)
            end = bench.run(
                [*words, url] if words == [CONSOLE] else words if is_whole else [*words, "--store", url],
                folder,
                is_guarded=True,
                is_long=one.is_long,
            )
            assert not end.touched, end.touched
            assert files(folder) == before
            assert end.status in (0, 1), end.said
            assert "internal error (" not in end.said, end.said

        yield look


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("only", nargs="*", metavar="STATE|COMMAND", help=f"only these; states: {', '.join(STATES)}")


def run(args: argparse.Namespace) -> int:
    """Take every look; say which could change something."""
    wrong = 0
    every = looks(args.only, 0)
    with Bench() as bench, tempfile.TemporaryDirectory(prefix="hostile-") as above:
        for number, state in enumerate(STATES):
            with looked(state, bench, Path(above) / str(number)) as look:
                for one in every:
                    if one.state == state:
                        try:
                            look(one)
                        except AssertionError as error:
                            wrong += 1
                            print(f"{state}{' (long)' * one.is_long}: {' '.join(one.words)}: {error}")
    print(f"{len(every)} looks, {wrong} wrong")
    return int(wrong > 0)
