"""Connect to a server for as long as a mailbox is open; imported when a connection is needed, not before."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from mailstore.errors import StoreError
from mailstore.installation import remedy
from mailstore.kinds.nats.address import NatsAddress
from mailstore.kinds.nats.failures import connection_failed, most_telling
from mailstore.kinds.nats.stream import COPIED_FROM

try:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.errors import Error
except ModuleNotFoundError:
    raise StoreError("the package nats-py is not installed", remedy("nats"), "E420") from None

CONNECT_SECONDS = 5.0
CLOSE_SECONDS = 1.0
USUAL: dict[str, Any] = {
    "name": "signalbox",
    "connect_timeout": 2,
    "ping_interval": 2,
    "max_outstanding_pings": 2,
    "max_reconnect_attempts": -1,
    "reconnect_time_wait": 0.25,
}
"""Options of every client, in seconds: a server that froze takes connections and says nothing; six seconds tell."""
STREAM_NAMED, SUBJECT_NAMED = b"\r\nNats-Stream:", b"\r\nNats-Subject:"
DENIED = re.compile(r'permissions violation for publish to "(\S+)"', re.IGNORECASE)


class PermissionDenied(Error):
    """The server does not let this user publish to a subject."""

    def __init__(self, subject: str) -> None:
        super().__init__(f'permissions violation for publish to "{subject}"')


class NatsClient(Client):
    """The client, which uses TLS if and only if the URL says so: no password goes to a server in the clear."""

    def __init__(self, *, needs_tls: bool, user_key: str) -> None:
        super().__init__()
        self._needs_tls = needs_tls
        self._asked: dict[str, set[asyncio.Task[Msg]]] = {}
        if user_key:
            self._public_nkey = user_key

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        if initial_connection and bool(info.get("tls_required")) != self._needs_tls:
            raise Error("no TLS offered" if self._needs_tls else "secure connection - TLS required")
        await super()._process_info(info, initial_connection)

    async def _process_connect_init(self) -> None:
        try:
            await super()._process_connect_init()
        except Exception:
            if self._needs_tls and self._transport is not None:
                # the end of a connection without a finished handshake is never told, and would be waited for
                self._transport.close()  # type: ignore[no-untyped-call]
                self._transport = None
            raise

    async def _connect_to_server(self, s: Any) -> None:
        if self._transport is not None:  # which the client library leaves open if the server said nothing
            self._transport.close()  # type: ignore[no-untyped-call]
        await super()._connect_to_server(s)

    def _connect_command(self) -> bytes:
        if self._needs_tls:
            # else each end of a connection is a warning of asyncio, printed over the console
            self._writer()._protocol._over_ssl = True
        command: bytes = super()._connect_command()
        return command

    async def _attempt_reconnect(self) -> None:
        if self._needs_tls:
            self._writer().transport.abort()  # a frozen server would be waited for, for half a minute
        await super()._attempt_reconnect()

    def give_up(self) -> None:
        """Tell nobody any more what becomes of this client: another one takes its place."""
        self._disconnected_cb = self._reconnected_cb = self._closed_cb = None

    def _writer(self) -> Any:
        return self._transport._io_writer  # type: ignore[union-attr]

    async def request(self, subject: str, *words: Any, **options: Any) -> Msg:
        """Ask as the client does; raises PermissionDenied at once, where that would wait until its time is over."""
        asking = asyncio.ensure_future(super().request(subject, *words, **options))
        asked = self._asked.setdefault(subject.lower(), set())
        asked.add(asking)
        try:
            return await asking
        except asyncio.CancelledError:
            if asking in asked:
                asking.cancel()
                raise
            raise PermissionDenied(subject) from None
        finally:
            asked.discard(asking)
            if not asked and self._asked.get(subject.lower()) is asked:
                del self._asked[subject.lower()]

    async def _process_err(self, err_msg: str) -> None:
        if denied := DENIED.search(err_msg):
            asked = self._asked.pop(denied[1].lower(), set())
            for asking in tuple(asked):
                asked.discard(asking)
                asking.cancel()
        await super()._process_err(err_msg)

    async def _process_headers(self, headers: bytes) -> dict[str, str] | None:
        fields: dict[str, str] | None = await super()._process_headers(headers)
        if fields and headers.count(STREAM_NAMED) > 1:
            fields[COPIED_FROM] = (
                headers.partition(SUBJECT_NAMED)[2].partition(b"\r\n")[0].strip().decode("utf-8", "replace")
            )
        return fields


async def opened(
    address: NatsAddress,
    options: Mapping[str, Any],
    *,
    callbacks: Mapping[str, Any] | None = None,
    seconds: float = CONNECT_SECONDS,
) -> NatsClient:
    """Return a client connected to the first server of an address that takes it, which then reconnects for ever.

    `options` are those of `credentials_for`, `callbacks` those of the client library by name. Raises StoreError when
    every server has refused once, or the time is over: one that is only slow is tried until then.
    """
    rest: dict[str, Any] = {**USUAL, **options, **(callbacks or {})}
    client = NatsClient(needs_tls=address.is_tls, user_key=rest.pop("user_key", ""))
    on_error = rest.pop("error_cb", None)
    errors: list[Exception] = []
    enough = asyncio.Event()

    async def note(error: Exception) -> None:
        if connecting.done():
            if on_error is not None:
                await on_error(error)
            return
        errors.append(error)
        if sum(not isinstance(exception, TimeoutError) for exception in errors) >= len(address.hosts):
            enough.set()

    connecting = asyncio.ensure_future(client.connect(servers=address.servers, error_cb=note, **rest))
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
    client.give_up()
    await ended(client)
    raise connection_failed(most_telling(met), address) from None


async def ended(client: Client) -> None:
    """Close a client; one whose server is silent is left to end by itself."""
    closing = asyncio.ensure_future(client.close())
    await asyncio.wait({closing}, timeout=CLOSE_SECONDS)
    if closing.done() and not closing.cancelled():
        closing.exception()
