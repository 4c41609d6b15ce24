"""A real Chromium without a window, and what a person would see and do in it.

It runs on an event loop of its own, in a thread: the tests call it and wait. Nothing sleeps: the page tells when the
terminal has drawn something.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, Self, TypeVar

from tests.patience import PATIENCE

T = TypeVar("T")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
"""Looked for when the tests are collected: they run with a PATH of their own."""
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--mute-audio")

TRAP = """
window.terminalReady = new Promise((ready) => {
  Object.defineProperty(Object.prototype, "_terminal", {
    configurable: true,
    set(value) {
      Object.defineProperty(this, "_terminal", { value, writable: true, configurable: true });
      if (value && value.buffer) {
        delete Object.prototype._terminal;
        setTimeout(() => ready(value), 0);
      }
    },
  });
});
window.cells = (terminal) =>
  Array.from({ length: terminal.rows }, (_, y) => {
    const line = terminal.buffer.active.getLine(y);
    return line ? line.translateToString(true) : "";
  }).join("\\n");
"""
"""The terminal is nobody's but its module's: its first addon is given it."""

SEEN = """
async ([text, isThere]) => {
  const terminal = await window.terminalReady;
  return await new Promise((resolve) => {
    const look = () => {
      const shown = window.cells(terminal);
      if (shown.includes(text) === isThere) resolve(shown);
    };
    terminal.onWriteParsed(look);
    look();
  });
}
"""
BECOMES = """
([what, wanted]) => new Promise((resolve) => {
  const look = () => {
    const element = what ? document.querySelector(what) : document.head;
    const text = what ? (element && !element.closest("[hidden]") ? element.textContent : "") : document.title;
    if (text.includes(wanted)) resolve(text);
  };
  const options = { subtree: true, childList: true, characterData: true, attributes: true };
  new MutationObserver(look).observe(document, options);
  look();
})
"""
RESIZED = """
async () => {
  const terminal = await window.terminalReady;
  window.resized = new Promise((done) => terminal.onResize(() => done(true)));
}
"""


class Browser:
    """The program, and the loop that it is driven by."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.call(self._start())
        return self

    async def _start(self) -> None:
        from playwright.async_api import async_playwright

        self._playwright = await async_playwright().start()
        self._chromium = await self._playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS])

    def __exit__(self, *exc: object) -> None:
        self.call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    async def _end(self) -> None:
        await self._chromium.close()
        await self._playwright.stop()

    def call(self, work: Coroutine[Any, Any, T], seconds: float = PATIENCE) -> T:
        """Run something on the browser's loop and return its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds)

    def visit(self, **options: Any) -> Visit:
        """Return a browser without cookies and history."""
        return Visit(self, self.call(self._chromium.new_context(**options)))


class Visit:
    """One person's cookies and tabs; `with browser.visit() as visit`."""

    def __init__(self, browser: Browser, context: Any) -> None:
        self._browser = browser
        self.context = context

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._browser.call(self.context.close())

    def tab(self, link: str, *, width: int = 1000, height: int = 600) -> Tab:
        """Open a link in another tab."""
        return Tab(self._browser, self._browser.call(self._opened(link, width, height)))

    async def _opened(self, link: str, width: int, height: int) -> Any:
        page = await self.context.new_page()
        page.requests, page.complaints = [], []
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("websocket", lambda socket: page.requests.append(socket.url))
        page.on(
            "console", lambda said: page.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        await page.add_init_script(TRAP)
        await page.set_viewport_size({"width": width, "height": height})
        await page.goto(link, wait_until="commit")
        return page

    def cookies(self) -> list[dict[str, Any]]:
        """Return all cookies."""
        return list(self._browser.call(self.context.cookies()))


class Tab:
    """A tab: `wait_for`, `press`, `type`, `resize`; `page` is playwright's."""

    def __init__(self, browser: Browser, page: Any) -> None:
        self._browser = browser
        self.page = page

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something of playwright's."""
        return self._browser.call(work)

    def wait_for(self, text: str, *, gone: bool = False) -> str:
        """Wait until the terminal shows a text, or no longer; return all that it shows."""
        return str(self.call(self._told(SEEN, [text, not gone])))

    def wait_for_page(self, text: str, where: str = "body") -> str:
        """Wait until something of the page around the terminal says a text and is visible; return all of it."""
        return str(self.call(self._told(BECOMES, [where, text])))

    async def _told(self, function: str, about: list[object]) -> Any:
        from playwright.async_api import Error

        while True:
            try:
                return await self.page.evaluate(function, about)
            except Error as error:
                if "context was destroyed" not in str(error):  # by another page, which is then waited for
                    raise
                await self.page.wait_for_load_state("domcontentloaded")

    def wait_for_title(self, text: str) -> str:
        """Wait until the tab's title has a text; return it."""
        return str(self.call(self.page.evaluate(BECOMES, ["", text])))

    def press(self, *keys: str) -> None:
        """Press keys, by the names that browsers give them."""
        for key in keys:
            self.call(self.page.keyboard.press(key))

    def type(self, text: str) -> None:
        """Type a text."""
        self.call(self.page.keyboard.type(text))

    def click(self, text: str) -> None:
        """Click on a text that the terminal shows."""
        lines = self.wait_for(text).split("\n")
        y = next(at for at, line in enumerate(lines) if text in line)
        columns, rows = self.size()
        box = self.call(self.page.locator(".xterm-screen").bounding_box())
        where = lines[y].index(text) + len(text) // 2
        self.call(
            self.page.mouse.click(
                box["x"] + (where + 0.5) * box["width"] / columns, box["y"] + (y + 0.5) * box["height"] / rows
            )
        )

    def size(self) -> tuple[int, int]:
        """Return the terminal's columns and lines."""
        columns, lines = self.call(self.page.evaluate("terminalReady.then((it) => [it.cols, it.rows])"))
        return columns, lines

    def resize(self, width: int, height: int) -> None:
        """Change the size of the window, and wait until the terminal has another size for it."""
        self.call(self.page.evaluate(RESIZED))
        self.call(self.page.set_viewport_size({"width": width, "height": height}))
        self.call(self.page.evaluate("() => window.resized"))

    @contextmanager
    def download(self) -> Iterator[list[Path]]:
        """Expect a download in the block; after it the list holds its file."""
        found: list[Path] = []
        coming: asyncio.Future[Any] = self.call(self._coming())
        yield found
        download = self.call(self._waited(coming))
        found.append(Path(self.call(download.path())))
        self.suggested = download.suggested_filename

    async def _coming(self) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self.page.wait_for_event("download"))

    async def _waited(self, coming: asyncio.Future[Any]) -> Any:
        return await coming

    def screenshot(self, path: str) -> None:
        """Save a picture."""
        self.call(self.page.screenshot(path=path))

    def close(self) -> None:
        """Close the tab."""
        self.call(self.page.close())
