"""What every benchmark gets: mailboxes of each size, empty home folders, the number of rounds, and where results go."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from benchmarks.generate import generate
from benchmarks.measure import Results

SIZES = (1_000, 10_000, 100_000, 1_000_000)
MAILBOX, READS = "agent-mailbox.jsonl", "agent-mailbox-reads.jsonl"
LARGE = 100_000
"""From this size on a round takes seconds, so there are fewer rounds."""


class Bench:
    """One run. `sizes` are numbers of messages, the smallest first; a quick run only shows that everything works."""

    def __init__(
        self, data: Path, sizes: tuple[int, ...] = SIZES, *, is_quick: bool = False, most: int | None = None
    ) -> None:
        self.sizes = sizes
        self.is_quick = is_quick
        self.most = most
        self.results = Results()
        self.random = Random(1)
        self._data = data

    @property
    def largest(self) -> int:
        return self.sizes[-1]

    def rounds(self, usual: int, size: int = 0) -> int:
        """Return the number of rounds: the usual number, fewer for large sizes, one in a quick run."""
        if self.is_quick:
            return 1
        rounds = usual if size < LARGE else max(3, usual * LARGE // (2 * size))
        return rounds if self.most is None else min(rounds, self.most)

    def pause(self) -> float:
        """Return random seconds to wait between measurements, so that no timer of the program keeps in step."""
        return self.random.uniform(0.03, 0.12)

    def tell(self, words: str) -> None:
        """Report progress on standard error."""
        print(f"  {words}", file=sys.stderr, flush=True)

    def mailbox(self, messages: int) -> Path:
        """Return a shared read-only mailbox, generated on first use."""
        folder = self._data / f"haak-{messages}"
        if not folder.exists():
            made = folder.with_suffix(".unfinished")
            for rest in (made, folder.with_suffix(".lent")):
                shutil.rmtree(rest, ignore_errors=True)
            generate(made, messages)
            made.rename(folder)
        return folder

    @contextmanager
    def lent(self, messages: int) -> Iterator[Path]:
        """Lend a mailbox to append to, truncated afterwards: copying a gigabyte takes longer than a measurement.

        It is renamed meanwhile, so that one that was not given back is generated again.
        """
        folder = self.mailbox(messages)
        lent = folder.rename(folder.with_suffix(".lent"))
        sizes = {file: file.stat().st_size for file in lent.iterdir()}
        try:
            yield lent
        finally:
            for file in set(lent.iterdir()) - set(sizes):
                file.unlink()
            for file, size in sizes.items():
                if file.stat().st_size < size:
                    raise AssertionError(f"{file.name} was cut by a measurement")
                os.truncate(file, size)
            lent.rename(folder)

    @contextmanager
    def home(self) -> Iterator[Path]:
        """Lend an empty home folder, without any cache."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            yield Path(folder)
