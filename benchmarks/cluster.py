"""A mailbox on three nodes while nodes fail, and what it costs: python -m benchmarks.cluster [--quick] [--only PART].

Thirty agents send, two consoles are open; each node is killed in turn, one is frozen, the disk of one is full. Then the
times of sending, of a message's way to the screen, and of opening, beside the file store. Writes benchmarks/CLUSTER.md.
"""

from __future__ import annotations

import argparse
import os
import platform
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
from console.demo.nats_server import nats_program

__all__ = ["main"]

PAGE = Path(__file__).parent / "CLUSTER.md"
PARTS: dict[str, Callable[[Path, bool], str]] = {"faults": failing, "send": sent, "append": appended, "open": opened}
TEXT = """# A mailbox on NATS servers: results

Taken by `python -m benchmarks.cluster` on {date}: {cores} cores shared by all servers, agents and consoles,
{system} {machine}, Python {python}, nats-py {client}, {server}.

All nodes are on loopback and on one disk. A message is acknowledged when `send` returns; a console is a real one in a
pseudo-terminal of 100 × 30, of which an emulator reads the number of messages in the header.

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
    if not (args.quick or args.only):
        PAGE.write_text(_page(texts), encoding="utf-8")
    return 0


def _page(texts: list[str]) -> str:
    program = nats_program()
    assert program is not None
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return TEXT.format(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        cores=os.cpu_count(),
        system=platform.system(),
        machine=platform.machine(),
        python=platform.python_version(),
        client=version("nats-py"),
        server=said,
        parts="\n".join(texts),
    )


if __name__ == "__main__":
    sys.exit(main())
