"""Reading and folding a whole mailbox, cold and warm, compared with counting its lines; and the memory it takes.

From the start of the console until its header says so, without any key pressed; and in another program, less the start
of Python. A cold round has an empty home, and so no cache; the warm rounds follow in the same home.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from benchmarks.bench import MAILBOX, READS, Bench
from benchmarks.console import PATIENCE, newest_subject, open_console, press, quit_console, under_cursor, wait_read
from benchmarks.generate import arrivals
from benchmarks.library import asked
from benchmarks.processes import resident, settle

GROWN, HOUR = 1_000, 3_600
TELLING = 10_000
"""With fewer messages, memory per message says nothing."""

KEYS = 200


def lines(data: Path) -> int:
    """Let `wc -l` count the lines of the mailbox and of its reads; return the nanoseconds."""
    start = time.monotonic_ns()
    subprocess.run(["wc", "-l", data / MAILBOX, data / READS], stdout=subprocess.DEVNULL, check=True)
    return time.monotonic_ns() - start


def once(data: Path, home: Path, messages: int) -> tuple[int, int]:
    """Open the console and quit when it has read everything; return the nanoseconds that took, and its memory."""
    with open_console(data, home) as terminal:
        taken = wait_read(terminal, messages) - terminal.started_at
        settle(terminal.pid)
        memory = resident(terminal.pid)
        quit_console(terminal)
        return taken, memory


def grow(data: Path, at: int) -> int:
    """Append messages as other programs would; return the file's size before."""
    with (data / MAILBOX).open("ab") as file:
        size = file.tell()
        file.writelines(arrivals(GROWN, seed=at, start=time.time() - HOUR, seconds=HOUR))
        return size


def alone(bench: Bench) -> tuple[int, int]:
    """Return the memory of a console and of a library process with a single message."""
    data = bench.mailbox(1)
    with bench.home() as home:
        return once(data, home, 1)[1], asked("load", data, home)[0]["resident"]


def measure(bench: Bench) -> None:
    """Measure all at each size."""
    base = (0, 0) if bench.is_quick else alone(bench)
    for size in bench.sizes:
        bench.tell(f"{size:,} messages")
        with bench.lent(size) as data:
            measure_one(bench, data, size, base)
            meanwhile(bench, data, size)


def measure_one(bench: Bench, data: Path, size: int, base: tuple[int, int]) -> None:
    """Measure at one size, in rounds: the lines, another program, the console cold, warm, and grown."""
    taken: dict[str, list[int]] = {}
    memory: tuple[list[int], list[int]] = ([], [])
    lines(data)
    for at in range(bench.rounds(5, size)):
        taken.setdefault("`wc -l`", []).append(lines(data))
        with bench.home() as home:
            for name in ("fold in a library, cold", "fold in a library, warm"):
                told = asked("load", data, home)[0]
                if told["messages"] != size:
                    raise AssertionError(f"{told['messages']} messages of {size} were read")
                taken.setdefault(name, []).append(told["loaded"])
            memory[1].append(told["resident"])
        with bench.home() as home:
            for name in ("everything read, cold", "everything read, warm"):
                time_taken, bytes_taken = once(data, home, size)
                taken.setdefault(name, []).append(time_taken)
                if name.endswith("cold"):
                    memory[0].append(bytes_taken)
            before = grow(data, at)
            taken.setdefault("everything read, grown by 1,000", []).append(once(data, home, size + GROWN)[0])
            os.truncate(data / MAILBOX, before)
    for name, times in taken.items():
        bench.results.times(name, size, times)
    if size >= TELLING or bench.is_quick:
        for name, each, least in zip(("console", "library"), memory, base, strict=True):
            value = (sorted(each)[len(each) // 2] - least) / size
            bench.results.add(f"memory a message, {name}", size, value, "bytes", len(each))


def meanwhile(bench: Bench, data: Path, size: int) -> None:
    """Press keys while the mailbox is being read, cold, for as many rounds as give enough of them."""
    taken: list[int] = []
    done = f"● live  {size:,} message"
    for _ in range(bench.rounds(5, size)):
        with bench.home() as home, open_console(data, home) as terminal:
            terminal.wait_for(newest_subject(data), PATIENCE)
            terminal.wait_for(lambda terminal: bool(under_cursor(terminal)), PATIENCE)
            number = 0
            while done not in terminal.line(0) and number < KEYS:
                taken.append(press(terminal, "j" if number % 20 < 10 else "k"))
                number += 1
                time.sleep(bench.pause())
        if len(taken) >= KEYS:
            break
    bench.results.times("key to frame while it reads, p99", size, taken, 99)
