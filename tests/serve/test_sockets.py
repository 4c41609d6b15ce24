"""The pages that were let in: a console for each, its places, its end, and its files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Self

import pytest
from aiohttp import ClientPayloadError, WSCloseCode, WSMsgType

from console.serve.access import PageAccess
from console.serve.bridge import Bridge
from console.serve.console_process import ConsoleProcess
from console.serve.downloads import Downloads
from console.serve.sockets import FAILED, FULL
from tests.patience import PATIENCE
from tests.serve.door import ECHO, Client, Door, origin


@pytest.fixture
def connect() -> Iterator[Callable[..., Any]]:
    def connect(client: Client, door: Door, access: PageAccess = PageAccess.FULL, **options: Any) -> Any:
        headers = {**door.cookie(access), **origin(client)}
        return client.ws_connect("/ws?width=x&height=99999", headers=headers, **options)

    return connect


async def test_a_cookie_opens_its_own_kind_of_console_and_no_more_than_some(connect: Callable[..., Any]) -> None:
    door = Door(most=2)
    async with door.open() as client:
        reading = await connect(client, door, PageAccess.READ_ONLY)
        assert await reading.receive_bytes() == b"read"
        writing = await connect(client, door)
        assert await writing.receive_bytes() == b"full"
        assert door.asked == [PageAccess.READ_ONLY, PageAccess.FULL]
        answers = [asyncio.create_task(page.receive()) for page in (reading, writing)]  # as a browser does
        third = await connect(client, door)
        closed = await third.receive()
        assert (closed.type, closed.data, closed.extra) == (WSMsgType.CLOSE, FULL, "2")
        for nonsense in (
            "",
            "{}",
            "[]",
            '["resize"]',
            '["stdin", 1]',
            '["resize", {"width": "x", "height": []}]',
            "[",
            "[" * 99999,
        ):
            await writing.send_str(nonsense)
        await writing.send_json(["ping", "1"])
        assert (await answers[1]).json() == ["pong", "1"]
        await writing.close()
        await reading.close()
        await answers[0]


async def test_why_a_console_failed_is_told_to_its_person_and_not_to_guests(connect: Callable[..., Any]) -> None:
    door = Door()
    door.program = "import sys; sys.exit('signalbox: no mailbox at /secret\\x1b[31m')"
    async with door.open() as client:
        page = await connect(client, door)
        assert await page.receive_json() == ["failed", "signalbox: no mailbox at /secret␛[31m"]
        assert (await page.receive()).data == FAILED
        guest = await connect(client, door, PageAccess.READ_ONLY)
        assert (await guest.receive()).data == FAILED
    assert door.warned == ["a console ended: signalbox: no mailbox at /secret␛[31m"] * 2


async def test_a_page_that_says_nothing_any_more_gives_its_place_to_the_next(
    connect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    door = Door(most=1)
    async with door.open() as client:
        lost = await connect(client, door, autoping=False)
        assert await lost.receive_bytes() == b"full"  # and from now on it answers nothing
        monkeypatch.setattr("console.serve.bridge.ANSWER_SECONDS", 0.1)
        page = await connect(client, door)
        assert await page.receive_bytes() == b"full"
        monkeypatch.setattr("console.serve.bridge.ANSWER_SECONDS", PATIENCE)
        there = asyncio.create_task(page.receive())
        refused = await connect(client, door)
        assert (await refused.receive()).data == FULL  # that page is there: it was asked
        assert not there.done()
        await page.close()
        await there
        assert (await lost.receive()).type == WSMsgType.PING
        assert (await lost.receive()).data == WSCloseCode.GOING_AWAY  # so it tries to connect again


class StuckSocket:
    """The socket of a page that takes nothing and says nothing."""

    closed = False

    async def send_bytes(self, data: bytes) -> None:
        self.closed = True  # as when its heartbeat is not answered
        await asyncio.Event().wait()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> None:
        await asyncio.Event().wait()


async def test_a_page_that_takes_nothing_ends_though_both_directions_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("console.serve.bridge.LOOK_SECONDS", 0.01)
    console = await ConsoleProcess.start(["python3", "-S", "-c", ECHO], PageAccess.FULL, (80, 24))
    async with asyncio.timeout(PATIENCE):
        assert not await Bridge(StuckSocket(), console, PageAccess.FULL, Downloads()).run()  # type: ignore[arg-type]
        await console.end()


async def test_a_console_that_can_not_be_started_is_told(connect: Callable[..., Any]) -> None:
    door = Door()
    door.python = "/nowhere/python"
    async with door.open() as client:
        page = await connect(client, door)
        assert await page.receive_json() == ["failed", "it can't be started (no such file or directory)"]
        assert (await page.receive()).data == FAILED
    assert door.warned == ["a console ended: it can't be started (no such file or directory)"]


async def test_a_page_that_is_loaded_again_waits_for_its_old_console(connect: Callable[..., Any]) -> None:
    door = Door(most=1)
    door.program = f"{ECHO}; import time; time.sleep(0.2)"
    async with door.open() as client:
        page = await connect(client, door)
        assert await page.receive_bytes() == b"full"
        await page.close()
        again = await connect(client, door)
        assert await again.receive_bytes() == b"full"  # not refused, though there is room for one only
        await again.close()


FILE = """
import json, sys
out, key = sys.stdout.buffer, b"0" * 32
def put(kind, payload):
    out.write(kind + len(payload).to_bytes(4, "big") + payload)
    out.flush()
out.write(b"__GANGLION__\\n")
offer = {"type": "deliver_file_start", "key": key.decode(), "path": "/downloads/a \\"b\\"\\r\\n ä.html"}
put(b"M", json.dumps(offer).encode())
for piece in (b"<script>", b"text", b""):
    head = sys.stdin.buffer.read(5)
    asked = json.loads(sys.stdin.buffer.read(int.from_bytes(head[1:], "big")))
    assert asked["type"] == "deliver_chunk_request", asked
    put(b"F", key + b"\\n" + piece)
sys.stdin.buffer.read()
"""


async def test_a_file_goes_once_to_a_page_of_the_same_kind_and_is_never_shown(connect: Callable[..., Any]) -> None:
    door = Door()
    door.program = FILE
    async with door.open() as client:
        page = await connect(client, door)
        what, offer = await page.receive_json()
        assert (what, offer["name"]) == ("download", 'a "b"\r\n ä.html')
        path = f"/download/{offer['key']}"
        assert (await client.get(path, headers=door.cookie(PageAccess.READ_ONLY))).status == 404
        assert (await client.head(path, headers=door.cookie())).status == 405
        answer = await client.get(path, headers=door.cookie())
        assert await answer.read() == b"<script>text"
        assert answer.content_type == "application/octet-stream"
        assert answer.headers["Content-Disposition"] == (
            "attachment; filename=\"a _b___ _.html\"; filename*=UTF-8''a%20%22b%22%0D%0A%20%C3%A4.html"
        )
        assert (await client.get(path, headers=door.cookie())).status == 404
        await page.close()


async def test_a_file_that_breaks_off_is_no_whole_file(connect: Callable[..., Any]) -> None:
    door = Door()
    door.program = FILE.partition("for piece")[0] + BROKEN_OFF
    async with door.open() as client:
        page = await connect(client, door)
        path = f"/download/{(await page.receive_json())[1]['key']}"
        answer = await client.get(path, headers=door.cookie())
        assert (await client.get(path, headers=door.cookie())).status == 404  # there is one reader of its pieces
        await page.send_json(["stdin", "end"])
        with pytest.raises(ClientPayloadError):
            await answer.read()
        await page.close()


BROKEN_OFF = """
def heard():
    head = sys.stdin.buffer.read(5)
    return sys.stdin.buffer.read(int.from_bytes(head[1:], "big"))
heard()
put(b"F", key + b"\\n" + b"half")
while heard() != b"end":
    pass
"""
