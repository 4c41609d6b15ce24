"""The store layer as a library, in a separate process: the only benchmark module that calls it directly.

python -m benchmarks.library load DIR | one-more DIR OTHER | search DIR, with a word a line on its input; none: an index
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.processes import resident
from mailstore import Mailbox, open_store
from mailstore.folding import fold_store
from mailstore.queries.query import parse
from mailstore.queries.search import SearchContext, look_up
from mailstore.store import Store
from tests.terminal import environment

FIRST = 50
ONE_BY_ONE = 2_000
INDEXED_SECONDS = 300.0


def load(store: Store) -> Mailbox:
    """Read and fold a whole mailbox, as a command does."""
    gc.disable()
    mailbox = fold_store(store, "user", time.time())
    gc.enable()
    return mailbox


def first_hits(store: Store, mailbox: Mailbox, word: str) -> int:
    """Find the newest messages that contain a word; return how many."""
    now = time.time()
    context = SearchContext(mailbox, store.content, now)
    found = itertools.chain.from_iterable(look_up(parse(word, now), context, store.candidates))
    return len(list(itertools.islice(found, FIRST)))


def keep_index(store: Store) -> dict[str, int]:
    """Build a word index where the console keeps it; return the nanoseconds and its bytes, 0 for none."""
    folder = Path(os.environ["XDG_CACHE_HOME"]) / "signalbox" / "search"
    start = time.monotonic_ns()
    store.keep_index(folder)
    while folder.exists() and time.monotonic_ns() - start < INDEXED_SECONDS * 1e9:
        if made := [file for file in folder.iterdir() if not file.suffix]:
            return {"taken": time.monotonic_ns() - start, "bytes": made[0].stat().st_size}
        time.sleep(0.01)
    return {"taken": 0, "bytes": 0}


def one_by_one(mailbox: Mailbox, other: Path) -> list[int]:
    """Fold another mailbox's messages one at a time; return the nanoseconds that each took."""
    with open_store(f"haak:{other}") as store:
        messages = [event for batch in store.scan() for event in batch if hasattr(event, "sender")][:ONE_BY_ONE]
    taken, now = [], time.time()
    gc.freeze()
    for message in messages:
        start = time.perf_counter_ns()
        mailbox.fold([message], now)
        taken.append(time.perf_counter_ns() - start)
    return taken


def answers(task: str, data: Path, others: list[str], words: Iterable[str]) -> Iterable[dict[str, Any]]:
    """Run a task on a mailbox, and yield its results."""
    before = resident(os.getpid())
    start = time.monotonic_ns()
    with open_store(f"haak:{data}") as store:
        mailbox = load(store)
        loaded = time.monotonic_ns() - start
        yield {"loaded": loaded, "messages": len(mailbox), "resident": resident(os.getpid()) - before}
        if task == "one-more":
            yield {"taken": one_by_one(mailbox, Path(others[0]))}
        if task == "search":
            for line in words:
                if not (word := line.strip()):
                    yield keep_index(store)
                    continue
                start = time.monotonic_ns()
                hits = first_hits(store, mailbox, word)
                yield {"taken": time.monotonic_ns() - start, "hits": hits}


def asked(task: str, data: Path, home: Path, *others: object) -> list[dict[str, Any]]:
    """Run a task in a separate process with its cache in `home`; return its results."""
    argv = [sys.executable, "-m", "benchmarks.library", task, str(data), *map(str, others)]
    done = subprocess.run(argv, env=environment(home), stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Library:
    """A process that has loaded a mailbox and searches it on request."""

    def __init__(self, data: Path, home: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.library", "search", str(data)],
            env=environment(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.loaded = self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def _ask(self, line: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._answer()

    def search(self, word: str) -> tuple[int, int]:
        """Search for a word; return the nanoseconds it took and the number of hits, fifty at most."""
        answer = self._ask(word)
        return answer["taken"], answer["hits"]

    def keep_index(self) -> tuple[int, int]:
        """Build an index; return the nanoseconds it took and its bytes, 0 if a mailbox gets none."""
        answer = self._ask("")
        return answer["taken"], answer["bytes"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


if __name__ == "__main__":
    task, data, *others = sys.argv[1:]
    for answer in answers(task, Path(data), others, sys.stdin):
        print(json.dumps(answer), flush=True)
