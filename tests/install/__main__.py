"""Install the program with pip, pipx and uv, each into an empty environment, and use it; print what that took.

python -m tests.install [--ways pip pipx uv oldest] [--python PATH] [--keep DIR]

In each: one command installs the wheel that is built from this checkout; `signalbox demo` opens in a terminal; the
command of every extra says what to run, which is then run as it stands, and works. `oldest` takes the oldest versions
of other packages that `pyproject.toml` allows. Needs a package index.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from tests.install.probes import PROBES, remedy_in, works
from tests.install.ways import ROOT, WAYS, Empty, Failed, Way, megabytes, tools_in
from tests.terminal import Terminal

COLUMNS = "{:<6} {:<34} {:>9} {:>9}"


def main() -> int:
    """Install in each way; 1 if one fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.install", description=__doc__)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--python", default=getattr(sys, "_base_executable", sys.executable))
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what was installed in DIR")
    args = parser.parse_args()
    with ExitStack() as ends:
        place = args.keep or Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="signalbox-install-")))
        place.mkdir(parents=True, exist_ok=True)
        wheel = built(place / "dist")
        tools = tools_in(place / "tools")
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {args.python}")
        print(COLUMNS.format("way", "what", "seconds", "MB"))
        failures = 0
        for name in args.ways:
            try:
                tried(WAYS[name], place / name, args.python, wheel, tools)
            except (Failed, AssertionError, subprocess.TimeoutExpired) as error:
                failures += 1
                print(f"{name}: {error}", file=sys.stderr)
    return 1 if failures else 0


def built(place: Path) -> Path:
    """Build the wheel of this checkout."""
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return next(place.glob("*.whl"))


def tried(way: Way, home: Path, python: str, wheel: Path, tools: Mapping[str, Path]) -> None:
    """Install in one way, use it, add each extra as its message says, then all at once. Raises Failed."""
    empty = Empty(home, python, [tools[name] for name in way.tools])
    done = way.installed(empty, wheel)
    said(way, "one command", done.seconds, megabytes(home / way.environment))
    said(way, "signalbox --version", empty.must("signalbox", "--version").seconds)
    said(way, "signalbox demo, until mail is shown", shown_demo(empty))
    empty.must("signalbox", "init")
    empty.must("signalbox", "roster", "register", "ann-00000001", "--role", "librarian")
    for extra, probe in PROBES.items():
        probe.prepare(home)
        if works(empty, extra):
            print(COLUMNS.format(way.name, f"[{extra}]", "is there", ""))
            continue
        remedy = remedy_in(empty.run("signalbox", *probe.words)) or ""
        added = empty.must("sh", "-c", remedy)
        if not works(empty, extra):
            raise Failed(f"{remedy}\ndid not help")
        said(way, f"[{extra}], as its message says", added.seconds, megabytes(home / way.environment))
        print(" " * 7 + remedy.replace(str(home), "~").replace(wheel.as_uri(), "WHEEL"))
    for extra in PROBES:
        if not works(empty, extra):
            raise Failed(f"[{extra}] was lost when another was added")
    other = Empty(home / "another", python, [tools[name] for name in way.tools])
    done = way.installed(other, wheel, "[all]")
    said(way, "[all], in one command", done.seconds, megabytes(other.home / way.environment))


def said(way: Way, what: str, seconds: float, size: float | None = None) -> None:
    """Print a line of the table."""
    size_text = "" if size is None else f"{size:.0f}"
    print(COLUMNS.format(way.name, what, f"{seconds:.2f}", size_text), flush=True)


def shown_demo(empty: Empty) -> float:
    """Open the demo in a terminal and leave it; return the seconds until its mail is shown. Raises AssertionError."""
    program = empty.run("sh", "-c", "command -v signalbox").out.strip()
    start = time.monotonic()
    with Terminal([program, "demo", "--seed", "1"], env=empty.env, cwd=empty.home) as terminal:
        terminal.wait_for("#inscription")
        seconds = time.monotonic() - start
        terminal.press("q")
        status = terminal.wait_exit()
    if status:
        raise Failed(f"signalbox demo ended with status {status}")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
