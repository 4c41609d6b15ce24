"""Connections to servers: each way to say who one is, TLS, and a clear error for each way to fail."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any
from unittest.mock import patch

import pytest

from mailstore import server_settings
from mailstore.errors import StoreError
from mailstore.kinds.nats import connection
from mailstore.kinds.nats.address import location_of
from mailstore.kinds.nats.credentials import credentials_for
from mailstore.kinds.nats.own_server import NatsServer
from mailstore.records.draft import draft
from mailstore.records.message import Message
from mailstore.registry import create_store, open_store
from tests.patience import PATIENCE
from tests.servers.certificates import Certificates
from tests.servers.fixtures import need_nats
from tests.servers.nats_accounts import KeyPair, Operator
from tests.servers.nats_configs import one_node, users_block

PASSWORD = "pass-8f2c"


@pytest.fixture(autouse=True)
def _needed() -> None:
    need_nats()


@pytest.fixture
def server_with(tmp_path: Path) -> Iterator[Any]:
    servers: list[NatsServer] = []

    def start(*blocks: str) -> NatsServer:
        server = NatsServer(one_node(tmp_path / f"server{len(servers)}", *blocks))
        servers.append(server)
        server.start()
        return server

    yield start
    for server in servers:
        server.stop()


def tls_block(certificates: Certificates, name: str = "certificate", more: str = "") -> str:
    key = "key" if name == "certificate" else f"{name}_key"
    return f'tls {{ cert_file: "{getattr(certificates, name)}", key_file: "{getattr(certificates, key)}"{more} }}'


def who_am_i(host: str, environment: Mapping[str, str], *, tls: bool = False, **more: Any) -> dict[str, Any]:
    """Connect, and return what the server says of the connection."""
    from mailstore.kinds.nats.opening import opened

    address = location_of(f"//{host}/fleet", is_tls=tls).address

    async def ask() -> dict[str, Any]:
        client = await opened(address, options, **more)
        try:
            await client.flush()
            return dict(client._server_info)
        finally:
            await client.close()

    names = {f"SIGNALBOX_NATS_{name}": value for name, value in environment.items()}
    with patch.dict("os.environ", names):
        options = credentials_for(address, more.pop("userinfo", ()))
    return asyncio.run(ask())


def refused(host: str, environment: Mapping[str, str], **more: Any) -> str:
    with pytest.raises(StoreError) as caught:
        who_am_i(host, environment, **more)
    assert PASSWORD not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
    return str(caught.value)


def test_a_user_is_taken_from_the_url_or_the_environment(server_with: Any, tmp_path: Path) -> None:
    server = server_with(users_block({"maria": (PASSWORD, {})}))
    file = tmp_path / "password"
    file.write_text(PASSWORD + "\n")
    file.chmod(0o600)
    assert who_am_i(server.address, {}, userinfo=("maria", PASSWORD))
    assert who_am_i(server.address, {"USER": "maria", "PASSWORD": PASSWORD})
    assert who_am_i(server.address, {"USER": "maria", "PASSWORD_FILE": str(file)})
    host = f"{server.address} refused the credentials: check user, password, creds file or NKEY"
    assert refused(server.address, {"USER": "maria", "PASSWORD": "wrong"}) == host
    assert refused(server.address, {}) == host


def test_a_token_is_taken(server_with: Any) -> None:
    server = server_with(f"authorization {{ token: {PASSWORD} }}")
    assert who_am_i(server.address, {"PASSWORD": PASSWORD})
    assert who_am_i(server.address, {}, userinfo=(PASSWORD,))


def test_an_nkey_signs_what_the_server_asks(server_with: Any, tmp_path: Path) -> None:
    known, other = KeyPair("user"), KeyPair("user")
    server = server_with(f"authorization {{ users = [ {{ nkey: {known.public} }} ] }}")
    file = tmp_path / "user.nk"
    for seed in (known.seed, other.seed):
        file.write_text(seed + "\n")
        file.chmod(0o600)
        if seed == known.seed:
            assert who_am_i(server.address, {"NKEY": str(file)})
        else:
            assert "refused the credentials" in refused(server.address, {"NKEY": str(file)})


def test_a_creds_file_holds_a_user_of_an_account(server_with: Any, tmp_path: Path) -> None:
    operator = Operator()
    server = server_with(operator.block)
    assert who_am_i(server.address, {"CREDS": str(operator.creds(tmp_path / "maria.creds"))})
    late = operator.creds(tmp_path / "late.creds", expires=time.time() - 10)
    assert "credentials" in refused(server.address, {"CREDS": str(late)})
    strange = Operator().creds(tmp_path / "strange.creds")
    assert "refused the credentials" in refused(server.address, {"CREDS": str(strange)})


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = Operator().creds(tmp_path / "open.creds")
    file.chmod(0o644)
    assert refused("127.0.0.1:1", {"CREDS": str(file)}) == f"others can read {file}: chmod 600 {file}"
    assert "can't be read" in refused("127.0.0.1:1", {"CREDS": str(tmp_path / "none")})
    file.chmod(0o600)
    file.write_text("nothing")
    assert "is not a creds file" in refused("127.0.0.1:1", {"CREDS": str(file)})
    assert "is not the seed of a user" in refused("127.0.0.1:1", {"NKEY": str(file)})


def test_tls_checks_the_name_the_date_and_the_authority(server_with: Any, server_certificates: Certificates) -> None:
    trusted = {"CA": str(server_certificates.authority)}
    server = server_with(tls_block(server_certificates), users_block({"maria": (PASSWORD, {})}))
    maria = {"USER": "maria", "PASSWORD": PASSWORD}
    assert who_am_i(server.address, {**trusted, **maria}, tls=True)
    assert "unknown authority: set SIGNALBOX_NATS_CA" in refused(server.address, maria, tls=True)
    assert "takes connections with TLS only: write nats+tls://" in refused(server.address, maria)
    late = server_with(tls_block(server_certificates, "expired"))
    assert "shows an expired certificate" in refused(late.address, trusted, tls=True)
    other = server_with(tls_block(server_certificates, "elsewhere"))
    assert "shows a certificate for another host" in refused(other.address, trusted, tls=True)
    assert "certificate" in refused(f"{other.address},{late.address}", trusted, tls=True)
    for bad in (late, other):  # two of three: the good one is not the first to be asked
        assert who_am_i(f"{bad.address},{server.address},localhost:{bad.port}", {**trusted, **maria}, tls=True)


def test_a_client_shows_its_certificate(server_with: Any, server_certificates: Certificates) -> None:
    more = f', ca_file: "{server_certificates.authority}", verify: true'
    server = server_with(tls_block(server_certificates, more=more))
    trusted = {"CA": str(server_certificates.authority)}
    own = {"CERT": str(server_certificates.certificate), "KEY": str(server_certificates.key)}
    assert who_am_i(server.address, {**trusted, **own}, tls=True)
    assert "127.0.0.1" in refused(server.address, trusted, tls=True)
    assert "can't be used" in refused(server.address, {"CA": "/nowhere"}, tls=True)
    assert "can't be read" in refused(server.address, {**trusted, "CERT": "/nowhere"}, tls=True)


def test_no_password_goes_to_a_server_without_tls(server_certificates: Certificates) -> None:
    heard = b""
    info = b'INFO {"server_id":"x","version":"2.15.0","auth_required":true,"max_payload":1048576}\r\n'

    def listen(listener: socket.socket) -> None:
        nonlocal heard
        connection, _ = listener.accept()
        with connection:
            connection.sendall(info)
            while data := connection.recv(4096):
                heard += data

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = Thread(target=listen, args=(listener,))
        thread.start()
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        environment = {"USER": "maria", "PASSWORD": PASSWORD, "CA": str(server_certificates.authority)}
        assert "offers no TLS" in refused(host, environment, tls=True)
        thread.join()
    assert heard == b""


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "is not a NATS server: check the port"),
        (b"INFO {broken\r\n", "is not a NATS server"),
        (b"x" * 200_000, "is not a NATS server"),
        (b"", "is not a NATS server"),
        (b'INFO {"server_id":"x"}\r\n', "ended the connection"),
        (b"INFO []\r\n", "is not a NATS server"),
    ],
)
def test_what_is_no_server_is_told(said: bytes, words: str) -> None:
    def answer(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):  # the other side may be gone already
                connection.sendall(said)
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(PATIENCE)
                while connection.recv(4096):
                    pass

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = Thread(target=answer, args=(listener,), daemon=True)
        thread.start()
        assert words in refused(f"127.0.0.1:{listener.getsockname()[1]}", {})
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE)


def test_no_server_and_a_silent_one_are_told() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        assert f"{host} does not answer" in refused(host, {}, seconds=0.1)
    assert f"{host} refuses connections: start the server" in refused(host, {})
    assert "can't be found by its name" in refused("nowhere.invalid:4222", {})


def test_a_server_that_is_slow_to_answer_is_tried_again(server_with: Any) -> None:
    from mailstore.kinds.nats.opening import ended, opened

    server = server_with()
    address = location_of(f"//{server.address}/fleet").address

    async def connect() -> bool:
        os.kill(server.pid, signal.SIGSTOP)
        asyncio.get_running_loop().call_later(0.8, os.kill, server.pid, signal.SIGCONT)
        client = await opened(address, {"connect_timeout": 0.3}, seconds=PATIENCE)
        await ended(client)
        return client.is_closed

    assert asyncio.run(connect())


def test_one_attempt_at_a_time_is_made_to_reach_a_server_that_ended(
    server_with: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mailstore.kinds.nats import opening

    opened, at_once, most, enough = opening.opened, 0, 0, Event()

    async def counted(*words: Any, **more: Any) -> Any:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        try:
            return await opened(*words, **more)
        except StoreError:
            failed.append(None)
            if len(failed) == 8:
                enough.set()
            raise
        finally:
            at_once -= 1

    failed: list[None] = []
    server = server_with()
    with create_store("nats", f"//{server.address}/fleet") as store:
        monkeypatch.setattr(opening, "opened", counted)
        monkeypatch.setattr(connection, "STUCK_SECONDS", 0.0)
        monkeypatch.setattr(connection, "AGAIN_SECONDS", 0.01)
        server.kill()
        assert enough.wait(PATIENCE)
        assert most == 1
        assert len(store._connection._tasks) == 1  # type: ignore[attr-defined]


def test_the_settings_are_read_where_the_environment_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"user": "maria", "password_file": "", "creds": "/nowhere.creds"}

    class Kept(server_settings.ProgramSettings):
        def table(self, name: str) -> Mapping[str, object]:
            return settings if name == "nats" else {}

    monkeypatch.setattr(server_settings, "_make", Kept)
    address = location_of("//127.0.0.1/fleet").address
    with pytest.raises(StoreError, match=r"/nowhere\.creds can.t be read"):
        credentials_for(address)
    settings["creds"] = ""
    assert credentials_for(address)["user"] == "maria"
    monkeypatch.setenv("SIGNALBOX_NATS_PASSWORD", PASSWORD)
    assert credentials_for(address) == {"token": PASSWORD}


def test_a_server_that_freezes_is_left_for_another_at_once_with_tls_too(
    server_with: Any,
    server_certificates: Certificates,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    from mailstore.kinds.nats.opening import ended, opened

    monkeypatch.setenv("SIGNALBOX_NATS_CA", str(server_certificates.authority))
    servers = [server_with(tls_block(server_certificates)) for _ in range(2)]
    address = location_of(f"//{','.join(server.address for server in servers)}/fleet", is_tls=True).address

    async def freeze() -> None:
        back = asyncio.Event()

        async def note() -> None:
            back.set()

        quick = {"ping_interval": 0.2, "max_outstanding_pings": 2, "connect_timeout": 0.5}
        options = {**credentials_for(address), **quick}
        client = await opened(address, options, callbacks={"reconnected_cb": note})
        assert client.connected_url is not None
        frozen = next(server for server in servers if client.connected_url.netloc.endswith(f":{server.port}"))
        frozen.freeze()
        try:
            await asyncio.wait_for(back.wait(), PATIENCE)
            assert not client.connected_url.netloc.endswith(f":{frozen.port}")
        finally:
            frozen.thaw()
            await ended(client)

    asyncio.run(freeze())
    for server in servers:
        server.stop()
    assert not [record for record in caplog.records if record.name == "asyncio"]


def test_a_mailbox_is_used_over_tls(
    server_with: Any, server_certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = server_with(tls_block(server_certificates), users_block({"maria": (PASSWORD, {})}))
    monkeypatch.setenv("SIGNALBOX_NATS_CA", str(server_certificates.authority))
    with create_store("nats+tls", f"//maria:{PASSWORD}@{server.address}/fleet") as store:
        sent = store.send(draft(sender="ann", recipients=("bob",), content="In private."))
        assert (store.url, store.title) == (f"nats+tls://{server.address}/fleet", f"fleet on {server.address}")
        assert store.content(sent) == "In private."
    with open_store(store.url) as again:
        assert [each.id for batch in again.scan() for each in batch if isinstance(each, Message)] == [sent.id]
    with pytest.raises(StoreError, match=r"takes connections with TLS only: write nats\+tls://"):
        open_store(f"nats://maria:{PASSWORD}@{server.address}/fleet")
