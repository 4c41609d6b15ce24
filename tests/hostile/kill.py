"""Kills every command that writes at each of its calls that change files, and looks at what it leaves.

Nothing may be lost or doubled, looking must change nothing, the next command must work, and in the end nothing may lie
there that would not lie there without the sudden end.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from tests.hostile.boxes import ACTIONS, Action, made
from tests.hostile.faults import OWN, Bench, End, Fault

NAMED = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{12,}|\d{4}-?\d{2}-?\d{2}|\d{6}|-[0-9a-f]{4}(?=\.json)")
"""What differs in the names of files from one run to the next."""


class Told(NamedTuple):
    """What a mailbox tells: each message's text and how often, what was read by whom, and what can't be read."""

    messages: Counter[str]
    reads: frozenset[tuple[str, str]]
    faults: int


def told(url: str) -> Told:
    """Read a mailbox as every command does; no message may come twice under one id."""
    mailbox = Mailbox("user")
    messages: Counter[str] = Counter()
    with open_store(url) as store:
        for batch in store.scan():
            mailbox.fold(batch, time.time())
        for message in mailbox.messages():
            messages[store.content(message)] += 1
    assert not mailbox.duplicates, f"{[each.id for each in mailbox.duplicates]} came twice"
    reads = frozenset((each.id, it.reader) for each in mailbox.messages() for it in mailbox.receipts(each.id))
    return Told(messages, reads, sum(problem.fatal for problem in mailbox.problems))


def files(folder: Path) -> dict[str, tuple[bytes, int, int, int]]:
    """Return the bytes, modes, times and inodes of all files and folders in a folder, but those of Signalbox itself."""
    return {
        str(path.relative_to(folder)): (path.read_bytes() if path.is_file() else b"", *_facts(path.stat()))
        for path in folder.rglob("*")
        if path.relative_to(folder).parts[0] not in OWN
    }


def _facts(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_mode, found.st_mtime_ns, found.st_ino


def names(folder: Path) -> set[str]:
    """Return the names of all files in a folder, of Signalbox's own too, without what is random in them."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if "cache" not in path.parts}
    return {NAMED.sub("*", name) for name in found if not name.endswith(("-wal", "-shm"))}


class Case:
    """A mailbox, a command that writes to it, and what comes of that where nothing ends suddenly."""

    def __init__(self, action: Action, bench: Bench, folder: Path, url: str) -> None:
        self.action = action
        self.folder = folder
        self._bench = bench
        self._url = url
        self._kept = Path(tempfile.mkdtemp(prefix="kept-", dir=folder.parent))
        for words in action.before:
            assert self._done(words).status == 0
        (folder / "home").mkdir(exist_ok=True)
        self.before = told(url)
        shutil.rmtree(self._kept)
        shutil.copytree(folder, self._kept, symlinks=True)
        whole = self._done(action.words)
        assert whole.status == 0, whole.said
        self.calls = whole.calls
        self.written = whole.written
        self.after = told(url)
        self.added = self.after.messages - self.before.messages
        self._again()
        self.names = names(folder)

    def _done(self, words: Sequence[str], fault: Fault = Fault()) -> End:  # noqa: B008 - it is frozen
        return self._bench.run([word.format(url=self._url, beside=self.folder) for word in words], self.folder, fault)

    def _again(self) -> None:
        """Run the command once more; what can be done only once may be refused where it was done."""
        end = self._done(self.action.words)
        if self.action.makes_copy and end.status:
            assert told(self._copy).messages == self.before.messages
        else:
            assert end.status == 0 or (end.status == 1 and self.action.is_once), end.said

    @property
    def _copy(self) -> str:
        return self.action.words[-1].format(beside=self.folder)

    def _begin(self) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(self._kept, self.folder, symlinks=True)

    def end_at(self, call: int) -> None:
        """Kill the command before a call, and look at what is left. Raises AssertionError."""
        self._begin()
        end = self._done(self.action.words, Fault(kill=call))
        assert end.status is None, "it was not killed"
        self._follow(self._looked())

    def _follow(self, left: Told) -> None:
        """Run the command once more, after a while, and look at what comes of it."""
        for lock in self.folder.rglob("*.lock"):
            os.utime(lock, (time.time() - 20, time.time() - 20))
        self._again()
        final = told(self._url)
        if self.action.adds:
            assert final.messages == left.messages + self.added, final.messages - left.messages
            assert final.faults == self.before.faults, "a torn line was not mended"
        else:
            assert final == self.after, (final.messages - self.after.messages) or (self.after.messages - final.messages)
        assert not (extra := names(self.folder) - self.names), f"left for ever: {sorted(extra)}"

    def _looked(self) -> Told:
        """Read what is left: nothing is missing or comes twice, and looking changes nothing."""
        before = files(self.folder)
        left = told(self._url)
        assert files(self.folder) == before, "looking changed something"
        assert left.faults == self.before.faults
        assert not (lost := self.before.messages - left.messages), f"lost: {lost}"
        assert not (more := left.messages - self.after.messages), f"too many: {more}"
        assert self.before.reads <= left.reads <= self.after.reads | self.before.reads
        return left

    def full_at(self, room: int) -> None:
        """Run the command on a disk with room for so many bytes, then with room for all. Raises AssertionError."""
        self._begin()
        end = self._done(self.action.words, Fault(room=room))
        left = self._looked()
        if end.status == 0:
            assert left.messages == self.after.messages, "it says that it was done"
        else:
            assert end.status == 1, end.said
            assert "signalbox:" in end.said, end.said
            assert "internal error (" not in end.said, end.said
            assert "no space left" in end.said or "disk" in end.said, end.said
        self._follow(left)


@contextmanager
def tried(action: Action, bench: Bench, above: Path) -> Iterator[Case]:
    """Make what a case needs, in a folder of its own."""
    folder = above / "box"
    folder.mkdir(parents=True)
    with made(action.kind, folder) as box:
        with box.open() as store:
            url = store.url
        yield Case(action, bench, folder, url)


def cases(wanted: Sequence[str], seed: int) -> list[Action]:
    """Return the commands whose kind or name is wanted, or all, in an order that a seed gives."""
    found = [action for action in ACTIONS if not wanted or {action.kind, action.name} & set(wanted)]
    random.Random(seed).shuffle(found)
    return found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("only", nargs="*", metavar="KIND|COMMAND", help="only these")


def run(args: argparse.Namespace) -> int:
    """Kill every command at every call; say where something is wrong."""
    wrong = number = 0
    with Bench() as bench:
        for action in cases(args.only, 0):
            with tempfile.TemporaryDirectory(prefix="hostile-") as above, tried(action, bench, Path(above)) as case:
                for call in range(1, len(case.calls) + 1):
                    number += 1
                    try:
                        case.end_at(call)
                    except AssertionError as error:
                        wrong += 1
                        print(f"{action.kind} {action.name}: killed at call {call}, {case.calls[call - 1]}: {error}")
    print(f"{number} sudden ends, {wrong} wrong")
    return int(wrong > 0)
