"""What tests of the console need not pay for: a style sheet parsed again, idle or deaf widgets, unused caches, and a
wait for each frame.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from time import monotonic
from types import CodeType
from typing import Any

from rich.segment import Segment
from textual import _callback, app, pilot, screen
from textual._context import active_app
from textual.app import ScreenError
from textual.cache import FIFOCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.message import Message
from textual.message_pump import MessagePump
from textual.pilot import Pilot, WaitForScreenTimeout
from textual.strip import Strip

from console.widgets.line_view import LineStrip
from tests.console.styled_once import style_once
from tests.patience import PATIENCE

MADE = (Strip, "__init__", Strip.__init__), (LineStrip, "__getattr__", LineStrip.__getattr__)
"""How the program makes lines."""
_parse = Stylesheet._parse_rules
_counted = _callback._count_parameters
_counts: dict[CodeType, int] = {}
_dispatched = MessagePump._get_dispatch_methods
_parsed: dict[frozenset[tuple[str, str]], dict[object, list[RuleSet]]] = {}


def _parse_once(self: Any, *args: Any, **more: Any) -> list[RuleSet]:
    known: dict[object, list[RuleSet]]
    variables, known = getattr(self, "_known_rules", (None, {}))
    if variables is not self._variables:
        known = _parsed.setdefault(frozenset(self._variables.items()), {})
        self._known_rules = self._variables, known
    key = args, tuple(more.items())
    rules = known.get(key)
    if rules is None:
        rules = known[key] = _parse(self, *args, **more)
    return rules


UPDATE_SECONDS = 1 / 500
"""How often what has changed is drawn: tests waited for the next sixtieth of a second as long as they ran."""
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
    if name in ("_link_ids", "_cell_count"):  # a line of ours begins without them
        return None
    if name not in CACHES:
        raise AttributeError(name)
    cache: FIFOCache[Any, Any] = FIFOCache(CACHES[name])
    setattr(self, name, cache)
    return cache


def _count_parameters(func: Callable[..., object]) -> int:
    """Count parameters as Textual does, once for all functions that one definition makes; a method has one less."""
    code = getattr(func, "__code__", None)
    if code is None or hasattr(func, "__wrapped__") or hasattr(func, "__self__"):
        return _counted(func)
    if code not in _counts:
        _counts[code] = _counted(func)
    return _counts[code]


@cache
def _named(kind: type[MessagePump], name: str, message: type[Message]) -> list[tuple[type, Any]] | None:
    """Return the handlers of a kind of message by name, of a widget's class and then of those above; None if any is
    declared by a decorator, which may ask for the sender.
    """
    if any(vars(each).get("_decorated_handlers", {}).keys() & message.__mro__ for each in kind.__mro__):
        return None
    found = [(each, vars(each).get(f"_{name}") or vars(each).get(name)) for each in kind.__mro__]
    return [(each, method) for each, method in found if method is not None and not hasattr(method, "_textual_on")]


def _handlers(self: Any, method_name: str, message: Message) -> Iterable[tuple[type, Any]]:
    """Return who handles a message as Textual does, without looking through all classes of a widget each time."""
    named = _named(type(self), method_name, type(message))  # type: ignore[arg-type]
    for kind, method in _dispatched(self, method_name, message) if named is None else named:
        if message._no_default_action:
            break
        yield kind, method if named is None else method.__get__(self, kind)


def _is_waiting(pump: MessagePump) -> bool:
    """Say whether a widget has handled all its messages and waits for the next."""
    queue = getattr(pump, "_message_queue", None)
    return queue is not None and not queue.values and bool(queue.ready_event._waiters) and not pump._next_callbacks


async def _wait_for_busy(self: Pilot[Any], timeout: float = 30.0) -> bool:
    """Wait as a pilot does until all messages are handled, but ask only those that don't wait for one themselves.

    One that goes meanwhile takes the question with it, so they are looked at again.
    """
    try:
        shown = self.app.screen
    except ScreenError:  # it has ended
        return False
    busy = [each for each in (self.app, shown, *shown.walk_children()) if not _is_waiting(each)]
    answered: set[MessagePump] = set()
    is_done = asyncio.Event()

    def answer(pump: MessagePump) -> None:
        answered.add(pump)
        is_done.set()

    busy = [pump for pump in busy if pump.call_later(answer, pump)]
    end = monotonic() + timeout
    while any(pump not in answered and not pump._closed for pump in busy):
        if self.app._exception is not None:
            return False
        if monotonic() > end:
            raise WaitForScreenTimeout("widgets did not handle their messages in time")
        is_done.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await is_done.wait()
    await asyncio.sleep(0)
    return True


async def _wait_for_rest(min_sleep: float = 0, max_sleep: float = PATIENCE) -> None:
    """Wait until no callback of the event loop is ready, and draw until what waits for the drawing has run too.

    Textual looks whether the process uses little processor time, which is the case on a loaded machine, too; and for a
    second at most, within which such a machine may do nothing.
    """
    loop: Any = asyncio.get_running_loop()
    app = active_app.get()
    end = monotonic() + max_sleep
    for _ in range(3):
        quiet = 0
        while quiet < 2 and monotonic() < end:
            await asyncio.sleep(0)
            quiet = 0 if loop._ready else quiet + 1
        if app._exit:
            return
        app.screen._on_timer_update()


async def _pause(self: Pilot[Any], delay: float | None = None) -> None:
    """Pause as a pilot does."""
    await self._wait_for_screen()
    if delay is not None:
        await asyncio.sleep(delay)
    await _wait_for_rest()


def spare() -> None:
    """Take effect for all consoles that are opened in this process."""
    Stylesheet._parse_rules = _parse_once  # type: ignore[method-assign]
    style_once()
    screen.UPDATE_PERIOD = UPDATE_SECONDS  # type: ignore[misc]
    MessagePump._get_dispatch_methods = _handlers  # type: ignore[method-assign]
    _callback._count_parameters = _count_parameters
    Strip.__init__ = _begin_strip  # type: ignore[method-assign]
    Strip.__getattr__ = LineStrip.__getattr__ = _cache_of_strip  # type: ignore[attr-defined,method-assign]
    app.wait_for_idle = _wait_for_rest  # type: ignore[attr-defined]
    pilot.wait_for_idle = _wait_for_rest  # type: ignore[attr-defined]
    Pilot.pause = _pause  # type: ignore[method-assign]
    Pilot._wait_for_screen = _wait_for_busy  # type: ignore[method-assign]
