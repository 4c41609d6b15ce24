"""Who is let in: links and cookies, names and origins, and what every answer says to the browser."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientPayloadError, WSMsgType, WSServerHandshakeError
from aiohttp.test_utils import TestClient, TestServer

from console.serve.access import KeyPair, Keys, PageAccess
from console.serve.headers import page_policy
from console.serve.origins import is_known_host, is_own_origin, plain_name
from console.serve.sockets import FAILED, FULL, Sockets
from console.serve.website import Website

COOKIE = "signalbox-1"
PATHS = ("/", "/ws", "/alive", "/page/page.js", "/terminal/js/textual.js", f"/download/{'0' * 32}", "/static/", "/no")
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


async def test_nothing_is_shown_without_a_cookie() -> None:
    door = Door()
    async with door.open() as client:
        for path in PATHS:
            for cookie in ("", f"{COOKIE}=", f"{COOKIE}={'0' * 32}", f"{COOKIE}={door.keys.tokens()[PageAccess.FULL]}"):
                answer = await client.get(path, headers={"Cookie": cookie, **origin(client)})
                assert answer.status == 401, path
                assert "Open the whole link" in await answer.text()
    assert not door.asked


async def test_a_link_becomes_a_cookie_and_its_address_loses_the_token() -> None:
    door = Door()
    async with door.open() as client:
        for access, token in door.keys.tokens().items():
            assert re.fullmatch("[0-9a-f]{32}", token)
            answer = await client.get(f"/?token={token}", allow_redirects=False)
            assert (answer.status, answer.headers["Location"]) == (303, "/")
            cookie = answer.headers["Set-Cookie"]
            assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
            assert token not in cookie
            value = cookie.split(";")[0].partition("=")[2]
            assert door.keys.by_cookie(value) is access
            assert door.keys.by_token(value) is None
        for wrong in ("", token[:-1], token + "0", token.upper() + "x", "ä" * 32, "\0", "%ff"):
            answer = await client.get("/", params={"token": wrong}, allow_redirects=False)
            assert answer.status == 401
            assert "Set-Cookie" not in answer.headers
    assert token not in repr(door.keys)


async def test_cookies_of_other_servers_on_this_machine_do_not_lock_the_person_out() -> None:
    door = Door()
    async with door.open() as client:
        (own,) = door.cookie().values()
        for other in ('theme={"a":"b, c"}', 'a="b', "a b;;=; é=1", f"x={'y' * 4000}", f"{COOKIE}x=0"):
            for cookies in (f"{other}; {own}", f"{own}; {other}"):
                assert (await client.get("/alive", headers={"Cookie": cookies})).status == 204, cookies


async def test_with_tls_the_cookie_is_never_sent_without() -> None:
    door = Door(is_secure=True)
    async with door.open() as client:
        answer = await client.get("/", params={"token": door.keys.tokens()[PageAccess.FULL]}, allow_redirects=False)
        assert "Secure" in answer.headers["Set-Cookie"].split("; ")


def test_secrets_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr(secrets, "compare_digest", lambda *texts: compared.append(texts) or False)
    keys = Door().keys
    assert keys.by_token("t") is None
    assert keys.by_cookie("c") is None
    assert [given for given, _ in compared] == [b"t", b"t", b"c", b"c"]  # both keys, whatever the first one says


@pytest.mark.parametrize(
    ("host", "is_known"),
    [
        ("127.0.0.1:8400", True),
        ("localhost", True),
        ("LOCALHOST:9000", True),
        ("[::1]:8400", True),
        ("127.0.0.1.evil.example:8400", False),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("box.example:1", True),
        ("box.example.", True),
        ("10.0.0.1", False),
        ("", False),
        ("localhost@evil.example", False),
        ("evil.example/localhost", False),
        ("localhost:port", False),
        ("[::1", False),
        ("[0:0:0:0:0:0:0:1]:1", True),
        ("localhost.:80", True),
        ("BOX.example", True),
        ("[2001:db8::1]", True),
        ("[2001:DB8:0::1]:8400", True),
        ("2130706433", False),
        ("127.0.0.1,evil.example", False),
        ("127.0.0.1;script-src", False),
    ],
)
def test_names_of_the_server(host: str, is_known: bool) -> None:
    assert is_known_host(host, {*map(plain_name, ("Box.Example.", "2001:DB8:0:0::1"))}) is is_known


def test_a_server_on_every_interface_is_known_by_addresses_and_not_by_other_names() -> None:
    for every in ("0.0.0.0", "::"):
        assert is_known_host("192.0.2.7:8400", {every})
        assert is_known_host("[2001:db8::1]", {every})
        assert not is_known_host("evil.example", {every})
    assert not is_known_host("192.0.2.8", {"192.0.2.7"})


@pytest.mark.parametrize(
    ("origin", "is_own"),
    [
        ("http://127.0.0.1:8400", True),
        ("https://127.0.0.1:8400", True),
        ("http://127.0.0.1:8401", False),
        ("http://localhost:8400", False),
        ("null", False),
        ("", False),
        ("file://127.0.0.1:8400", False),
        ("http://127.0.0.1:8400.evil.example", False),
    ],
)
def test_pages_of_the_server(origin: str, is_own: bool) -> None:
    assert is_own_origin(origin, "127.0.0.1:8400", is_secure=False) is is_own
    assert not is_own_origin(origin.replace("https:", "http:"), "127.0.0.1:8400", is_secure=True)


async def test_other_names_and_pages_from_elsewhere_are_refused_with_a_cookie_too() -> None:
    door = Door()
    async with door.open() as client:
        rebound = {"Host": f"evil.example:{client.port}", **door.cookie()}
        assert {(await client.get(path, headers=rebound)).status for path in PATHS} == {421}
        token = {"token": door.keys.tokens()[PageAccess.FULL]}
        assert (await client.get("/", params=token, headers=rebound)).status == 421
        for foreign in ("https://evil.example", "http://127.0.0.1:1", "null", f"http://localhost:{client.port}"):
            with pytest.raises(WSServerHandshakeError) as refused:
                await client.ws_connect("/ws", headers={**door.cookie(), "Origin": foreign})
            assert refused.value.status == 403
            assert (await client.get("/alive", headers={**door.cookie(), "Origin": foreign})).status == 403
        with pytest.raises(WSServerHandshakeError):
            await client.ws_connect("/ws", headers=door.cookie())  # no browser opens a socket without an origin
        cross = {**door.cookie(), "Sec-Fetch-Site": "cross-site"}
        for path, mode, status in (
            ("/", "navigate", 200),
            ("/", "no-cors", 403),
            ("/page/page.js", "no-cors", 403),
            ("/alive", "navigate", 403),
        ):
            assert (await client.get(path, headers={**cross, "Sec-Fetch-Mode": mode})).status == status, path
    assert not door.asked


async def test_every_answer_forbids_what_no_page_here_needs() -> None:
    door = Door()
    async with door.open() as client:
        answers = [await client.get(path, headers={**door.cookie(), **origin(client)}) for path in PATHS]
        answers += [await client.get("/"), await client.get("/", headers={"Host": "evil.example"})]
        answers.append(await client.post("/", headers=door.cookie()))
        for answer in answers:
            policy = answer.headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'")
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert "aiohttp" not in answer.headers["Server"]
        first, second = [await client.get("/", headers=door.cookie()) for _ in range(2)]
        (nonce,) = re.findall("'nonce-([0-9a-f]{32})'", first.headers["Content-Security-Policy"])
        assert nonce in await first.text()
        assert nonce not in await second.text()
    assert "wss://box.example" in page_policy("box.example", "n", is_secure=True)


async def test_only_the_files_of_the_page_are_served() -> None:
    door = Door()
    async with door.open() as client:
        for path in (
            "/page/refused.html",
            "/page/..%2faccess.py",
            "/terminal/..%2fserver.py",
            "/terminal/css/",
            "/page/",
        ):
            assert (await client.get(path, headers=door.cookie())).status == 404, path
        assert (await client.get("/terminal/js/textual.js", headers=door.cookie())).status == 200


@pytest.fixture
def connect() -> Iterator[Callable[..., Any]]:
    def connect(client: Client, door: Door, access: PageAccess = PageAccess.FULL) -> Any:
        return client.ws_connect("/ws?width=x&height=99999", headers={**door.cookie(access), **origin(client)})

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
    monkeypatch.setattr("console.serve.bridge.ANSWER_SECONDS", 0.1)
    monkeypatch.setattr("console.serve.sockets.CLOSE_SECONDS", 0.05)
    door = Door(most=1)
    async with door.open() as client:
        lost = await connect(client, door)
        assert await lost.receive_bytes() == b"full"  # and from now on it answers nothing
        page = await connect(client, door)
        assert await page.receive_bytes() == b"full"
        there = asyncio.create_task(page.receive())
        refused = await connect(client, door)
        assert (await refused.receive()).data == FULL  # that page is there: it was asked
        assert not there.done()
        await page.close()
        await there


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
