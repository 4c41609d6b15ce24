"""A mailbox on three nodes while nodes fail, and what it costs: python -m benchmarks.cluster [--quick] [--only PART].

Thirty agents send, two consoles are open; each node is killed in turn, one is frozen, the disk of one is full. Then the
times of sending, of a message's way to the screen, and of opening, beside the file store. Writes benchmarks/CLUSTER.md,
or, with --only, replaces its sections.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.cluster_figures import appended, opened, sent
from benchmarks.cluster_run import failing
from mailstore.kinds.nats.own_server import nats_program

PAGE = Path(__file__).parent / "CLUSTER.md"
PARTS: dict[str, Callable[[Path, bool], str]] = {"faults": failing, "send": sent, "append": appended, "open": opened}
HEADINGS = ("## Nodes that fail", "## Send", "## A message's way to the screen", "## Opening")
TEXT = """# A mailbox on NATS servers: results

Taken by `python -m benchmarks.cluster` on {date}: {cores} cores shared by all servers, agents and consoles,
{system} {machine}, Python {python}, nats-py {client}, {server}.

Its load in the last quarter of an hour was {load:.0f}: other programs ran at the same time, so compare the rows rather
than the figures. All nodes are on loopback and on one disk. A message is acknowledged when `send` returns; a console is
a real one in a pseudo-terminal, of which an emulator reads the number of messages in the header.

{parts}"""


def main(words: list[str] | None = None) -> int:
    """Measure the parts and write the page; print it instead where only some were asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cluster", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="Small numbers: shows that it works, prints the page")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="Measure this part alone; repeatable")
    args = parser.parse_args(words)
    texts = []
    for name, measure in PARTS.items():
        if args.only and name not in args.only:
            continue
        print(f"{name} …", file=sys.stderr, flush=True)
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="signalbox-cluster-", ignore_cleanup_errors=True) as folder:
            texts.append(measure(Path(folder), args.quick))
        print(f"{name}: {time.monotonic() - begun:.0f} s\n{texts[-1]}", file=sys.stderr, flush=True)
    if not args.quick:
        PAGE.write_text(_page(_sections(texts)), encoding="utf-8")
    return 0


def _sections(texts: list[str]) -> list[str]:
    """Return the sections of the page, those that were measured now in place of those that were kept."""
    kept = re.split(r"(?m)^(?=## )", PAGE.read_text(encoding="utf-8"))[1:] if PAGE.exists() else []
    found = {text.partition("\n")[0]: text.rstrip("\n") + "\n" for text in (*kept, *texts)}
    return [found[heading] for heading in HEADINGS if heading in found]


def _page(texts: list[str]) -> str:
    program = nats_program()
    assert program is not None
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return TEXT.format(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        cores=os.cpu_count(),
        load=os.getloadavg()[2],
        system=platform.system(),
        machine=platform.machine(),
        python=platform.python_version(),
        client=version("nats-py"),
        server=said,
        parts="\n".join(texts),
    )


if __name__ == "__main__":
    sys.exit(main())
