"""Between a page's socket and its console: what each says to the other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import Any

from aiohttp import WSMsgType, web

from console.serve.access import PageAccess
from console.serve.console_process import ConsoleProcess, ProcessStuck, Size
from console.serve.downloads import Downloads

DATA, META, FILE = b"D", b"M", b"F"
FEWEST_CELLS, MOST_COLUMNS, MOST_LINES = 2, 1000, 500
USUAL: Size = (80, 24)
ANSWER_SECONDS = 3.0
"""Time for a page to answer when somebody else wants its place."""
LOOK_SECONDS = 5.0
TOLD_ON = frozenset({"background", "bell", "notification", "title"})
"""The kinds of packet that are passed on from a console to its page unchanged."""


class Bridge:
    """Passes keys and sizes one way, and the screen the other, until one side is gone."""

    def __init__(
        self, socket: web.WebSocketResponse, console: ConsoleProcess, access: PageAccess, downloads: Downloads
    ) -> None:
        self._socket = socket
        self._console = console
        self._access = access
        self._downloads = downloads
        self._answered = asyncio.Event()
        self._is_left = asyncio.Event()

    async def run(self) -> bool:
        """Pass everything on; return whether the console was the one that ended."""
        coming = asyncio.create_task(self._from_page())
        going = asyncio.create_task(self._to_page())
        tasks = (coming, going, asyncio.create_task(self._until_gone()))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        for error in results:
            if isinstance(error, Exception) and not isinstance(error, ConnectionError | ProcessStuck):
                raise error
        return going in done and not isinstance(results[1], ConnectionError)

    async def is_answered(self) -> bool:
        """Ask the page's browser whether it is still there; one that says nothing for some seconds is not."""
        self._answered.clear()
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._socket.ping()
                await self._answered.wait()
                return True
        return False

    def leave(self) -> None:
        """End as if the page had gone."""
        self._is_left.set()

    @property
    def is_left(self) -> bool:
        """Whether the page was taken for gone: should it come back, it lost its connection."""
        return self._is_left.is_set()

    async def _until_gone(self) -> None:
        """Wait for the end also where both directions wait for a page that takes nothing."""
        while not self._socket.closed:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._is_left.wait()
                    return

    async def _from_page(self) -> None:
        async for message in self._socket:
            if message.type is WSMsgType.TEXT:
                with suppress(ValueError, TypeError, IndexError, KeyError, RecursionError):  # not from our page
                    await self._heard(json.loads(message.data))
            elif message.type is WSMsgType.PING:
                await self._socket.pong(message.data)
            elif message.type is WSMsgType.PONG:
                self._answered.set()

    async def _heard(self, said: Any) -> None:
        match said:
            case ["stdin", str(keys)]:
                await self._console.press(keys)
            case ["resize", {"width": width, "height": height}]:
                columns, lines = size_from({"width": str(width), "height": str(height)})
                await self._console.say(type="resize", width=columns, height=lines)
            case ["focus" | "blur" as what, *_]:
                await self._console.say(type=what)
            case ["ping", str(words)]:
                await self._socket.send_json(["pong", words[:64]])

    async def _to_page(self) -> None:
        async for kind, payload in self._console.packets():
            if kind == DATA:
                await self._socket.send_bytes(payload)
            elif kind == META:
                await self._told(json.loads(payload))
            elif kind == FILE:
                key, _, piece = payload.partition(b"\n")
                await self._downloads.take(key.decode("ascii", "replace"), piece)

    async def _told(self, said: Mapping[str, Any]) -> None:
        match said:
            case {"type": str(what)} if what in TOLD_ON:
                await self._socket.send_json([what, str(said.get("text", ""))])
            case {"type": "open_url", "url": str(url)}:
                await self._socket.send_json(["open", url])
            case {"type": "deliver_file_start", "key": str(key), "path": str(path)}:
                name = PurePath(path).name
                self._downloads.offer(key, name, self._console, self._access)
                await self._socket.send_json(["download", {"key": key, "name": name}])


def size_from(query: Mapping[str, str]) -> Size:
    """Return the size that a page asks for, in cells, or the nearest one that makes sense."""
    columns, lines = (
        _number(query.get(name, ""), usual) for name, usual in zip(("width", "height"), USUAL, strict=True)
    )
    return min(max(columns, FEWEST_CELLS), MOST_COLUMNS), min(max(lines, FEWEST_CELLS), MOST_LINES)


def _number(text: str, usual: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else usual
