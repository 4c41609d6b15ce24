"""A website with its door whose consoles are small programs, and a client of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp.test_utils import TestClient, TestServer

from console.serve.access import KeyPair, Keys, PageAccess
from console.serve.sockets import Sockets
from console.serve.website import Website

COOKIE = "signalbox-1"
ECHO = (
    "import sys, os; out = sys.stdout.buffer; out.write(b'__GANGLION__\\n' + b'D\\0\\0\\0\\4' +"
    " os.environ['SIGNALBOX_BROWSER'].encode()[:4]); out.flush(); sys.stdin.buffer.read()"
)

Client = TestClient[Any, Any]


class Door:
    """A website whose consoles say who they are for, and its keys."""

    def __init__(self, *, most: int = 2, is_secure: bool = False) -> None:
        self.keys = Keys({access: KeyPair() for access in PageAccess})
        self.asked: list[PageAccess] = []
        self.warned: list[str] = []
        self.python, self.program = "python3", ECHO
        self.sockets = Sockets(self._command, most, self.warned.append)
        self.site = Website(self.keys, self.sockets, names=["box.example"], is_secure=is_secure, cookie=COOKIE)

    def _command(self, access: PageAccess) -> Sequence[str]:
        self.asked.append(access)
        return [self.python, "-S", "-c", self.program]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Client]:
        async with TestClient(TestServer(self.site.application())) as client:
            try:
                yield client
            finally:
                await self.sockets.stop()

    def cookie(self, access: PageAccess = PageAccess.FULL) -> dict[str, str]:
        found = self.keys.by_token(self.keys.tokens()[access])
        assert found is not None
        return {"Cookie": f"{COOKIE}={found[1]}"}


def origin(client: Client) -> dict[str, str]:
    return {"Origin": str(client.make_url("/")).rstrip("/")}
