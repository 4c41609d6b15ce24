"""The sockets of the pages: a console for each, so many at most, and none without its socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from aiohttp import WSCloseCode, web

from console.render.safe import visible_line
from console.serve.access import PageAccess
from console.serve.bridge import Bridge, size_from
from console.serve.console_process import ConsoleProcess
from console.serve.downloads import Downloads
from mailstore.errors import reason_of

CLOSED_BY_PERSON, FULL, FAILED, STOPPED = 4001, 4002, 4003, 4004
"""Why a socket was closed, which the page explains."""
HEARTBEAT_SECONDS = 15.0
"""How often a page is asked whether it is there; one that doesn't answer for half of this is gone."""
LONGEST_MESSAGE = 8 << 20
"""Bytes of what a page sends at once: a long text that is pasted."""
LONGEST_REASON = 400
CLOSE_SECONDS = 2.0
"""How long a page may take to agree that its socket is closed."""
ENDING_SECONDS = 6.0
"""Longer than the end of a console that is killed."""


class Seat(NamedTuple):
    """A page with its console; the event is set when the console has ended."""

    bridge: Bridge
    ended: asyncio.Event


class Sockets:
    """Starts a console for each socket, and ends it with the socket."""

    def __init__(self, command: Callable[[PageAccess], Sequence[str]], most: int, warn: Callable[[str], None]) -> None:
        self._command = command
        self._most = most
        self._warn = warn
        self._open: set[web.WebSocketResponse] = set()
        self._seats: set[Seat] = set()
        self._tasks: set[asyncio.Task[object]] = set()
        self._ending: set[asyncio.Event] = set()
        """Consoles whose page is gone, set when they have saved what was open."""
        self.is_stopping = False
        """Whether the server ends: pages that ask whether it is there are told that it isn't."""
        self.downloads = Downloads()

    async def serve(self, request: web.Request, access: PageAccess) -> web.WebSocketResponse:
        """Serve one page until it or its console ends."""
        socket = web.WebSocketResponse(
            heartbeat=HEARTBEAT_SECONDS, autoping=False, timeout=CLOSE_SECONDS,
            max_msg_size=LONGEST_MESSAGE, compress=False,
        )  # fmt: skip
        await socket.prepare(request)
        await self._wait_for(self._ending)
        if len(self._open) >= self._most:
            await self._leave_lost()
        if self.is_stopping:
            await socket.close(code=STOPPED)
        elif len(self._open) >= self._most:
            await socket.close(code=FULL, message=str(self._most).encode())
        else:
            self._open.add(socket)
            task = asyncio.create_task(self._run(socket, access, request))
            self._tasks.add(task)
            try:
                await asyncio.shield(task)  # the console is ended in order, also where the request is cancelled
            finally:
                task.add_done_callback(self._tasks.discard)
        return socket

    async def stop(self) -> None:
        """End all consoles, each in order."""
        self.is_stopping = True
        await asyncio.gather(*(socket.close(code=STOPPED) for socket in tuple(self._open)), return_exceptions=True)
        await asyncio.gather(*tuple(self._tasks), return_exceptions=True)

    async def _wait_for(self, ending: Iterable[asyncio.Event]) -> None:
        """Let consoles end that are about to: a page that is loaded again finds its draft, and its place free."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ENDING_SECONDS):
                for event in tuple(ending):
                    await event.wait()

    async def _leave_lost(self) -> None:
        """End the consoles of pages that don't answer: a network that is cut says nothing."""
        seats = tuple(self._seats)
        answers = await asyncio.gather(*(seat.bridge.is_answered() for seat in seats))
        lost = [seat for seat, is_answered in zip(seats, answers, strict=True) if not is_answered]
        for seat in lost:
            seat.bridge.leave()
        await self._wait_for(seat.ended for seat in lost)

    async def _run(self, socket: web.WebSocketResponse, access: PageAccess, request: web.Request) -> None:
        try:
            try:
                console = await ConsoleProcess.start(self._command(access), access, size_from(request.query))
            except OSError as error:
                await self._fail(socket, access, f"it can't be started ({reason_of(error)})")
                return
            seat = Seat(Bridge(socket, console, access, self.downloads), asyncio.Event())
            self._seats.add(seat)
            is_over = False
            try:
                is_over = await seat.bridge.run()
            finally:
                self.downloads.withdraw(console)
                self._ending.add(seat.ended)
                try:
                    said = await console.end()
                finally:
                    self._open.discard(socket)
                    self._seats.discard(seat)
                    self._ending.discard(seat.ended)
                    seat.ended.set()
            if is_over and console.status:
                lines = [line for line in said.splitlines() if line.strip()]
                await self._fail(socket, access, lines[-1] if lines else f"exit status {console.status}")
            else:
                await socket.close(code=WSCloseCode.GOING_AWAY if seat.bridge.is_left else CLOSED_BY_PERSON)
        finally:
            self._open.discard(socket)
            if not socket.closed:
                await socket.close(code=WSCloseCode.INTERNAL_ERROR)
            if request.transport is not None:
                request.transport.abort()  # what a lost page never takes would be kept for it

    async def _fail(self, socket: web.WebSocketResponse, access: PageAccess, reason: str) -> None:
        """Say on the page, and to who started the server, why a console ended that nobody ended."""
        self._warn(visible_line(f"a console ended: {reason}"[:LONGEST_REASON]))
        if access is PageAccess.FULL and not socket.closed:
            await socket.send_json(["failed", visible_line(reason[:LONGEST_REASON])])
        await socket.close(code=FAILED)
