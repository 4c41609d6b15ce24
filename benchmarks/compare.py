"""Beside what one would take instead, on the same messages: lnav, toolong, notmuch and neomutt.

`benchmarks/compare_setup.sh` installs them; what is not there is left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import maildir
from benchmarks.appender import Appender
from benchmarks.bench import MAILBOX, Bench
from benchmarks.console import PATIENCE, first_row, newest_subject, open_console, quit_console, wait_read
from benchmarks.latency import appended
from benchmarks.library import Library
from benchmarks.measure import Results, short, table
from benchmarks.processes import settle
from benchmarks.searching import WORDS
from tests.terminal import SIGNALBOX, Terminal, environment

__all__ = ["measure", "report"]

WIDE = (240, 40)
"""A line of JSON shows its subject within so many columns."""

MAIL_AT_MOST = 100_000
OURS, LNAV, TOOLONG, NOTMUCH, NEOMUTT = "Signalbox", "lnav", "toolong", "notmuch", "neomutt"
ROWS, ROWS_AGAIN = "newest rows on the screen", "newest rows, opened again"
READ, READ_AGAIN = "everything read or indexed", "everything, opened again"
APPEND = "append to screen"
NEWEST = "newest threads"
NOTMUCH_CONFIG = """[database]
path={mail}
[user]
primary_email=user@localhost
[new]
tags=unread;inbox
[maildir]
synchronize_flags=false
"""
NEOMUTT_CONFIG = """set folder={mail}
set mbox_type=Maildir
set sort=reverse-date
set sleep_time=0
"""


def installed(bench: Bench) -> dict[str, str]:
    """Return the programs that are there, and note which are not."""
    toolong = Path(sys.prefix) / "toolong" / "bin" / "tl"
    found = {name: shutil.which(name) for name in (LNAV, NOTMUCH, NEOMUTT)}
    found[TOOLONG] = str(toolong) if toolong.exists() else None
    for name in sorted(name for name, path in found.items() if not path):
        bench.results.notes.append(f"{name} is not installed, and left out of the comparison")
    return {name: path for name, path in found.items() if path}


def measure(bench: Bench) -> None:
    """Measure what is installed; mail programs up to the size at which files can still be made."""
    programs = installed(bench)
    for size in bench.sizes[-2:]:
        ours(bench, size)
        with bench.copy(size) as data:
            viewers(bench, size, data, programs)
        if size <= MAIL_AT_MOST:
            with bench.home() as home:
                mail(bench, size, home, programs)
        else:
            why = "a maildir of so many files takes a minute to write, and ten to index"
            bench.results.notes.append(f"notmuch and neomutt are left out at {size:,} messages: {why}")


def ours(bench: Bench, size: int) -> None:
    """Take the time until our console has read everything, cold and again, and our library's searches."""
    data = bench.mailbox(size)
    sign = newest_subject(data)
    with bench.home() as home:
        for rows, read in ((ROWS, READ), (ROWS_AGAIN, READ_AGAIN)):
            with open_console(data, home) as terminal:
                add(bench, OURS, rows, size, [terminal.wait_for(sign, PATIENCE) - terminal.started_at])
                add(bench, OURS, read, size, [wait_read(terminal, size) - terminal.started_at])
                settle(terminal.pid)
                quit_console(terminal)
        with Library(data, home) as library:
            for what, word in WORDS.items():
                add(bench, OURS, what, size, [library.search(word)[0] for _ in range(bench.rounds(3))])


def add(bench: Bench, program: str, what: str, size: int, times: Sequence[int]) -> None:
    """Take the median of some times, in nanoseconds."""
    bench.results.times(f"{program}: {what}", size, times)


def viewers(bench: Bench, size: int, data: Path, programs: Mapping[str, str]) -> None:
    """Open each viewer of lines on the file in turn, and append while it is open."""
    file, sign = data / MAILBOX, newest_subject(data)
    argvs: dict[str, tuple[str, ...]] = {OURS: (*SIGNALBOX, "open", f"haak:{data}")}
    argvs |= {name: (programs[name], str(file)) for name in (LNAV, TOOLONG) if name in programs}
    taken: dict[tuple[str, str], list[int]] = {}
    whole = file.stat().st_size
    for _ in range(bench.rounds(5)):
        for name, argv in argvs.items():
            with bench.home() as home, Terminal(argv, env=environment(home), size=WIDE) as terminal:
                rows = terminal.wait_for(sign, PATIENCE) - terminal.started_at
                taken.setdefault((name, ROWS), []).append(rows)
                if name == OURS:
                    wait_read(terminal, size)
                time.sleep(1)
                with Appender(file) as appender:
                    taken.setdefault((name, APPEND), []).extend(arrivals(bench, name, terminal, appender))
            os.truncate(file, whole)
    for (name, what), times in taken.items():
        add(bench, name, what, size, times)


def arrivals(bench: Bench, name: str, terminal: Terminal, appender: Appender) -> list[int]:
    """Append some messages one after the other; return how long each took to its subject on the screen."""
    times: list[int] = []
    for at in range(1 + bench.rounds(6)):
        if name == OURS:
            terminal.press("g")
            if times:
                terminal.wait_for(lambda terminal: first_row(terminal).startswith("Arrival"))
        time.sleep(0.1 + bench.pause())
        times.append(appended(terminal, appender, f"Arrival {at:04d}"))
    return times[1:]


def mail(bench: Bench, size: int, home: Path, programs: Mapping[str, str]) -> None:
    """Measure the mail programs on the same messages as files."""
    folder = home / "mail"
    if NOTMUCH in programs or NEOMUTT in programs:
        maildir.write(bench.mailbox(size), folder)
    if NEOMUTT in programs:
        neomutt(bench, size, folder, home)
    if NOTMUCH in programs:
        notmuch(bench, size, folder, home)


def neomutt(bench: Bench, size: int, folder: Path, home: Path) -> None:
    """Open the maildir without a cache of headers, and with one that is there."""
    plain, cached = home / "plain", home / "cached"
    plain.write_text(NEOMUTT_CONFIG.format(mail=folder))
    cached.write_text(f"{plain.read_text()}set header_cache={home}/headers\n")
    (home / "headers").mkdir()
    sign = newest_subject(bench.mailbox(size))

    def start(config: Path) -> int:
        argv = (NEOMUTT, "-n", "-F", str(config), "-R", "-f", str(folder))
        with Terminal(argv, env=environment(home)) as terminal:
            taken = terminal.wait_for(sign, PATIENCE) - terminal.started_at
            terminal.press("q")
            terminal.wait_exit(60)
            return taken

    start(cached)
    for what, config in ((ROWS, plain), (ROWS_AGAIN, cached)):
        add(bench, NEOMUTT, what, size, [start(config) for _ in range(bench.rounds(3))])


def notmuch(bench: Bench, size: int, folder: Path, home: Path) -> None:
    """Index the maildir, look whether it is still the same, and search it."""
    config = home / "notmuch"
    config.write_text(NOTMUCH_CONFIG.format(mail=folder))
    env = {**environment(home), "NOTMUCH_CONFIG": str(config)}

    def run(*words: str) -> int:
        start = time.monotonic_ns()
        subprocess.run([NOTMUCH, *words], env=env, stdout=subprocess.DEVNULL, check=True)
        return time.monotonic_ns() - start

    add(bench, NOTMUCH, READ, size, [run("new", "--quiet")])
    add(bench, NOTMUCH, READ_AGAIN, size, [run("new", "--quiet") for _ in range(bench.rounds(3))])
    for what, word in {NEWEST: "*", **WORDS}.items():
        times = [run("search", "--limit=50", "--sort=newest-first", word) for _ in range(bench.rounds(10))]
        add(bench, NOTMUCH, what, size, times)


def report(results: Results) -> str:
    """Return what each program took for what, at each size; milliseconds."""
    programs = (OURS, LNAV, TOOLONG, NOTMUCH, NEOMUTT)
    sizes = sorted({size for name in programs for size in results.values.get(f"{name}: {ROWS}", {})})
    rows = []
    for size in sizes:
        for what in (ROWS, ROWS_AGAIN, READ, READ_AGAIN, APPEND, NEWEST, *WORDS):
            found = [results.values.get(f"{name}: {what}", {}).get(size) for name in programs]
            rows.append((f"{what}, {size:,}", *(short(value.value) if value else "" for value in found)))
    return table(("what, at how many messages", *programs), rows)
