"""Every file of every kind of mailbox, replaced by what is none: each command ends quickly, in little memory.

`python -m tests.hostile irregular --kind K` tries each file and each thing; `make test` a sample of both.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from tests.hostile.fuzz import KINDS, Outcome, command, environment, wrong_with

ROOM = 1 << 30
"""Bytes that a command may reserve beyond what the process has."""
MEGABYTES = 300
SECONDS = 8.0
HOLE = 10 << 30
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("doctor", "--json"),
    ("history", "--json", "--archive"),
    ("search", "e", "--archive"),
    ("check", "--as", "user", "--dry-run"),
    ("export", "--archive", "--format", "jsonl"),
)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _folder(path: Path) -> None:
    path.mkdir()


def _socket(path: Path) -> None:
    here = Path.cwd()
    with closing(socket.socket(socket.AF_UNIX)) as made:
        os.chdir(path.parent)  # a socket's path is short
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def _hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HOLE)


def _deep(path: Path) -> None:
    path.write_bytes(b'{"a":[' * 100_000)


def _damaged(path: Path) -> None:
    path.write_bytes((b'{"a":[' * 2400 + b"\n") * 30)


THINGS: Mapping[str, Callable[[Path], None]] = {
    "pipe": _pipe,
    "zero": _zero,
    "folder": _folder,
    "socket": _socket,
    "hole": _hole,
    "deep": _deep,
    "damaged": _damaged,
    "hole behind lines": lambda path: os.truncate(path, HOLE),
}
"""What a file is replaced by."""


def places(folder: Path) -> list[str]:
    """Return the files of a mailbox, and those that it would read if they were there."""
    found = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".toml"]
    for mailbox in folder.rglob("agent-mailbox.jsonl"):
        names = ("agent-roster.jsonl", "agent-roster.json", "agent-mailbox-reads.jsonl")
        found += [mailbox.with_name(name) for name in names if not mailbox.with_name(name).exists()]
        retired = mailbox.with_name("agent-mailbox-archive") / "retired"
        found += [mailbox.with_name("agent-mailbox-archive") / "2026-01.jsonl.gz", retired / "1-1.json"]
    return sorted(str(path.relative_to(folder)) for path in found)


def faults_of(sample: Path, url: str, place: str, thing: str, words: Sequence[str], room: Path) -> list[str]:
    """Replace a file in a copy of a mailbox, and run a command on it in a process of its own; return what was wrong."""
    folder = room / "run"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sample, folder, symlinks=True)
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if thing != "hole behind lines":
        path.unlink(missing_ok=True)
    elif not path.exists():
        return []
    THINGS[thing](path)
    with environment(room):
        done = _limited([*words, "--store", url.replace(str(sample), str(folder))])
    return [done] if isinstance(done, str) else list(wrong_with(done))


def _limited(words: Sequence[str]) -> Outcome | str:
    """Run a command in a child process with little time and memory; return what it did, or how it ended."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_run, args=(words, sender))
    child.start()
    sender.close()
    with closing(receiver):
        done: Outcome | str = receiver.recv() if receiver.poll(SECONDS) and _is_told(receiver) else ""
    if not done:
        done = f"did not end in {SECONDS:.0f} s" if child.is_alive() else "ended without a word"
        child.kill()
    child.join()
    return done


def _is_told(receiver: object) -> bool:
    try:
        return bool(receiver.poll(0))  # type: ignore[attr-defined]
    except (EOFError, OSError):
        return False


def _run(words: Sequence[str], sender: object) -> None:
    signal.alarm(int(SECONDS))
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    sender.send(command(words))  # type: ignore[attr-defined]
    os._exit(0)


def samples(kinds: Sequence[str], room: Path) -> Iterator[tuple[str, Path, str]]:
    """Make a mailbox of each kind."""
    for kind in kinds:
        folder = room / kind
        yield kind, folder, KINDS[kind](folder)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--kind", choices=list(KINDS), action="append", help="default: all of them")
    parser.add_argument("--thing", choices=list(THINGS), action="append", help="default: all of them")
    parser.add_argument("--runs", type=int, default=0, help="so many at random for each kind (default: all)")
    parser.add_argument("--seed", type=int, default=0)


def run(args: argparse.Namespace) -> int:
    """Try every file, thing and command; say what was wrong."""
    wrong = tried = 0
    with tempfile.TemporaryDirectory(prefix="hostile-") as above:
        for kind, folder, url in samples(args.kind or list(KINDS), Path(above)):
            every = [
                (place, thing, words)
                for place in places(folder)
                for thing in args.thing or THINGS
                for words in COMMANDS
            ]
            for place, thing, words in random.Random(args.seed).sample(every, args.runs) if args.runs else every:
                tried += 1
                for fault in faults_of(folder, url, place, thing, words, Path(above)):
                    wrong += 1
                    print(f"{kind}: {place} is a {thing}: {' '.join(words)}: {fault[:300]}")
                    sys.stdout.flush()
    print(f"{tried} runs, {wrong} wrong")
    return int(wrong > 0)
