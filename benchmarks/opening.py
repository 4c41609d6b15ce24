"""How soon the text of what the cursor comes to is visible: threads of many replies, long messages."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.bench import MAILBOX, Bench
from benchmarks.console import conversation, open_console, wait_read
from benchmarks.generate import WORDS, identifier, stamp
from benchmarks.processes import settle
from tests.terminal import Terminal

REPLIES = (10, 100, 1_000, 10_000)
PARAGRAPH = 60


class Case(NamedTuple):
    """A thread to be opened: a first message and so many replies, each of so many words."""

    name: str
    size: int
    replies: int
    words: int


def cases(replies: tuple[int, ...]) -> list[Case]:
    """Return the threads in the order of the list, after one that the cursor stands on."""
    threads = [Case("opening a thread", number, number, 120) for number in replies]
    return [*threads, Case("opening a message of 5,000 words", 0, 0, 5_000), Case("opening one of 1 MB", 0, 0, 170_000)]


def body(rng: Random, mark: str, words: int) -> str:
    """Return paragraphs that begin with a word by which they are known."""
    paragraphs = (" ".join(rng.choices(WORDS, k=PARAGRAPH)) for _ in range(max(1, words // PARAGRAPH)))
    return f"{mark} " + "\n\n".join(paragraphs)


def write(data: Path, threads: list[Case]) -> int:
    """Write a mailbox with a thread an hour, the first the newest; return how many messages it holds."""
    rng, now = Random(1), time.time()
    records: list[dict[str, object]] = []
    for at, thread in enumerate(threads):
        known: list[str] = []
        for reply in range(thread.replies + 1):
            parent = rng.choice(known) if known else None
            known.append(identifier(rng))
            record: dict[str, object] = {
                "id": known[-1],
                "sender": f"steward-0000000{reply % 10}",
                "recipient": "all",
                "timestamp": stamp(now - 3_600 * at - 3_000 * (1 - reply / (thread.replies + 1))),
                "subject": thread.name,
                "content": body(rng, f"mark{at}", thread.words),
                "thread": parent,
                "ttl_hours": None,
                "read_by": [],
            }
            records.append(record)
    data.mkdir()
    records.sort(key=lambda record: str(record["timestamp"]))
    (data / MAILBOX).write_text("".join(json.dumps(record) + "\n" for record in records))
    return len(records)


def opened(terminal: Terminal, at: int) -> int:
    """Go down to a thread; return the nanoseconds until text of it is visible."""
    sighting = terminal.watch(lambda terminal: f"mark{at} " in "\n".join(conversation(terminal)))
    now = time.monotonic_ns()
    terminal.press("j")
    return sighting.wait(120) - now


def measure(bench: Bench) -> None:
    """Open each thread once in every round, in a console of its own: what was rendered before is kept."""
    wanted = cases(tuple(number for number in REPLIES if not bench.is_quick or number <= 100))
    taken: dict[tuple[str, int], list[int]] = {}
    with bench.home() as root:
        messages = write(root / "data", [Case("the first", 0, 0, 12), *wanted])
        for _ in range(bench.rounds(12)):
            with bench.home() as home, open_console(root / "data", home) as terminal:
                wait_read(terminal, messages)
                settle(terminal.pid)
                terminal.press("g")
                terminal.wait_for(lambda terminal: "mark0 " in "\n".join(conversation(terminal)))
                for at, case in enumerate(wanted, 1):
                    time.sleep(0.3)
                    taken.setdefault((case.name, case.size), []).append(opened(terminal, at))
    for (name, size), times in taken.items():
        bench.results.times(name, size, times)
