"""Connections of whoever wants something else than a console: silent ones, too many, and nonsense."""

from __future__ import annotations

import asyncio
import signal
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from aiohttp import web

from console.serve.run import SILENT_SECONDS, Callers, ending_signals, host_in_link, listening, server_logger, tls_of
from tests.patience import PATIENCE
from tests.servers.certificates import Certificates

REQUEST = b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def answer(request: web.Request) -> web.Response:
    if request.path == "/broken":
        raise ValueError("\x1b[31mbroken\n")
    return web.Response(text="here")


@asynccontextmanager
async def serving(warned: list[str], tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve as the program does; the value is the port."""
    application, callers = web.Application(), Callers(0, tls)
    application.router.add_get("/{name}", answer)
    application.on_response_prepare.append(callers.answered)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1, logger=server_logger(warned.append))
    await runner.setup()
    assert runner.server is not None
    server = await asyncio.get_running_loop().create_server(callers.taking(runner.server), "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await runner.cleanup()


async def asked(streams: Streams, name: bytes = b"") -> bytes:
    reader, writer = streams
    writer.write(REQUEST % name)
    return await reader.readuntil(b"\r\n\r\n")


async def is_ended(streams: Streams) -> bool:
    try:
        return await streams[0].read(1) == b""
    except ConnectionError:
        return True


async def test_silent_connections_end_and_too_many_are_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.serve.run.MOST_CONNECTIONS", 2)
    loop, looks = asyncio.get_running_loop(), []
    call_later = loop.call_later

    def noted(seconds: float, call: Callable[..., None], *words: Any, **more: Any) -> asyncio.TimerHandle:
        if seconds == SILENT_SECONDS:
            looks.append(partial(call, *words))
        return call_later(seconds, call, *words, **more)

    monkeypatch.setattr(loop, "call_later", noted)
    async with asyncio.timeout(PATIENCE), serving([]) as port:
        first = await asyncio.open_connection("127.0.0.1", port)
        assert b" 200 " in await asked(first, b"a")
        await first[0].readexactly(4)
        silent, third = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        assert await is_ended(silent)  # it makes room for the next
        for look in looks:  # the time is over
            look()
        assert await is_ended(third)
        assert b" 200 " in await asked(first, b"b")  # is served as before
        again = await asyncio.open_connection("127.0.0.1", port)
        assert b" 200 " in await asked(again, b"c")
        for _, writer in (first, silent, third, again):
            writer.close()
        for _ in range(9):  # those that have ended leave room at once
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write_eof()
            assert await reader.read() == b""
            writer.close()


async def test_who_asks_is_served_whatever_number_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.serve.run.MOST_CONNECTIONS", 3)
    monkeypatch.setattr("console.serve.run.SILENT_SECONDS", 60.0)
    async with asyncio.timeout(10), serving([]) as port:
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(8)]
        silent[-1][1].write(b"GET /a HTTP/1.1\r\nHost: half")
        asking = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for number, streams in enumerate(asking):
            assert b" 200 " in await asked(streams, b"%d" % number)
        late = await asyncio.open_connection("127.0.0.1", port)
        assert await is_ended(late)  # those that ask for something keep their places
        assert b" 200 " in await asked(asking[0], b"again")
        for _, writer in (*silent, *asking, late):
            writer.close()


async def test_who_agrees_on_tls_is_served_whatever_number_never_does(
    monkeypatch: pytest.MonkeyPatch, server_certificates: Certificates
) -> None:
    monkeypatch.setattr("console.serve.run.MOST_CONNECTIONS", 3)
    tls = tls_of(server_certificates.certificate, server_certificates.key)
    async with asyncio.timeout(PATIENCE), serving([], tls) as port:
        half = [await asyncio.open_connection("127.0.0.1", port) for _ in range(8)]
        half[-1][1].write(b"\x16\x03\x01\x02\x00\x01")
        trusted = ssl.create_default_context(cafile=server_certificates.authority)
        asking = [await asyncio.open_connection("127.0.0.1", port, ssl=trusted) for _ in range(3)]
        for number, streams in enumerate(asking):
            assert b" 200 " in await asked(streams, b"%d" % number)
        for streams in half:
            assert await is_ended(streams)
        for _, writer in (*half, *asking):
            writer.close()


@pytest.mark.skipif(sys.platform == "darwin", reason="there is one loopback address")
async def test_who_has_most_connections_loses_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.serve.run.MOST_CONNECTIONS", 3)
    async with asyncio.timeout(PATIENCE), serving([]) as port:
        quiet = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.2", 0))
        many = [await asyncio.open_connection("127.0.0.1", port) for _ in range(9)]
        assert await is_ended(many[0])
        assert b" 200 " in await asked(quiet, b"a")
        for _, writer in (quiet, *many):
            writer.close()


async def test_nonsense_is_written_nowhere_and_our_mistakes_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    warned: list[str] = []
    async with asyncio.timeout(PATIENCE), serving(warned) as port:
        for nonsense in (b"\x16\x03\x01\x1b[31m\r\n\r\n", b"GET / HTTP/1.1\r\n\x1b[31m: x\r\n\r\n", b"x" * 99999):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(nonsense)
            assert b" 400 " in await reader.readline()
            writer.close()
        assert not warned
        streams = await asyncio.open_connection("127.0.0.1", port)
        assert b" 500 " in await asked(streams, b"broken")
        streams[1].close()
    assert warned == ["Error handling request from 127.0.0.1: ValueError('\\x1b[31mbroken\\n')"]
    assert capfd.readouterr() == ("", "")


def test_a_signal_that_was_ignored_before_does_not_end_the_server() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        assert ending_signals() == [signal.SIGINT, signal.SIGTERM]
    finally:
        signal.signal(signal.SIGHUP, before)
    assert signal.SIGHUP in ending_signals()


def test_the_link_names_the_address_that_is_listened_on() -> None:
    with listening("localhost", 0) as listener:
        where = listener.getsockname()[0]
        assert where in ("127.0.0.1", "::1")
        assert host_in_link("localhost", listener, is_secure=False) == where
        assert host_in_link("localhost", listener, is_secure=True) == "localhost"  # a certificate names that
        assert host_in_link("127.0.0.1", listener, is_secure=False) == "127.0.0.1"
