"""Connect to a server for as long as a mailbox is open; imported when a connection is needed, not before."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from mailstore.errors import StoreError
from mailstore.stores.nats.failures import connection_failed, is_final, most_telling

try:
    from nats.aio.client import Client
    from nats.errors import Error
except ModuleNotFoundError:
    raise StoreError("the package nats-py is not installed", "run pip install 'signalbox[nats]'") from None

__all__ = ["NatsClient", "ended", "opened"]

CONNECT_SECONDS = 5.0
HOST_SECONDS = 2
"""How long one host may take to answer; a frozen one takes connections and says nothing."""
CLOSE_SECONDS = 1.0
PING_SECONDS = 2
PINGS_UNANSWERED = 2
"""A server that froze is noticed after some six seconds."""
PAUSE_SECONDS = 0.25
"""Between two attempts at the same host."""
NAME = "signalbox"

Notice = Callable[[Exception], Awaitable[None]]


class NatsClient(Client):
    """The client, which uses TLS if and only if the URL says so: no password goes to a server in the clear."""

    def __init__(self, *, needs_tls: bool, user_key: str) -> None:
        super().__init__()
        self._needs_tls = needs_tls
        if user_key:
            self._public_nkey = user_key

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        if initial_connection and bool(info.get("tls_required")) != self._needs_tls:
            raise Error("no TLS offered" if self._needs_tls else "secure connection - TLS required")
        await super()._process_info(info, initial_connection)


async def opened(
    hosts: Sequence[str],
    options: Mapping[str, Any],
    *,
    tls: bool = False,
    error_cb: Notice | None = None,
    seconds: float = CONNECT_SECONDS,
    **callbacks: Any,
) -> NatsClient:
    """Return a client connected to the first of some hosts that takes it, which then reconnects for ever.

    `options` are those of `credentials_for`. Raises StoreError when every host has failed once, one refuses for good,
    or the time is over.
    """
    rest = dict(options)
    client = NatsClient(needs_tls=tls, user_key=rest.pop("user_key", ""))
    errors: list[Exception] = []
    enough = asyncio.Event()

    async def note(error: Exception) -> None:
        errors.append(error)
        del errors[:-100]
        if is_final(error) or len(errors) >= len(hosts):
            enough.set()
        if error_cb is not None and connecting.done():
            await error_cb(error)

    connecting = asyncio.ensure_future(
        client.connect(
            servers=[f"{'tls' if tls else 'nats'}://{host}" for host in hosts],
            name=NAME,
            error_cb=note,
            connect_timeout=HOST_SECONDS,
            max_reconnect_attempts=-1,
            reconnect_time_wait=PAUSE_SECONDS,  # type: ignore[arg-type]
            ping_interval=PING_SECONDS,
            max_outstanding_pings=PINGS_UNANSWERED,
            **rest,
            **callbacks,
        )
    )
    stopped = asyncio.ensure_future(enough.wait())
    try:
        await asyncio.wait({connecting, stopped}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        failed = connecting.exception() if connecting.done() else None
        if connecting.done() and failed is None:
            if client.is_connected:
                return client
            failed = EOFError()  # the client takes an empty answer for a connection
    finally:
        stopped.cancel()
        if not connecting.done():
            connecting.cancel()
            await asyncio.wait({connecting})
    met = [*errors, *([failed] if failed else [])] or [TimeoutError()]
    await ended(client)
    raise connection_failed(most_telling(met), hosts) from None


async def ended(client: Client) -> None:
    """Close a client; one whose server is silent is left to end by itself."""
    closing = asyncio.ensure_future(client.close())
    await asyncio.wait({closing}, timeout=CLOSE_SECONDS)
    if closing.done() and not closing.cancelled():
        closing.exception()
