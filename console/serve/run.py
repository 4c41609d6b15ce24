"""Run the web server until a signal ends it."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from console.errors import Refused
from console.render.safe import visible_line
from console.serve.access import EVERY_INTERFACE, Keys, PageAccess
from console.serve.sockets import Sockets
from console.serve.website import Website
from mailstore.errors import reason_of
from mailstore.files.whole import open_binary

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130
BACKLOG = 128
HANDSHAKE_SECONDS = 10.0
IDLE_SECONDS = 30.0
LONGEST_LOG_LINE = 400
MOST_CONNECTIONS = 100
CONNECTIONS_EACH = 8
"""What a browser opens for a console, and some more; together fewer than the files that a process may open."""
SILENT_SECONDS = 15.0
"""How long a connection may take for its first request; browsers open some ahead."""


class Serving(NamedTuple):
    """What is served: the consoles' command, how many, to whom, and under which names."""

    command: Callable[[PageAccess], Sequence[str]]
    keys: Keys
    most: int
    names: Sequence[str]
    tls: ssl.SSLContext | None


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes any free one. Raises Refused."""
    try:
        family, kind, proto, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, proto)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(where)
            made.listen(BACKLOG)
        except OSError:
            made.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            remedy = "choose another with --port, or --port 0 for a free one"
            raise Refused(f"port {port} on {host} is in use", remedy, "E245") from error
        raise Refused(
            f"can't listen on {host}, port {port} ({reason_of(error)})", "check --host and --port", "E244"
        ) from error
    return made


def tls_of(cert: Path, key: Path) -> ssl.SSLContext:
    """Return the TLS of a certificate with its chain and a key, both in PEM. Raises Refused."""
    for option, path in (("--cert", cert), ("--key", key)):
        try:
            with open_binary(path):
                pass
        except OSError as error:
            raise Refused(
                f"{option} {path} can't be read ({reason_of(error)})", "give a file in PEM", "E246"
            ) from error
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(cert, key, password=_no_password)
    except (ssl.SSLError, ValueError) as error:
        why = getattr(error, "reason", None) or str(error)
        problem = f"{cert} and {key} are no certificate and its key ({str(why).lower().replace('_', ' ')})"
        raise Refused(problem, "give both in PEM, the key without a passphrase") from error
    return context


def _no_password() -> str:
    raise ValueError("the key has a passphrase")


def host_in_link(host: str, listener: socket.socket, *, is_secure: bool) -> str:
    """Return the host for the link: `localhost` has two addresses, somebody else may have the other."""
    return str(listener.getsockname()[0]) if host == "localhost" and not is_secure else host


def address(host: str, port: int, *, is_secure: bool) -> str:
    """Return the address of the first page; every interface is called by the name of this machine."""
    shown = socket.gethostname() if host in EVERY_INTERFACE else f"[{host}]" if ":" in host else host
    return f"{'https' if is_secure else 'http'}://{shown}:{port}"


def run_server(
    serving: Serving, listener: socket.socket, began: Callable[[], None], warn: Callable[[str], None]
) -> int:
    """Serve until SIGINT, SIGTERM or SIGHUP; then end every console in order. Return the exit status."""
    return asyncio.run(_run(serving, listener, began, warn))


def ending_signals() -> list[signal.Signals]:
    """Return the signals that end the server; those that who started it has it ignore, as nohup does, are ignored."""
    return [sign for sign in ENDING if signal.getsignal(sign) is not signal.SIG_IGN]


async def _run(
    serving: Serving, listener: socket.socket, began: Callable[[], None], warn: Callable[[str], None]
) -> int:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()

    def end(number: int) -> None:
        if not ended.done():
            ended.set_result(number)

    def failed(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if text := problem_text(str(context.get("message", "")), context.get("exception")):
            warn(text)

    loop.set_exception_handler(failed)
    for sign in ending_signals():
        loop.add_signal_handler(sign, end, sign)
    sockets = Sockets(serving.command, serving.most, warn)
    port = listener.getsockname()[1]
    site = Website(
        serving.keys,
        sockets,
        names=serving.names,
        is_secure=serving.tls is not None,
        cookie=f"signalbox-{port}",
    )
    application, callers = site.application(), Callers(serving.most, serving.tls)
    application.on_response_prepare.append(callers.answered)
    runner = web.AppRunner(
        application, access_log=None, handle_signals=False, shutdown_timeout=1.0,
        keepalive_timeout=IDLE_SECONDS, logger=server_logger(warn),
    )  # fmt: skip
    await runner.setup()
    assert runner.server is not None
    server = await loop.create_server(callers.taking(runner.server), sock=listener, backlog=BACKLOG)
    try:
        began()
        number = await ended
        await sockets.stop()
    finally:
        server.close()
        await runner.cleanup()
    return INTERRUPTED if number == signal.SIGINT else 0


def server_logger(warn: Callable[[str], None]) -> logging.Logger:
    """Return a logger for aiohttp that warns of our own mistakes alone."""
    logger = logging.Logger("signalbox.serve", logging.ERROR)
    logger.addHandler(_Warning(warn))
    return logger


def problem_text(words: str, error: BaseException | None) -> str:
    """Return a line about a problem; empty for what others do to a connection."""
    if isinstance(error, HttpProcessingError | ConnectionError):
        return ""
    return visible_line(f"{words}: {error!r}" if error is not None else words)[:LONGEST_LOG_LINE]


class _Warning(logging.Handler):
    def __init__(self, warn: Callable[[str], None]) -> None:
        super().__init__()
        self._warn = warn

    def emit(self, record: logging.LogRecord) -> None:
        if text := problem_text(record.getMessage(), record.exc_info[1] if record.exc_info else None):
            self._warn(text)


class Callers:
    """Takes connections for a web server; where there are too many, one that has asked for nothing yet ends.

    That is the oldest of the address that has most of them; one whose TLS handshake is not done counts as well.
    """

    def __init__(self, consoles: int, tls: ssl.SSLContext | None) -> None:
        self._most = MOST_CONNECTIONS + CONNECTIONS_EACH * consoles
        self._tls = tls
        self._silent: dict[web.RequestHandler, asyncio.Transport] = {}
        self._handshakes: set[asyncio.Task[None]] = set()

    def taking(self, server: web.Server) -> Callable[[], asyncio.BaseProtocol]:
        """Return what makes the protocol of each connection."""
        return lambda: _NewConnection(lambda new, transport: self._take(server, new, transport))

    async def answered(self, request: web.Request, _response: web.StreamResponse) -> None:
        """Take note that a connection has asked for something."""
        self._silent.pop(request.protocol, None)

    def _take(self, server: web.Server, new: _NewConnection, transport: asyncio.Transport) -> None:
        self._silent = {made: value for made, value in self._silent.items() if not value.is_closing()}
        if len({*server.connections, *self._silent}) >= self._most:
            if not self._silent:
                transport.abort()
                return
            self._end_silent(self._next_to_end())
        made = server()
        self._silent[made] = transport
        asyncio.get_running_loop().call_later(SILENT_SECONDS, self._end_silent, made)
        if self._tls is None:
            new.pass_on(transport, made)
            return
        task = asyncio.create_task(_secured(new, transport, made, self._tls))
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)

    def _next_to_end(self) -> web.RequestHandler:
        addresses = {
            made: (transport.get_extra_info("peername") or ("",))[0] for made, transport in self._silent.items()
        }
        [(crowded, _)] = Counter(addresses.values()).most_common(1)
        return next(made for made, address in addresses.items() if address == crowded)

    def _end_silent(self, made: web.RequestHandler) -> None:
        if (transport := self._silent.pop(made, None)) is not None:
            transport.abort()


class _NewConnection(asyncio.Protocol):
    """A connection until it is passed on to who answers it; keeps what comes before."""

    def __init__(self, take: Callable[[_NewConnection, asyncio.Transport], None]) -> None:
        self._take = take
        self._early: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._take(self, transport)

    def data_received(self, data: bytes) -> None:
        self._early.append(data)

    def pass_on(self, transport: asyncio.Transport, made: asyncio.Protocol) -> None:
        """Have the connection answered from now on."""
        if transport.is_closing():
            return
        transport.set_protocol(made)
        made.connection_made(transport)
        for data in self._early:
            made.data_received(data)


async def _secured(
    new: _NewConnection, transport: asyncio.Transport, made: web.RequestHandler, tls: ssl.SSLContext
) -> None:
    """Pass a connection on once TLS is agreed on; one that fails at it is closed."""
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        secure = await loop.start_tls(transport, new, tls, server_side=True, ssl_handshake_timeout=HANDSHAKE_SECONDS)
        if secure is not None:
            new.pass_on(secure, made)
