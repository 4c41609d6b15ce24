"""The connections of a server: so many at most, of which those that ask for nothing make room for others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiohttp import web

MOST_CONNECTIONS = 100
CONNECTIONS_EACH = 8
"""What a browser opens for a console, and some more; together fewer than the files that a process may open."""
SILENT_SECONDS = 15.0
"""How long a connection may take for its first request; browsers open some ahead."""


class Callers:
    """Takes connections for a web server; where there are too many, the longest silent one ends, else the new one."""

    def __init__(self, consoles: int, *, is_secure: bool) -> None:
        self._most = MOST_CONNECTIONS + CONNECTIONS_EACH * consoles
        self._is_secure = is_secure
        self._silent: dict[web.RequestHandler, None] = {}

    def taking(self, server: web.Server) -> Callable[[], asyncio.BaseProtocol]:
        """Return what makes the protocol of each connection."""

        def take() -> asyncio.BaseProtocol:
            if len(self._silent) >= self._most and not self._is_secure:  # else some are about to begin
                self._silent = {each: None for each in self._silent if each.transport is not None}
            if len(server.connections) >= self._most or len(self._silent) >= self._most:
                oldest = next((each for each in self._silent if each.transport is not None), None)
                if oldest is None:
                    return _TurnedAway()
                self._end_silent(oldest)
            made = server()
            self._silent[made] = None
            asyncio.get_running_loop().call_later(SILENT_SECONDS, self._end_silent, made)
            return made

        return take

    async def answered(self, request: web.Request, _response: web.StreamResponse) -> None:
        """Take note that a connection has asked for something."""
        self._silent.pop(request.protocol, None)

    def _end_silent(self, made: web.RequestHandler) -> None:
        if made in self._silent:
            del self._silent[made]
            if isinstance(made.transport, asyncio.Transport):
                made.transport.abort()


class _TurnedAway(asyncio.Protocol):
    """A connection that is ended at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            transport.abort()
