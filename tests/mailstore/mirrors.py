"""Mirrors between mailboxes, as tests run them: once, or following in the background."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import Any

from mailstore.mirroring.mirror import Mirror, MirrorPauses, MirrorReports
from mailstore.mirroring.mirror_report import MirrorStatus
from mailstore.mirroring.mirror_state import MirrorState
from mailstore.store import Store
from mailstore.transfer.compare import Contents

Opened = Callable[[], Store]
SOON = MirrorPauses(0.02, 0.2, 2.0)


def message_record(name: str, content: str = "A text.", **fields: Any) -> dict[str, Any]:
    """Return the fields of a message."""
    usual = {"sender": "bob-00000001", "recipient": "ann-00000001", "timestamp": "2026-03-16T12:00:00Z"}
    return {"id": name, **usual, "content": content, **fields}


def _made(first: Opened, second: Opened, state: MirrorState, urls: tuple[str, str], is_both: bool) -> Mirror:
    quiet = MirrorReports(lambda words, done, total: None, lambda status: None)
    return Mirror(urls, (first, second), state, quiet, is_both=is_both, pauses=SOON)


def _urls(*opened: Opened) -> tuple[str, str]:
    with opened[0]() as first, opened[1]() as second:
        return first.url, second.url


def mirrored(
    first: Opened, second: Opened, *, is_both: bool = True, urls: tuple[str, str] | None = None
) -> MirrorStatus:
    """Mirror two mailboxes once. Raises MailError."""
    urls = urls or _urls(first, second)
    with MirrorState.held(*urls) as state:
        mirror = _made(first, second, state, urls, is_both)
        asyncio.run(mirror.run(once=True))
    return mirror.status


@asynccontextmanager
async def following(*pairs: tuple[Opened, Opened]) -> AsyncIterator[list[MirrorStatus]]:
    """Mirror pairs of mailboxes both ways in the background."""
    with ExitStack() as stack:
        mirrors = []
        for first, second in pairs:
            urls = _urls(first, second)
            state = stack.enter_context(MirrorState.held(*urls))
            mirrors.append(_made(first, second, state, urls, True))
        tasks = [asyncio.create_task(mirror.run()) for mirror in mirrors]
        try:
            yield [mirror.status for mirror in mirrors]
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task


async def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until something is so. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not await asyncio.to_thread(condition):
            await asyncio.sleep(0.01)


def contents(opened: Opened) -> tuple[Contents, dict[str, str]]:
    """Return the contents of a mailbox, and the text of each message."""
    with opened() as store:
        found = Contents(store)
        return found, {name: store.content(message) for name, message in found.messages.items()}
