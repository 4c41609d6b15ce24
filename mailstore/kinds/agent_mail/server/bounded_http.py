"""An HTTP connection whose answers are bounded: whatever a server sends, no more than this is kept."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator

import httpx2

MOST_BYTES = 8 << 20


class TooMuch(httpx2.ReadError):
    """A server's answer is longer than any that is of use."""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > MOST_BYTES:
                raise TooMuch(f"its answer is over {MOST_BYTES >> 20} MiB")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """Connects as httpx2 does, checks certificates, and ends an answer that is too long."""

    def __init__(self, tls: ssl.SSLContext | None, *, uses_proxies: bool) -> None:
        # without encryption the context is never used; one that trusts nobody is made at once
        super().__init__(verify=tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), trust_env=uses_proxies)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; its answer is read through the bound. No compressed answer is asked for."""
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(response.stream)
        return response
