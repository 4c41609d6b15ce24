"""Compare this tree with another commit of it: the same benchmarks of both in turn, on the same mailboxes."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.measure import Results, Value, short, table

ROOT = Path(__file__).parents[1]
MEASURING = ("benchmarks", "tests")
"""What measures, which both trees have in this tree's form: only the product differs."""

INSTALLED = ("pyproject.toml", "constraints.txt", "hatch_build.py")
"""What decides what is installed: where it differs, the other commit gets an environment of its own."""

KEPT = "results.json"
TURNS = 3
QUICK = ("startup", "latency", "storm")
SUBJECTS = (*QUICK, "searching", "folding", "reading")
SIZE = 10_000
QUICK_ROUNDS, ROUNDS = 25, 100

Measured = dict[tuple[str, int], list[Value]]
"""What was measured in each turn, by the figure's name and the number of messages."""


def git(*words: str) -> bytes:
    """Run git in this tree. Raises SystemExit with what it says."""
    done = subprocess.run(("git", *words), cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"git {words[0]}: {done.stderr.decode().strip()}")
    return done.stdout


@contextmanager
def built(commit: str, folder: Path) -> Iterator[tuple[Path, str]]:
    """Build another commit in a folder, which is removed afterwards; yield the tree and its Python."""
    tree = folder / git("rev-parse", "--short", "--verify", f"{commit}^{{commit}}").decode().strip()
    shutil.rmtree(tree, ignore_errors=True)
    try:
        with tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", commit))) as files:
            files.extractall(tree, filter="data")
        for name in MEASURING:
            shutil.rmtree(tree / name, ignore_errors=True)
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        python = sys.executable
        if git("diff", "--name-only", commit, "--", *INSTALLED):
            python = str(installed(tree))
        subprocess.run((python, "-m", "compileall", "-qq", "console", "mailstore"), cwd=tree, check=True)
        yield tree, python
    finally:
        shutil.rmtree(tree, ignore_errors=True)


def installed(tree: Path) -> Path:
    """Install a tree into an environment of its own, and return the environment's Python."""
    home = tree / ".venv"
    subprocess.run((sys.executable, "-m", "venv", str(home)), check=True)
    python = home / "bin" / "python"
    pip = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run((*pip, "--constraint", "constraints.txt", "--editable", ".[dev]"), cwd=tree, check=True)
    return python


def run(tree: Path, python: str, subject: str, data: Path, words: Sequence[str]) -> Results:
    """Run one benchmark in a tree; what can't be measured there is said on standard error."""
    argv = (python, "-m", "benchmarks.run", "--only", subject, "--data", str(data), *words)
    (data / KEPT).unlink(missing_ok=True)
    done = subprocess.run(argv, cwd=tree, capture_output=True, text=True, check=False)
    results = Results()
    results.load(data / KEPT)
    if done.returncode:
        print(f"{subject} failed in {tree.name}:\n{done.stderr.strip()[-2_000:]}", file=sys.stderr, flush=True)
    return results


def compare(commit: str, data: Path, subjects: Sequence[str], words: Sequence[str]) -> str:
    """Measure this tree and a commit in turn, and return the report."""
    measured: tuple[Measured, Measured] = {}, {}
    with built(commit, data) as (tree, python):
        trees = ((tree, python), (ROOT, sys.executable))
        for subject in subjects:
            for turn in range(TURNS):
                for at in (0, 1) if turn % 2 == 0 else (1, 0):
                    found = run(*trees[at], subject, data, words)
                    for name, sizes in found.values.items():
                        for size, value in sizes.items():
                            measured[at].setdefault((name, size), []).append(value)
            print(f"{subject}: measured {TURNS} times each", file=sys.stderr, flush=True)
        return report(tree.name, *measured)


def report(commit: str, before: Measured, now: Measured) -> str:
    """Return a table of each figure in both trees; a difference counts where no turn of one lies among the other's."""
    rows = []
    for name, size in sorted({*before, *now}):
        one, other = before.get((name, size), []), now.get((name, size), [])
        label = f"{name}, {size:,}" if size else name
        rows.append((label, _span(one), _span(other), _ratio(one, other), _verdict(one, other)))
    return table(("figure", commit, "this tree", "this ÷ that", ""), rows)


def _span(values: Sequence[Value]) -> str:
    """Return the median and the range of some values."""
    if not values:
        return "not measured"
    numbers = [value.value for value in values]
    return f"{short(median(numbers))} {values[0].unit} ({short(min(numbers))} to {short(max(numbers))})"


def _ratio(before: Sequence[Value], now: Sequence[Value]) -> str:
    base = median(value.value for value in before) if before and now else 0.0
    return f"{median(value.value for value in now) / base:.2f} ×" if base else ""


def _verdict(before: Sequence[Value], now: Sequence[Value]) -> str:
    """Say which is more where the two ranges don't meet and there were turns enough to say so."""
    if min(len(before), len(now)) < TURNS:
        return ""
    one, other = [value.value for value in before], [value.value for value in now]
    return "more" if min(other) > max(one) else "less" if max(other) < min(one) else ""
