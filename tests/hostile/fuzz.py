"""Every kind's files, damaged at random, under the real commands.

`python -m tests.hostile fuzz --runs N --kind K --seed S`. Each run is told by its kind and its number alone: with
`--first NUMBER --runs 1` it comes again.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import mailstore.haak.store as haak
from console.cli import main
from mailstore.files.database import is_database
from tests.hostile.lexer import faults_of_output
from tests.hostile.mutate import mutate_bytes, mutate_database
from tests.hostile.samples import SAMPLES, Make

ROOT = Path(__file__).parents[2]
LONG = "-long"
"""What a kind is called that is read as a long mailbox is: in blocks, and from what was kept."""
KINDS: dict[str, Make] = {**SAMPLES, **{f"{name}{LONG}": SAMPLES[name] for name in ("haak", "amendment")}}
SECONDS = 3.0
"""Of the processor, for one command on a mailbox of a few kilobytes."""
MEGABYTES = 200
"""By which a command may let the process grow."""
ADDRESS_SPACE = 3 << 30
"""Bytes, in a run by command: what takes more is told, and harms nobody."""
FORMATS = ("json", "jsonl", "jsonld", "markdown", "situations", "html")
FOLDERS = ("run", "run \udcff", "run#of ?%41=\n\x1b[31m;")
"""Names of a mailbox's folder: not all of them are Unicode, or free of what means something elsewhere."""
ALONE = 40
"""One run in so many starts `check` in a process of its own."""


class Outcome(NamedTuple):
    """What a command did: its status, what it printed, and what it cost (seconds of the processor, megabytes)."""

    words: Sequence[str]
    status: int
    out: str
    err: str
    seconds: float = 0.0
    megabytes: float = 0.0


class Fault(NamedTuple):
    """What should not be: in which run, by which command, and what."""

    kind: str
    number: int
    words: Sequence[str]
    what: str

    @property
    def cause(self) -> str:
        """Return what faults of one cause have in common."""
        return f"{self.kind.removesuffix(LONG)}: {self.what[:70]}"


class Known(NamedTuple):
    """What an undamaged sample holds."""

    folder: Path
    url: str
    ids: list[str]
    agents: list[str]


class Fuzzer:
    """Makes runs; everything it writes lies in a folder of its own."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._seed = seed
        self._known: dict[str, Known] = {}

    def run(self, kind: str, number: int) -> list[Fault]:
        """Damage a mailbox, and give it to some commands; return what went wrong."""
        rng = random.Random(f"{self._seed} {kind} {number}")
        known = self._sample(kind)
        folder = self._folder / rng.choice(FOLDERS)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(known.folder, folder)
        damage(folder, rng)
        before = digests(folder)
        url = known.url.replace(str(known.folder), str(folder))
        faults: list[str | Fault] = []
        with environment(self._folder), long_where(kind.endswith(LONG)):
            for words in commands(known, rng):
                done = command([*words, "--store", url])
                faults += [Fault(kind, number, words, what) for what in wrong_with(done)]
            if "haak" in url and not faults:
                faults += [Fault(kind, number, ["doctor", "--json"], what) for what in hidden(folder / "data", url)]
            if number % ALONE == 0:
                words = ["check", "--as", rng.choice(known.agents or ["user"]), "--dry-run", "--store", url]
                faults += [Fault(kind, number, words, what) for what in wrong_with(alone(words))]
        if digests(folder) != before:
            faults.append(Fault(kind, number, [], "files were changed by looking"))
        return [fault for fault in faults if isinstance(fault, Fault)]

    def _sample(self, kind: str) -> Known:
        if kind not in self._known:
            folder = self._folder / kind
            url = KINDS[kind](folder)
            with environment(self._folder):
                mail = json.loads(command(["history", "--json", "--archive", "--store", url]).out or "[]")
                agents = json.loads(command(["agents", "--json", "--store", url]).out or "[]")
            ids, names = [row["id"] for row in mail], [row["session_id"] for row in agents]
            assert ids, f"the sample of {kind} holds no mail"
            self._known[kind] = Known(folder, url, ids, names)
        return self._known[kind]


def damage(folder: Path, rng: random.Random) -> None:
    """Damage one or two of a mailbox's files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".toml")
    for path in rng.sample(files, min(len(files), rng.choice((1, 1, 2)))):
        if path.stat().st_size and is_database(path):
            try:
                mutate_database(path, rng)
                continue
            except sqlite3.DatabaseError:
                pass  # its log is damaged already
        path.write_bytes(mutate_bytes(path.read_bytes(), rng))


def commands(known: Known, rng: random.Random) -> list[list[str]]:
    """Choose what is asked of a mailbox: `doctor`, and two of what else only looks."""
    agent, message = rng.choice(known.agents or ["user"]), rng.choice(known.ids)
    others = [
        *([name, *more] for name in ("threads", "agents", "channels", "who") for more in ([], ["--json"])),
        *([name, *more] for name in ("attention", "dead-letters", "history") for more in ([], ["--json"])),
        ["read", "--as", agent],
        ["read", "--as", agent, "--json"],
        ["read", "--as", "user", "--unread", "--json"],
        ["check", "--as", agent, "--dry-run"],
        ["thread", message],
        ["timeline", message, "--json"],
        ["search", "e", "--json"],
        ["search", "is:unread", "--archive"],
        ["threads", "--at", "2026-11-20T12:00:00Z"],
        *(["export", "--archive", "--format", name] for name in FORMATS),
    ]
    return [["doctor", "--json"], *rng.sample(others, 2)]


def wrong_with(done: Outcome) -> Iterator[str]:
    """Yield what of a command's outcome no file may bring about."""
    if done.status not in (0, 1, 2):
        yield f"status {done.status}"
    for sign in ("internal error (", "Traceback", "the output can't be written", "Warning:"):
        if sign in done.err:
            yield done.err[done.err.index(sign) :].strip()
    for name, text in (("output", done.out), ("error output", done.err)):
        if found := faults_of_output(text):
            yield f"{name} holds {found[0]}"
    if "--json" in done.words and done.status == 0:
        try:
            json.loads(done.out)
        except ValueError as error:
            yield f"no JSON: {error}"
    if done.seconds > SECONDS:
        yield f"took {done.seconds:.1f} s"
    if done.megabytes > MEGABYTES:
        yield f"took {done.megabytes:.0f} MB"


def hidden(data: Path, url: str) -> Iterator[str]:
    """Yield what stands on a whole line of a HAAK mailbox, and is neither told as a message nor as a problem."""
    mailbox = data / "agent-mailbox.jsonl"
    found = command(["doctor", "--json", "--store", url])
    listed = command(["history", "--json", "--archive", "--store", url])
    if found.status == 2 or listed.status:
        return
    report = json.loads(found.out)
    ids = {row["id"] for row in json.loads(listed.out)}
    told = {row["line"] for name in ("malformed", "warnings") for row in report[name] if row["file"] == mailbox.name}
    lines = mailbox.read_bytes().split(b"\n") if mailbox.exists() else []
    for number, line in enumerate(lines[:-1], 1):
        if number not in told and line.strip() and not ids.intersection(ids_on(line)):
            yield f"line {number} is told nowhere"


def ids_on(line: bytes) -> set[str]:
    """Return the ids of the records on a line, as another reader finds them."""
    bare = line.strip(b" \t\r\0,")  # a comma between records is no damage
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return set()
    made = {f"line:{hashlib.sha1(each, usedforsecurity=False).hexdigest()}" for each in (line.strip(), bare)}
    return {str(value.get("id")), *made} if isinstance(value, dict) else set()


def command(words: Sequence[str]) -> Outcome:
    """Run a command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    grown, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(list(words))
    seconds = time.process_time() - start
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - grown) / 1024
    texts = (each.buffer.getvalue().decode("utf-8", "surrogatepass") for each in (out, err))  # type: ignore[attr-defined]
    return Outcome(words, status, *texts, seconds, megabytes)


def alone(words: Sequence[str]) -> Outcome:
    """Run a command in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "console", *words], env=env, capture_output=True, check=False, timeout=60
    )
    return Outcome(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def digests(folder: Path) -> dict[str, tuple[str, int]]:
    """Return what every file holds, and when it was written."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) for path in files}


@contextmanager
def environment(folder: Path) -> Iterator[None]:
    """Run in nobody's home, and without the settings of whoever runs this."""
    kept = dict(os.environ)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        os.environ[name] = str(folder / "home" / name.lower())
        Path(os.environ[name]).mkdir(parents=True, exist_ok=True)
    os.environ.pop("SIGNALBOX_STORE", None)
    os.environ.pop("SIGNALBOX_DEBUG", None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


@contextmanager
def long_where(is_long: bool) -> Iterator[None]:
    """Take every mailbox for a long one, where that is asked for."""
    kept = haak.LONG
    haak.LONG = 0 if is_long else kept
    try:
        yield
    finally:
        haak.LONG = kept


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--runs", type=int, default=1000, help="for each kind (default: 1000)")
    parser.add_argument("--kind", choices=list(KINDS), action="append", help="default: all of them")
    parser.add_argument("--seed", type=int, default=None, help="default: another one each time")
    parser.add_argument("--first", type=int, default=0, help="the number of the first run")
    parser.add_argument("--show", type=int, default=3, help="how many runs of each cause are named")


def run(args: argparse.Namespace) -> int:
    """Make the runs, and tell what was found by cause."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, resource.getrlimit(resource.RLIMIT_AS)[1]))
    seed = random.SystemRandom().randrange(1 << 32) if args.seed is None else args.seed
    causes: dict[str, list[Fault]] = {}
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(Path(folder), seed)
        for kind in args.kind or KINDS:
            for number in range(args.first, args.first + args.runs):
                counts[kind] += 1
                for fault in fuzzer.run(kind, number):
                    causes.setdefault(fault.cause, []).append(fault)
    told = ", ".join(f"{kind} {number}" for kind, number in counts.items())
    print(f"seed {seed}; runs: {told}; causes: {len(causes)}")
    for cause, faults in sorted(causes.items(), key=lambda item: -len(item[1])):
        print(f"{len(faults):>6}  {cause}")
        for fault in faults[: args.show]:
            print(f"        --kind {fault.kind} --first {fault.number}: {' '.join(fault.words)}: {fault.what[:200]}")
    return 1 if causes else 0
