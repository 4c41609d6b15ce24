"""The simulated agents as a process of their own: `python -m console.demo.agents FOLDER`.

It writes into the mailbox of a demo as any program would, until a signal ends it, its parent ends or the folder is
removed. Errors are logged to a file in that folder, never to a terminal.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from console.demo.cast import MARKER
from console.demo.company import Company
from console.demo.responder import Responder
from console.demo.scenario import Scenario
from mailstore.errors import MailError
from mailstore.records.events import Event
from mailstore.records.message import Message
from mailstore.registry import open_store
from mailstore.store import Store

LOG = "demo-agents.log"
LOG_BYTES = 64 * 1024
FIRST_PAUSE = 1.0
PAUSE = (2.0, 6.0)
GUARD_EVERY = 0.25
AGAIN_AFTER = 1.0
RECENT = 60.0
"""Seconds before the start from which a message of the user is still answered."""


class Stage:
    """Runs the agents on one mailbox; `speed` makes their time pass faster, not the mailbox's."""

    def __init__(self, store: Store, folder: Path, *, seed: int | None, speed: float, parent: int) -> None:
        self._store = store
        self._folder = folder
        self._speed = speed
        self._parent = parent
        self._is_child = os.getppid() == parent
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        rng = Random(seed)  # noqa: S311 - a plot, not a secret
        self._rng = rng
        self._company = Company(store, rng, time.time)
        self._plot = Scenario(self._company, lambda: self._loop.time() * speed)
        self._attention = Responder(self._company, self._later, time.time() - RECENT)

    async def run(self) -> None:
        """Read the mailbox, then let the agents live until the end."""
        for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self._loop.add_signal_handler(sign, self._end.set)
        self._loop.set_exception_handler(self._fault)
        self._guard()
        following = asyncio.create_task(self._follow())
        following.add_done_callback(lambda _: self._end.set())
        await self._end.wait()
        following.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await following

    async def _follow(self) -> None:
        for batch in self._store.scan():
            self._company.take(batch)
            await asyncio.sleep(0)
        self._attempt(self._attention.catch_up)
        self._later(FIRST_PAUSE, self._step)
        while True:
            try:
                async for batch in self._store.changes():
                    self._take(batch)
            except MailError as error:
                self._note(error)
            await asyncio.sleep(AGAIN_AFTER)

    def _take(self, batch: list[Event]) -> None:
        self._company.take(batch)
        for event in batch:
            if isinstance(event, Message):
                self._attempt(partial(self._attention.notice, event))

    def _step(self) -> None:
        self._later(self._rng.uniform(*PAUSE), self._step)
        self._plot.step()

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        self._loop.call_later(seconds / self._speed, self._attempt, act)

    def _attempt(self, act: Callable[[], None]) -> None:
        if self._end.is_set():
            return
        try:
            act()
        except MailError as error:
            self._note(error)

    def _guard(self) -> None:
        if not (self._folder / MARKER).exists() or not self._is_watched():
            self._end.set()
        else:
            self._loop.call_later(GUARD_EVERY, self._guard)

    def _is_watched(self) -> bool:
        """Say whether the process that the agents play for still runs."""
        if self._is_child:
            return os.getppid() == self._parent
        try:
            with contextlib.suppress(PermissionError):
                os.kill(self._parent, 0)
        except ProcessLookupError:
            return False
        return True

    def _note(self, error: MailError) -> None:
        _log(self._folder, str(error))

    def _fault(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        _log(self._folder, f"ended by {context.get('exception') or context['message']!r}")
        self._end.set()


def _log(folder: Path, text: str) -> None:
    path = folder / LOG
    with contextlib.suppress(OSError):
        if not path.exists() or path.stat().st_size < LOG_BYTES:
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text}\n")


async def _play(folder: Path, url: str, seed: int | None, speed: float, parent: int) -> None:
    with open_store(url) as store:
        await Stage(store, folder, seed=seed, speed=speed, parent=parent).run()


def main(words: list[str] | None = None) -> int:
    """Play until ended; return 0, or 1 if the folder holds no demo or something went wrong."""
    parser = argparse.ArgumentParser(prog="python -m console.demo.agents", description=main.__doc__)
    parser.add_argument("folder", type=Path, help="the data folder of a demo's mailbox")
    parser.add_argument("--seed", type=int, help="the same figures and choices each time")
    parser.add_argument("--speed", type=float, default=1.0, help="how much faster than life (default: 1)")
    parser.add_argument("--parent", type=int, default=os.getppid(), help="end when this process has ended")
    parser.add_argument("--store", metavar="URL", help="the demo's mailbox, if it is not in the folder")
    args = parser.parse_args(words)
    if args.speed <= 0:
        parser.error("--speed must be more than 0")
    if not (args.folder / MARKER).is_file():
        parser.error(f"{args.folder} holds no mailbox of a demo: agents are simulated nowhere else")
    try:
        asyncio.run(_play(args.folder, args.store or f"haak:{args.folder}", args.seed, args.speed, args.parent))
    except Exception as error:  # nothing else reports it
        _log(args.folder, f"ended by {type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
