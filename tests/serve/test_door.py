"""Who is let in: links and cookies, names and origins, and what every answer says to the browser."""

from __future__ import annotations

import re
import secrets

import pytest
from aiohttp import WSServerHandshakeError

from console.serve.access import PageAccess, is_known_host, is_own_origin, plain_name
from console.serve.website import page_policy
from tests.serve.door import COOKIE, Door, origin

PATHS = ("/", "/ws", "/alive", "/page/page.js", "/terminal/js/textual.js", f"/download/{'0' * 32}", "/static/", "/no")


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
        ("127.0.0.1:80#", False),
        ("127.0.0.1:80?", False),
        ("local\thost", False),
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
