"""The console in a terminal that is none: opened on mailbox files, typed into, and read as lines of text."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any

from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.app import App
from textual.events import Key, MouseDown, MouseMove, MouseUp, Paste
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, TextArea
from textual.worker import Worker

from console.app import SignalboxApp
from console.screens.desks.attention_watch import TOLD
from console.screens.main_screen import MainScreen
from console.settings.config import Config
from console.state.personal_state import PersonalState
from mailstore.haak import HaakStore
from mailstore.registry import open_store
from tests.console.spared import spare
from tests.mailboxes import NOW
from tests.patience import PATIENCE

ENDLESS = {"feed", "hooks", "usage", "themes", "notifications"}
"""Groups of workers that run as long as the console, or that wait for another program."""
spare()

FRAME_SECONDS = 1 / 50
"""A little more than a frame: what is drawn with the next one stands on the screen then."""
ROUNDS = 12


def screen_lines(app: App[Any]) -> list[str]:
    """Return what stands on an app's screen, a string a line, blanks at the ends cut.

    An exported screenshot holds the same and takes ten times as long, which a suite that looks so often feels.
    """
    visible_screen_stack.set(app._background_screens)  # a dialog shows what is behind it
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


async def await_timers(pilot: Pilot[Any]) -> None:
    """Wait for the timers that are due within a frame, and for those that they begin; one that repeats is left alone.

    Rounds are counted and not time: on a loaded machine a single one may take longer than a frame.
    """
    loop = asyncio.get_running_loop()
    for _ in range(ROUNDS):
        due = min((each.when() for each in loop._scheduled if not each.cancelled()), default=inf) - loop.time()
        if due >= FRAME_SECONDS or pilot.app._exit:
            return
        await pilot.pause(max(due, 0.001))


def _is_asking(worker: Worker[Any]) -> bool:
    """Say whether a worker waits for a dialog's answer."""
    step = worker._task.get_coro() if worker._task is not None else None
    while step is not None:
        if getattr(step, "__name__", "") == "ask_and_wait":
            return True
        step = getattr(step, "cr_await", None)
    return False


async def _await_work(pilot: Pilot[Any]) -> bool:
    """Wait for the workers that end by themselves; return whether there were any."""
    workers = [it for it in pilot.app.workers if it.group not in ENDLESS and not it.is_finished]
    waited = False
    for worker in workers:
        while not worker.is_finished and not _is_asking(worker) and not pilot.app._exit:
            waited = True
            assert worker._task is not None
            await asyncio.wait({worker._task}, timeout=0.005)
    return waited


async def settle(pilot: Pilot[Any]) -> None:
    """Wait until nothing that was begun is under way any more, or the console quits; the feed is not waited for."""
    quiet = 0
    async with asyncio.timeout(PATIENCE):
        while quiet < 2 and not pilot.app._exit:
            await pilot.pause()
            waited = await _await_work(pilot)
            if quiet:
                await await_timers(pilot)
            desk = getattr(pilot.app, "main_screen", None)
            is_drawn = desk is None or desk.is_drawn
            if not is_drawn:
                await asyncio.sleep(0.005)  # for the timer that draws
            quiet = quiet + 1 if is_drawn and not waited else 0


async def until(pilot: Pilot[Any], holds: Callable[[], object], what: str = "") -> None:
    """Wait until something holds; fails when it does not within some seconds."""
    deadline = monotonic() + PATIENCE
    while not holds():
        assert monotonic() < deadline, what or f"{holds} never held; on the screen:\n" + "\n".join(
            screen_lines(pilot.app)
        )
        await asyncio.sleep(0)
        await pilot.pause(0.01)


class Seat:
    """Where a person sits: presses keys, looks at the screen."""

    def __init__(self, app: SignalboxApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> MainScreen:
        assert self.app.main_screen is not None
        return self.app.main_screen

    @property
    def lines(self) -> list[str]:
        return screen_lines(self.app)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def notice(self) -> str:
        return self.screen.footer.notice

    async def press(self, *keys: str) -> None:
        """Press keys, each after what the one before has begun, but letters in a field at once; with none, wait."""
        if not keys:
            await settle(self.pilot)
        left = deque(keys)
        while left:
            if isinstance(self.app.focused, Input | TextArea) and len(left[0]) == 1:
                while left and len(left[0]) == 1:  # a word is typed as one, whatever each of its letters begins
                    char = left.popleft()
                    self.app.post_message(Key(_character_to_key(char), char))
            else:
                await self.pilot.press(left.popleft())
            await settle(self.pilot)

    async def type(self, text: str) -> None:
        await self.press(*text)

    async def paste(self, text: str) -> None:
        """Paste a long text where the focus is: typing it takes its time."""
        self.app.post_message(Paste(text))
        await settle(self.pilot)

    async def drag(self, begin: tuple[int, int], *onward: tuple[int, int], shift: bool = False) -> None:
        """Press the mouse button on a cell, move through others, and release it on the last."""
        at = begin
        for kind, (x, y) in [(MouseDown, begin), *((MouseMove, cell) for cell in onward), (MouseUp, onward[-1])]:
            moved = x - at[0], y - at[1]
            self.app.post_message(kind(None, x, y, *moved, 1, shift, False, False, x, y))
            at = x, y
            await self.pilot.pause()
        await settle(self.pilot)

    async def until(self, holds: Callable[[], object], what: str = "") -> None:
        await until(self.pilot, holds, what)

    async def sees(self, words: str) -> None:
        """Wait until words stand on the screen."""
        await self.until(lambda: words in self.text)
        await settle(self.pilot)

    async def open_thread(self, root: str) -> None:
        """Go to a thread of the list, and open it as enter does."""
        self.screen.threads.focus()
        assert self.screen.threads.select(root), f"{root} is not listed"
        await settle(self.pilot)
        await self.press("enter")


@contextmanager
def painted_when_looked_at() -> Iterator[None]:
    """Don't paint what no terminal shows: `screen_lines` paints the whole screen itself, and a test looks rarely."""
    paint = Compositor.render_update

    def skip(
        compositor: Compositor,
        full: bool = False,
        screen_stack: list[Screen[Any]] | None = None,
        simplify: bool = False,
    ) -> Any:
        if full:
            return paint(compositor, full, screen_stack, simplify)
        compositor._dirty_regions.clear()
        return None

    Compositor.render_update = skip  # type: ignore[method-assign]
    try:
        yield
    finally:
        Compositor.render_update = paint  # type: ignore[method-assign]


@asynccontextmanager
async def opened(
    data: Path | str,
    *,
    size: tuple[int, int] = (120, 40),
    state: Path | None = None,
    now: float = NOW,
    config: Config | None = None,
    is_first_start: bool = False,
    **more: Any,
) -> AsyncIterator[Seat]:
    """Open the console on the mailbox in a folder, or of a URL, at a standing clock, and wait until all is read.

    Unless it is the first start, the user has been told before which key leads to what needs them.
    """
    kept = PersonalState(state or Path(data) / "own-state.db")
    with open_store(data) if isinstance(data, str) else HaakStore.open(data) as store:
        app = SignalboxApp(store, config or Config(), state=kept, clock=lambda: now, **more)
        app.animation_level = "none"
        if not is_first_start:
            app.session.personal.remember(TOLD, True)
        try:
            with painted_when_looked_at():
                async with app.run_test(size=size, notifications=True) as pilot:
                    await until(pilot, lambda: app.main_screen is not None and not app.session.is_loading)
                    await settle(pilot)
                    yield Seat(app, pilot)
        finally:
            kept.close()
