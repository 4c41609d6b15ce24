"""The connections of a server: so many at most, and none that asks for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiohttp import web

__all__ = ["Callers"]

MOST_CONNECTIONS = 100
CONNECTIONS_EACH = 8
"""What a browser opens for a console, and some more; together fewer than the files that a process may open."""
SILENT_SECONDS = 15.0
"""How long a connection may take for its first request; browsers open some ahead."""


class Callers:
    """Takes connections for a web server, and turns away what would leave its consoles no room."""

    def __init__(self, consoles: int, *, is_secure: bool) -> None:
        self._most = MOST_CONNECTIONS + CONNECTIONS_EACH * consoles
        self._is_secure = is_secure
        self._silent: set[web.RequestHandler] = set()

    def taking(self, server: web.Server) -> Callable[[], asyncio.BaseProtocol]:
        """Return what makes the protocol of each connection."""

        def take() -> asyncio.BaseProtocol:
            if len(self._silent) >= self._most and not self._is_secure:  # else some are about to begin
                self._silent = {each for each in self._silent if each.transport is not None}
            if len(server.connections) >= self._most or len(self._silent) >= self._most:
                return _TurnedAway()
            made = server()
            self._silent.add(made)
            asyncio.get_running_loop().call_later(SILENT_SECONDS, self._end_silent, made)
            return made

        return take

    async def answered(self, request: web.Request, _response: web.StreamResponse) -> None:
        """Take note that a connection has asked for something."""
        self._silent.discard(request.protocol)

    def _end_silent(self, made: web.RequestHandler) -> None:
        if made in self._silent:
            self._silent.discard(made)
            if isinstance(made.transport, asyncio.Transport):
                made.transport.abort()


class _TurnedAway(asyncio.Protocol):
    """A connection that is ended at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            transport.abort()
