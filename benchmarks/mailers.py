"""Mail programs on the same messages as a maildir: neomutt and notmuch."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Container
from functools import partial
from pathlib import Path

from benchmarks import maildir
from benchmarks.beside import (
    LIMIT,
    NEOMUTT,
    NEWEST,
    NOTMUCH,
    READ,
    READ_AGAIN,
    ROWS,
    ROWS_AGAIN,
    SEARCH,
    SEARCHES,
    Beside,
)
from benchmarks.console import newest_subject
from tests.terminal import Terminal, environment

INDEX_LIMIT = 300.0
FOUND = re.compile(r"Msgs: *\d+/\d+")
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


def measure(beside: Beside, home: Path, programs: Container[str]) -> None:
    """Measure the mail programs on the same messages as files."""
    folder = home / "mail"
    if NOTMUCH in programs or NEOMUTT in programs:
        maildir.write(beside.bench.mailbox(beside.size), folder)
    if NEOMUTT in programs:
        neomutt(beside, folder, home)
    if NOTMUCH in programs:
        notmuch(beside, folder, home)


def neomutt(beside: Beside, folder: Path, home: Path) -> None:
    """Open the maildir without a header cache, search it, and open it again with the cache."""
    plain, cached = home / "plain", home / "cached"
    plain.write_text(NEOMUTT_CONFIG.format(mail=folder))
    cached.write_text(f"{plain.read_text()}set header_cache={home}/headers\n")
    (home / "headers").mkdir()
    sign = newest_subject(beside.bench.mailbox(beside.size))

    def limited(terminal: Terminal) -> int:
        sighting = terminal.watch(lambda terminal: bool(FOUND.search(terminal.screen_text())))
        now = time.monotonic_ns()
        terminal.send(f"l~b {SEARCHES[SEARCH]}\r")
        return sighting.wait(LIMIT) - now

    for what, config in ((ROWS, plain), ("", cached), (ROWS_AGAIN, cached)):
        for at in range(beside.bench.rounds(3) if what else 1):
            argv = (NEOMUTT, "-n", "-F", str(config), "-R", "-f", str(folder))
            with Terminal(argv, env=environment(home)) as terminal:
                if not what:
                    terminal.wait_for(sign, LIMIT)
                elif not beside.take(NEOMUTT, what, lambda: terminal.wait_for(sign, LIMIT) - terminal.started_at):
                    return
                if what == ROWS_AGAIN and not at:
                    beside.take(NEOMUTT, SEARCH, lambda: limited(terminal))
                terminal.press("q")
                terminal.wait_exit(60)


def notmuch(beside: Beside, folder: Path, home: Path) -> None:
    """Index the maildir, update the index, and search."""
    config = home / "notmuch"
    config.write_text(NOTMUCH_CONFIG.format(mail=folder))
    env = {**environment(home), "NOTMUCH_CONFIG": str(config)}

    def run(*words: str, limit: float = LIMIT) -> int:
        start = time.monotonic_ns()
        subprocess.run([NOTMUCH, *words], env=env, stdout=subprocess.DEVNULL, check=True, timeout=limit)
        return time.monotonic_ns() - start

    if not beside.take(NOTMUCH, READ, lambda: run("new", "--quiet", limit=INDEX_LIMIT), INDEX_LIMIT):
        return
    for _ in range(beside.bench.rounds(3)):
        beside.take(NOTMUCH, READ_AGAIN, lambda: run("new", "--quiet"))
        for what, word in {NEWEST: "*", **SEARCHES}.items():
            beside.take(NOTMUCH, what, partial(run, "search", "--limit=50", "--sort=newest-first", word))
