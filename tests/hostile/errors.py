"""Lets each call about a mailbox's files fail in turn, in every command that looks, and sees what the command says.

What can't be read may be missing from what a command prints only if it says so: mail is not hidden by a disk's fault.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import unified_diff
from functools import cached_property
from itertools import islice
from pathlib import Path

from mailstore.records.message import Message
from mailstore.registry import open_store
from tests.hostile.boxes import ANN
from tests.hostile.faults import CONSOLE, OWN, Bench, End, Fault
from tests.hostile.looks import DOUBLE, LOOKS
from tests.hostile.samples import SAMPLES

NAMES = ("EIO", "EACCES")
CHANGING = re.compile(r"\d{4}-\d\d-\d\d[ T][\d:.]+Z?|\b[0-9a-f]{12,64}\b|\b\d+ ?(s|min|m|h|d|w)\b|\d+\.\d+| +")
"""What differs in what a command prints from one run to the next."""
SAID = re.compile(r"signalbox: |can't be read|unreadable")

LISTS = {
    *("attention", "away", "bye", "channels", "checkpoint", "dead-letters", "history", "read", "search", "thread"),
    *("threads", "timeline", "views"),
}
"""Commands that say whether mail is missing. `check` and `wait` give agents what can be read; others say in their own
words what they leave out, or leave blank what they don't know, such as what an agent does.
"""


class Case:
    """A sample of a mailbox, and a command that looks at it."""

    def __init__(self, bench: Bench, folder: Path, words: Sequence[str]) -> None:
        self._bench, self._folder, self._words = bench, folder, words
        self.command = " ".join(words)

    @cached_property
    def whole(self) -> End:
        """How the command ends where nothing fails, for the second time: something is kept by the first."""
        self._run(Fault(fails=0))
        return self._run(Fault(fails=0))

    def _run(self, fault: Fault) -> End:
        return self._bench.run(self._words, self._folder, fault)

    def fail_at(self, call: int, error: str) -> None:
        """Let a call fail. Raises AssertionError where mail is hidden, or the command doesn't end as it should."""
        end = self.ended(call, error)
        if self._words[0] in LISTS and not SAID.search(end.said):
            whole, said = (CHANGING.sub("*", it.said).splitlines() for it in (self.whole, end))
            assert said == whole, "\n".join(islice(unified_diff(whole, said, lineterm="", n=0), 2, 12))

    def ended(self, call: int, error: str) -> End:
        """Let a call fail; return how the command ended. Raises AssertionError where it should not end so."""
        end = self._run(Fault(fails=call, error=error))
        assert end.status in (0, 1), f"status {end.status}: {end.said[-500:]}"
        assert "internal error (" not in end.said, end.said[-500:]
        assert "the output can't be written" not in end.said, end.said
        return end


@contextmanager
def looked(name: str, bench: Bench, folder: Path) -> Iterator[list[Case]]:
    """Make a sample in a folder; give every command that looks at it, ready to fail."""
    folder.mkdir()
    url = SAMPLES[name](folder)
    with open_store(url) as store:
        url = store.url
        messages = [event for batch in store.scan() for event in batch if isinstance(event, Message)]
    reader = next((to for message in messages for to in message.recipients), ANN)
    given = {"url": url, "own": str(folder / OWN[0]), "id": messages[0].id if messages else "none"}
    yield [
        Case(bench, folder, [*_words(words, reader, given), *(() if words == DOUBLE else ("--store", url))])
        for words in (*LOOKS, DOUBLE)
        if words != (CONSOLE,)
    ]


def _words(words: Sequence[str], reader: str, given: dict[str, str]) -> list[str]:
    return [(reader if word == ANN else word).format(**given) for word in words]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("only", nargs="*", metavar="SAMPLE", help=f"only these: {', '.join(SAMPLES)}")
    parser.add_argument("--error", choices=NAMES, default=NAMES[0], help="how calls fail")
    parser.add_argument("--most", type=int, metavar="N", help="only N calls of a command, at random")


def run(args: argparse.Namespace) -> int:
    """Let calls fail in every command that looks; say where mail is hidden."""
    number = wrong = 0
    with Bench() as bench, tempfile.TemporaryDirectory(prefix="hostile-") as above:
        for place, name in enumerate(args.only or SAMPLES):
            with looked(name, bench, Path(above) / str(place)) as cases:
                for case in cases:
                    calls = range(1, len(case.whole.calls) + 1)
                    for call in random.sample(calls, min(args.most or len(calls), len(calls))):
                        number += 1
                        try:
                            case.fail_at(call, args.error)
                        except AssertionError as error:
                            wrong += 1
                            print(
                                f"{name}: {case.command}: {args.error} at {case.whole.calls[call - 1]}: {error}",
                                flush=True,
                            )
    print(f"{number} calls failed, {wrong} wrong")
    return int(wrong > 0)
