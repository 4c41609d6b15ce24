"""`signalbox mirror A B`: write what is new in one mailbox into another, and back, until interrupted."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from console.cli.document import JsonLines, JsonOutput
from console.cli.options import json_option
from console.cli.plain import columns, put
from console.cli.progress import ProgressLine
from console.cli.settings import settings
from console.cli.terminal_io import run_loop
from console.errors import Refused
from console.render.safe import visible_line
from console.render.timestamps import iso_time
from mailstore.errors import StoreError
from mailstore.mirroring.mirror import Mirror, MirrorReports
from mailstore.mirroring.mirror_report import NOT_READ_BACK, MirrorCounts, MirrorEnd, MirrorStatus
from mailstore.mirroring.mirror_state import MirrorState
from mailstore.records.scope import KIND as SEVERAL
from mailstore.registry import kinds, open_store, store_class
from mailstore.store import Store

CHANGES = JsonLines(MirrorStatus)
FINAL = JsonOutput(MirrorStatus, "--once")
OUTPUTS = (CHANGES, FINAL)

STATUSES = {
    1: "an id stands for different messages in the two mailboxes, or a message that was written was not read back"
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help="Mailbox to follow: KIND:PATH, a path, or KIND://HOST/NAME")
    parser.add_argument("second", metavar="B", help="Mailbox to write to, which must exist: signalbox init")
    parser.add_argument("--both", action="store_true", help="Write what is new in B into A too")
    parser.add_argument("--once", action="store_true", help="Exit when B has everything (with --both, A too)")
    parser.add_argument("--poll", action="store_true", help="Poll for changes")
    json_option(parser, "Print a line of JSON for each change; with --once one document")


def run(args: argparse.Namespace) -> int:
    """Mirror until interrupted, or once; return 1 if an id stands for different messages in the two."""
    poll = args.poll or settings().poll
    urls = _checked(args, poll)
    lines = _Lines(is_json=args.json, is_once=args.once)
    if not (args.once or args.json):
        put(visible_line(f"A is {urls[0]}"))
        put(visible_line(f"B is {urls[1]}"))
        sys.stdout.flush()
    with MirrorState.held(*urls) as state:
        mirror = Mirror(
            urls,
            (lambda: open_store(args.first, poll=poll), lambda: open_store(args.second, poll=poll)),
            state,
            MirrorReports(ProgressLine(is_shown=not args.json), lines.take),
            is_both=args.both,
        )
        with suppress(asyncio.CancelledError):
            run_loop(_run(mirror, once=args.once))
    if args.once:
        _report(mirror.status, is_json=args.json)
    is_missing = any((loss.what, loss.after) == ("message", NOT_READ_BACK) for loss in mirror.status.losses)
    return int(is_missing or mirror.status.conflict_number > 0)


async def _run(mirror: Mirror, *, once: bool) -> None:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await mirror.run(once=once)


def _checked(args: argparse.Namespace, poll: bool) -> tuple[str, str]:
    """Return the URLs of both mailboxes; refuse what can't be mirrored."""
    urls = []
    for text, is_written in ((args.first, args.both), (args.second, True)):
        with open_store(text, poll=poll) as store:
            _check(store, is_written)
            urls.append(store.url)
    if urls[0] == urls[1]:
        raise Refused("A and B are the same mailbox", "name two", "E208")
    return urls[0], urls[1]


def _check(store: Store, is_written: bool) -> None:
    if store.kind == SEVERAL:
        raise Refused(f"{store.title} is several mailboxes", "mirror them one by one", "E209")
    if is_written and not store.can_merge:
        raise Refused(
            f"{store.called()} can't hold messages with their ids, senders and times",
            f"only {', '.join(_mergeable())} can; signalbox convert copies into this kind once",
            "E210",
        )


def _mergeable() -> Iterator[str]:
    """Yield the kinds that can be mirrored into."""
    for kind in kinds():
        with suppress(StoreError):  # a kind that can't be loaded
            if store_class(kind).can_merge:
                yield kind


class _Lines:
    """Prints a line for whatever a mirror did since the last one."""

    def __init__(self, *, is_json: bool, is_once: bool) -> None:
        self._is_json = is_json
        self._is_once = is_once
        self._written: dict[str, MirrorCounts] = {}
        self._reasons: dict[str, str] = {}
        self._conflicts = 0
        self._was_equal = False

    def take(self, status: MirrorStatus) -> None:
        """Print what has changed."""
        lines = list(self._news(status))
        if self._is_once or not lines:
            return
        if self._is_json:
            CHANGES.put(status)
            return
        for line in lines:
            put(visible_line(f"{iso_time(time.time())} {line}"))
        sys.stdout.flush()

    def _news(self, status: MirrorStatus) -> list[str]:
        lines: list[str] = []
        for name, end in zip("AB", status.ends, strict=True):
            if end.reason != self._reasons.get(name, ""):
                lines.append(f"{name} is cut off: {end.reason}" if end.reason else f"{name} is back")
                self._reasons[name] = end.reason
            if words := self._since_last(end).words():
                lines.append(f"{'B → A' if name == 'A' else 'A → B'}: {words}")
        if status.conflict_number > self._conflicts:
            conflict = status.conflicts[-1]
            lines.append(f"id conflict: {conflict.id} is “{conflict.first}” in A and “{conflict.second}” in B")
        self._conflicts = status.conflict_number
        if status.phase == "following" and not self._was_equal and status.equal_at is not None:
            lines.append("both hold the same" if status.is_both else "B holds everything of A")
            self._was_equal = True
        return lines

    def _since_last(self, end: MirrorEnd) -> MirrorCounts:
        before = self._written.get(end.url)
        if before is None:
            before = msgspec.structs.replace(end.written)
        now = msgspec.structs.asdict(end.written)
        self._written[end.url] = msgspec.structs.replace(end.written)
        return MirrorCounts(**{name: number - getattr(before, name) for name, number in now.items()})


def _report(status: MirrorStatus, *, is_json: bool) -> None:
    if is_json:
        FINAL.put(status)
        return
    for end in status.ends if status.is_both else status.ends[1:]:
        put(visible_line(f"{end.url}: {end.run.words() or 'nothing new'}"))
    if status.losses:
        rows = [
            (loss.what, f"{loss.number:,}", loss.target, loss.before, loss.after, ", ".join(loss.examples[:3]))
            for loss in status.losses
        ]
        put("")
        put("Not mirrored, or changed:")
        put(columns(rows, ("what", "records", "to", "source", "there", "examples")))
    if status.conflicts:
        put("")
        put("The same id, another message (both stay as they are):")
        put(
            columns([(conflict.id, conflict.first, conflict.second) for conflict in status.conflicts], ("id", "A", "B"))
        )
    if not status.losses and not status.conflicts:
        put("Both hold the same" if status.is_both else "B holds everything of A")
