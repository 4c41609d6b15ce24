"""Repeat tests beside busy processes: `python -m tests.repeats --times 200 --busy 2 tests/serve`.

Prints how often each test ran and failed, and what a failure said: such a test has a race, or the program has one.
Rounds differ in the order of the tests and in what is made at random. Words that begin with a dash go to pytest.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from tests.lateness import LATE

NAME, SAID = 120, 600
"""Characters of a test's name, and of what a failure said."""
KEPT = Path("build")
"""Where the output of rounds with failures is kept."""


class Outcome(NamedTuple):
    """What one run of a test came to: what its failure said, or nothing."""

    test: str
    failure: str


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--repeat", type=int, default=1)


@pytest.fixture
def repetition(request: pytest.FixtureRequest) -> int:
    """The number of this repetition."""
    number: int = request.param
    return number


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Have each test as often as is asked for, anywhere in the order."""
    if (times := metafunc.config.getoption("--repeat")) > 1:
        metafunc.fixturenames.append("repetition")
        numbers = [f"again{number}" for number in range(times)]
        metafunc.parametrize("repetition", range(times), indirect=True, ids=numbers)


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Keep processors busy that the tests would like to have."""
    with ExitStack() as ends:
        for _ in range(number):
            process = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
            ends.callback(process.wait)
            ends.callback(process.kill)
        yield


def one_round(words: list[str], repeat: int, seed: int, folder: Path) -> tuple[list[Outcome], str]:
    """Run the selection in a process of its own; return what came of each test, and what pytest printed."""
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    own = ["-p", "tests.repeats", f"--repeat={repeat}", f"--randomly-seed={seed}", f"--junitxml={report}"]
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", *own, *words]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if not report.exists():
        return [], run.stdout
    cases = ElementTree.parse(report).iter("testcase")
    return [_outcome(case) for case in cases if case.find("skipped") is None], run.stdout


def _outcome(case: ElementTree.Element) -> Outcome:
    name = "-".join(part for part in case.get("name", "").rstrip("]").split("-") if not part.startswith("again"))
    name = name.partition("[again")[0] + ("]" if "[" in name.partition("[again")[0] else "")
    for kind in ("failure", "error"):
        if (found := case.find(kind)) is not None:
            return Outcome(f"{case.get('classname')}::{name}", found.get("message") or kind)
    return Outcome(f"{case.get('classname')}::{name}", "")


def main() -> int:
    """Repeat, and print a table of what ran."""
    parser = argparse.ArgumentParser(prog="python -m tests.repeats", description=__doc__, allow_abbrev=False)
    parser.add_argument("--times", type=int, default=20, help="how often each test runs")
    parser.add_argument("--busy", type=int, default=2, help="processes beside it that only use a processor")
    late = os.environ.get(LATE, "0")
    parser.add_argument("--late", default=late, help="by how many milliseconds at most threads answer late")
    parser.add_argument("--each", type=int, default=1, help="so often in one process; fewer start")
    parser.add_argument("--seed", type=int, default=1, help="of the first round; the next ones count on")
    parser.add_argument("--all", action="store_true", help="list the tests that never failed, too")
    options, words = parser.parse_known_args()
    os.environ[LATE] = options.late
    runs: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    broken = 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing outlives it
    with suppress(KeyboardInterrupt), busy(options.busy), TemporaryDirectory() as folder:
        for at in range(-(-options.times // options.each)):
            seed = options.seed + at
            outcomes, printed = one_round(words, options.each, seed, Path(folder))
            if not outcomes:
                broken += 1
                print(f"seed {seed}: nothing ran\n{printed[-SAID:]}", flush=True)
            for test, failure in outcomes:
                runs[test] += 1
                if failure:
                    failures[test] += 1
                    print(f"seed {seed}: {test}\n    {failure[:SAID]}", flush=True)
            if any(failure for _, failure in outcomes):
                KEPT.mkdir(exist_ok=True)
                (KEPT / f"repeats-{seed}.txt").write_text(printed, encoding="utf-8")
    print(f"{'runs':>6} {'failed':>6}  test")
    for test in sorted(runs, key=lambda test: (-failures[test], test)):
        if failures[test] or options.all:
            print(f"{runs[test]:6} {failures[test]:6}  {test[:NAME]}")
    print(f"{runs.total():6} {failures.total():6}  all {len(runs)} tests, beside {options.busy} busy processes")
    return 1 if failures or broken else 0


if __name__ == "__main__":
    sys.exit(main())
