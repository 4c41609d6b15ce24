"""Files that consoles give to their pages: each can be fetched once, by a page with the same access."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from urllib.parse import quote

from aiohttp import web
from msgspec import Struct

from console.serve.access import PageAccess
from console.serve.console_process import ConsoleProcess, ProcessStuck

CHUNK = 1 << 16
SECONDS = 30.0
"""How long the console may take for the next piece."""
MOST_OFFERED = 100
"""Files that one console has offered and nobody has fetched."""
LONGEST_NAME = 200


class Offer(Struct):
    """A file that waits for its page, and its pieces as they come."""

    console: ConsoleProcess
    access: PageAccess
    name: str
    pieces: asyncio.Queue[bytes | None]
    """None: there are no more, although the file has not ended."""
    is_taken: bool = False


class Downloads:
    """The files on offer, by the key that the console gave each."""

    def __init__(self) -> None:
        self._offers: dict[str, Offer] = {}

    def offer(self, key: str, name: str, console: ConsoleProcess, access: PageAccess) -> None:
        """Offer a file of a console."""
        if sum(offer.console is console for offer in self._offers.values()) < MOST_OFFERED:
            self._offers[key] = Offer(console, access, name[:LONGEST_NAME], asyncio.Queue(maxsize=2))

    async def take(self, key: str, piece: bytes) -> None:
        """Take a piece of a file from its console; an empty one is the end."""
        if (offer := self._offers.get(key)) is not None:
            await offer.pieces.put(piece)

    def withdraw(self, console: ConsoleProcess) -> None:
        """Forget the files of a console that has ended; wake whoever waits for a piece."""
        for key in [key for key, offer in self._offers.items() if offer.console is console]:
            pieces = self._offers.pop(key).pieces
            with suppress(asyncio.QueueFull):
                pieces.put_nowait(None)

    async def send(self, request: web.Request, access: PageAccess) -> web.StreamResponse:
        """Answer a request for a file. Raises HTTPNotFound."""
        key = request.match_info["key"]
        offer = self._offers.get(key)
        if offer is None or offer.access is not access or offer.is_taken:
            raise web.HTTPNotFound(text="This file was fetched already, or its console has ended.\n")
        offer.is_taken = True
        response = web.StreamResponse(headers={"Content-Disposition": disposition(offer.name)})
        response.content_type = "application/octet-stream"
        try:
            await response.prepare(request)
            while piece := await self._next(offer, key):
                await response.write(piece)
            await response.write_eof()
        finally:
            self._offers.pop(key, None)
        return response

    async def _next(self, offer: Offer, key: str) -> bytes:
        """Return the next piece; empty at the end. Raises ConnectionError if none comes: then the download fails."""
        try:
            await offer.console.say(type="deliver_chunk_request", key=key, size=CHUNK)
            async with asyncio.timeout(SECONDS):
                piece = await offer.pieces.get()
        except (TimeoutError, ProcessStuck):
            piece = None
        if piece is None:
            raise ConnectionResetError("the console gave no more of the file")
        return piece


def disposition(name: str) -> str:
    """Return a Content-Disposition by which a file is saved under its name and never shown."""
    plain = "".join(char if char.isascii() and char.isprintable() and char not in '"\\%/' else "_" for char in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"
