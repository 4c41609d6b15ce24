"""What tests of the console need not pay for: parsing a style sheet again, asking idle widgets, unused caches."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from rich.segment import Segment
from textual.app import ScreenError
from textual.cache import FIFOCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.message_pump import MessagePump
from textual.pilot import Pilot, WaitForScreenTimeout
from textual.strip import Strip

from tests.console.styled_once import style_once

_parse = Stylesheet._parse_rules
_parsed: dict[tuple[object, ...], list[RuleSet]] = {}


def _parse_once(self: Stylesheet, *args: Any, **more: Any) -> list[RuleSet]:
    key = (args, frozenset(more.items()), frozenset(self._variables.items()))
    rules = _parsed.get(key)
    if rules is None:
        rules = _parsed[key] = _parse(self, *args, **more)
    return rules


CACHES = {
    "_divide_cache": 4,
    "_crop_cache": 16,
    "_style_cache": 16,
    "_filter_cache": 4,
    "_line_length_cache": 4,
    "_crop_extend_cache": 4,
    "_offsets_cache": 4,
}


def _begin_strip(self: Any, segments: Iterable[Segment], cell_length: int | None = None) -> None:
    """Make a strip as Textual does, but for its seven caches: each painting makes a thousand strips that use none."""
    self._segments = list(segments)
    self._cell_length = cell_length
    self._render_cache = self._link_ids = self._cell_count = None


def _cache_of_strip(self: Strip, name: str) -> Any:
    if name not in CACHES:
        raise AttributeError(name)
    cache: FIFOCache[Any, Any] = FIFOCache(CACHES[name])
    setattr(self, name, cache)
    return cache


def _is_waiting(pump: MessagePump) -> bool:
    """Say whether a widget has handled all its messages and waits for the next."""
    queue = getattr(pump, "_message_queue", None)
    return queue is not None and not queue.values and bool(queue.ready_event._waiters) and not pump._next_callbacks


async def _wait_for_busy(self: Pilot[Any], timeout: float = 30.0) -> bool:
    """Wait as a pilot does until all messages are handled, but ask only those that don't wait for one themselves."""
    try:
        screen = self.app.screen
    except ScreenError:  # it has ended
        return False
    pumps = [self.app, screen, *screen.walk_children()]
    left = 0
    is_done = asyncio.Event()

    def count_down() -> None:
        nonlocal left
        left -= 1
        if not left:
            is_done.set()

    left = sum([pump.call_later(count_down) for pump in pumps if not _is_waiting(pump)])
    if left:
        ends = [asyncio.create_task(each.wait()) for each in (is_done, self.app._exception_event)]
        done, pending = await asyncio.wait(ends, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        for each in pending:
            each.cancel()
        if not done:
            raise WaitForScreenTimeout("widgets did not handle their messages in time")
    else:
        await asyncio.sleep(0)
    return not left


def spare() -> None:
    """Take effect for all consoles that are opened in this process."""
    Stylesheet._parse_rules = _parse_once  # type: ignore[method-assign]
    style_once()
    Strip.__init__ = _begin_strip  # type: ignore[method-assign]
    Strip.__getattr__ = _cache_of_strip  # type: ignore[attr-defined]
    Pilot._wait_for_screen = _wait_for_busy  # type: ignore[method-assign]
