"""Relays that break off, lie, flood, drip or answer with anything."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest

from mailstore.errors import MailError
from mailstore.kinds.agentazall.transports import relay as relay_module
from mailstore.kinds.agentazall.transports import relay_http, relay_wire
from mailstore.kinds.agentazall.transports.relay import RelayAccount, RelayTransport, register
from mailstore.kinds.agentazall.transports.transport import IncomingMessage, MessageRefused, unexpected
from mailstore.kit.secret import Secret
from mailstore.kit.secure import TransportDown
from tests.kinds.agentazall.transports.outgoing import message as outgoing_message
from tests.kinds.agentazall.transports.receiver import KeptMessages
from tests.servers.certificates import Certificates
from tests.servers.scripted import endless, heard_request, http, scripted_server

Script = Callable[[socket.socket], None]
TOKEN = "a-token-of-ours"


def message(number: int, **changes: Any) -> dict[str, Any]:
    payload = json.dumps({"subject": "s", "body": f"text {number} ✓", "message_id": f"m{number}"})
    made = {"id": f"{number}_ann_00000000", "from": "ann.agenttalk", "to": "bob.agenttalk"}
    return {**made, "timestamp": "2026-11-20T20:49:16.845840", "payload": payload, **changes}


def answer(*messages: object, agent: str = "bob.agenttalk") -> bytes:
    return json.dumps({"agent": agent, "count": len(messages), "messages": messages}).encode()


def transport(port: int, **changes: Any) -> RelayTransport:
    return RelayTransport(
        RelayAccount(f"http://127.0.0.1:{port}", "bob.agenttalk", Secret.of(TOKEN), seconds=5.0, **changes)
    )


def polled(receiver: KeptMessages, *scripts: Script) -> str:
    """Poll a scripted relay once; return the error."""
    with scripted_server(*scripts) as port, pytest.raises(TransportDown) as failure:
        transport(port).receive(receiver)
    assert TOKEN not in str(failure.value)
    return str(failure.value)


def test_of_an_answer_that_breaks_off_the_whole_messages_are_kept(receiver: KeptMessages) -> None:
    data = answer(*map(message, range(5)))
    cut = data.index(b"text 3")
    assert "stopped amid its answer" in polled(receiver, http(data[:cut], claims=len(data)))
    assert sorted(each.id for each in receiver.messages) == ["m0", "m1", "m2"]
    assert list(receiver.turned.values()) == ["part of an answer that can't be read"]
    assert b"3_ann" in next(iter(receiver.excerpts.values()))
    assert receiver.spooled() == []


def test_a_flood_is_cut_and_what_came_before_is_kept(receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "MOST_RESPONSE", 1 << 20)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n"
    text = polled(receiver, endless(head + answer(message(1))[:-2] + b', {"id": "2", "payload": "'))
    assert "sent more than 1024 KiB" in text
    assert [each.id for each in receiver.messages] == ["m1"]


@pytest.mark.parametrize("limit", ["MOST_PIECES", "PATIENCE_SECONDS"])
def test_an_answer_in_crumbs_is_cut_and_what_came_before_is_kept(
    receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(relay_http, limit, 0)
    monkeypatch.setattr(relay_http, "LEAST_PACE", 1 << 40)
    whole = answer(message(1))[:-2] + b', {"id": "'
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%s\r\n" % (len(whole), whole)
    assert "came in too small pieces" in polled(receiver, endless(head, b"1\r\nx\r\n"))
    assert [each.id for each in receiver.messages] == ["m1"]


def test_a_packed_answer_is_read_and_a_bomb_is_cut(receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    packed, bomb = gzip.compress(answer(message(1))), gzip.compress(answer(message(2))[:-2] + b" " * (8 << 20))
    with scripted_server(http(packed, "200 OK", "Content-Encoding: gzip")) as port:
        assert transport(port).receive(receiver) == 1
    monkeypatch.setattr(relay_module, "MOST_RESPONSE", 1 << 20)
    assert "more than 1024 KiB" in polled(receiver, http(bomb, "200 OK", "Content-Encoding: gzip"))
    assert [each.id for each in receiver.messages] == ["m1", "m2"]
    assert "not answer as a relay" in polled(receiver, http(b"x" * 100, "200 OK", "Content-Encoding: zstd"))


def test_more_messages_than_a_relay_would_hold_are_a_flood(
    receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_wire, "MOST_MESSAGES", 3)
    with scripted_server(http(answer(*map(message, range(9))))) as port:
        assert transport(port).receive(receiver) == 3
    assert list(receiver.turned.values()) == ["part of an answer that can't be read"]
    monkeypatch.setattr(relay_wire, "MOST_VALUES", 1000)
    crowd = b'{"messages": [' + b"{}," * 2000 + b'{"id": "1", "payload": "kept"}' + b',{"a":1}' * 50 + b"]}"
    with scripted_server(http(crowd)) as port:
        assert transport(port).receive(receiver) == 1
    assert receiver.messages[-1].body == "kept"


def test_a_server_that_drips_is_left(receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "POLL_SECONDS", 0.3)

    def drip(connection: socket.socket) -> None:
        heard_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        connection.settimeout(0.05)
        while True:
            connection.sendall(b"x")
            try:
                if not connection.recv(1):
                    return
            except TimeoutError:
                pass

    assert "does not answer" in polled(receiver, drip)


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>a portal</html>", b"[]", b"\xff\xfe" * 500, b"[" * 100_000, b'{"messages": 3}', b'{"agent": "bob"}'],
)
def test_garbage_is_no_mail(receiver: KeptMessages, body: bytes) -> None:
    assert "does not answer as a relay" in polled(receiver, http(body))
    assert receiver.messages == []
    assert list(receiver.turned.values()) == ["not a relay's answer"]


def test_odd_messages_are_kept_or_named(receiver: KeptMessages) -> None:
    many = json.dumps({"body": "x", "attachments": [{"name": "a", "data": ""}] * 1001})
    odd: list[Any] = [
        message(1),
        message(1),  # the same again
        message(1, payload="another message under an id that is taken"),
        {"payload": "no id, no sender"},
        message(2, payload={"body": {"not": "text"}, "subject": 5}),
        message(3, id="../../etc", timestamp=12, payload=None),
        message(4, id=None, payload=json.dumps({"body": "\ud800", "to": "x"})),
        message(5, payload=many),
        "no object",
    ]
    with scripted_server(http(answer(*odd)), http(answer(message(1)))) as port:
        bob = transport(port)
        assert bob.receive(receiver) == 6
        bodies = [each.body for each in receiver.messages]
        assert bodies[:3] == ["text 1 ✓", "another message under an id that is taken", "no id, no sender"]
        assert bodies[3] == '{"not":"text"}'
        assert sorted(receiver.turned.values()) == [
            "more than 1000 attachments", "part of an answer that can't be read",
        ]  # fmt: skip
        assert receiver.spooled() == []


@pytest.mark.parametrize(
    ("status", "said", "error", "words"),
    [
        ("400 Bad Request", "Recipient required", MessageRefused, "can't read this message"),
        ("401 Unauthorized", "Unauthorized", TransportDown, "rejects this token"),
        ("404 Not Found", "Recipient 'x' not found", MessageRefused, "x has no account on this relay"),
        ("404 Not Found", "Not found", TransportDown, "this URL is not a relay's"),
        ("409 Conflict", "exists", MessageRefused, "the name is taken"),
        ("413 Too Large", "Message too large", MessageRefused, "larger than the relay takes"),
        ("429 Too Many", "slow down", TransportDown, "too many requests"),
        ("503 Unavailable", "restarting", TransportDown, "not available"),
        ("507 Insufficient", "Recipient inbox full", TransportDown, "inbox on the relay is full"),
        ("500 Oops", f"\x1b[2J {TOKEN}\nx" * 50, TransportDown, "the relay answered 500"),
        ("302 Found", "", TransportDown, "has moved"),
        ("200 OK", "", TransportDown, "does not answer as a relay"),
    ],
)
def test_each_status_is_a_clear_error(status: str, said: str, error: type[MailError], words: str) -> None:
    head = ("Location: http://127.0.0.1:1/", "Retry-After: 17")
    with (
        scripted_server(http(json.dumps({"error": said}).encode(), status, *head)) as port,
        pytest.raises(error, match=words) as failure,
    ):
        transport(port).send(outgoing_message(), "x")
    text = str(failure.value)
    assert text.isprintable()
    assert TOKEN not in text
    assert len(text) < 400
    assert ("wait 17 s" in text) == (status[:3] in ("429", "503"))


def test_no_server_and_one_that_hangs_up_are_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(TransportDown, match="refuses connections"):
        transport(port).send(outgoing_message(), "x")
    with scripted_server(lambda connection: None) as port, pytest.raises(TransportDown, match="ended the connection"):
        transport(port).send(outgoing_message(), "x")


@pytest.mark.parametrize(
    "url",
    [
        "http://relay.example",
        "http://127.0.0.1:80@relay.example",
        "ftp://x",
        "relay.example",
        "http://h:99999",
        "https://",
    ],
)
def test_a_token_goes_to_no_place_that_could_tell_it(url: str) -> None:
    with pytest.raises(MailError, match=r"without encryption|URL"):
        RelayTransport(RelayAccount(url, "bob", Secret.of(TOKEN)))


def test_a_token_that_breaks_a_header_is_never_sent() -> None:
    account = RelayAccount("http://127.0.0.1:1", "bob", Secret.of("x\r\nHost: y"))
    with pytest.raises(TransportDown, match="characters that no token has"):
        RelayTransport(account).send(outgoing_message(), "x")


def test_a_registration_that_is_another_one_is_refused() -> None:
    given = {"agent_address": "eve.agenttalk", "api_token": "t"}
    with (
        scripted_server(http(json.dumps(given).encode(), "201 Created")) as port,
        pytest.raises(TransportDown, match="registered something else"),
    ):
        register(f"http://127.0.0.1:{port}", "bob")


@contextmanager
def tls(script: Script, certificate: Any, key: Any) -> Any:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def wrapped(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as inner:
            script(inner)

    with scripted_server(wrapped) as port:
        yield port


def test_certificates_are_checked(server_certificates: Certificates, receiver: KeptMessages) -> None:
    files = server_certificates
    script = http(answer(message(1)))
    cases = [
        (files.certificate, files.key, None, "unknown authority"),
        (files.expired, files.expired_key, files.authority, "expired"),
        (files.elsewhere, files.elsewhere_key, files.authority, "another host"),
    ]
    for certificate, key, authority, words in cases:
        with tls(script, certificate, key) as port:
            account = RelayAccount(f"https://127.0.0.1:{port}", "bob", Secret.of(TOKEN), authority)
            with pytest.raises(TransportDown, match=words):
                RelayTransport(account).receive(receiver)
    with tls(script, files.certificate, files.key) as port:
        account = RelayAccount(f"https://127.0.0.1:{port}", "bob", Secret.of(TOKEN), files.authority)
        assert RelayTransport(account).receive(receiver) == 1
    kept: list[IncomingMessage] = receiver.messages
    assert [each.body for each in kept] == ["text 1 ✓"]


def test_a_message_at_which_reading_fails_stops_no_other(
    receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(found: Any) -> IncomingMessage:
        if found["id"].startswith("1_"):
            raise LookupError("hunter2")
        return relay_wire.message_of(found)

    monkeypatch.setattr(relay_module, "message_of", broken)
    receiver.spool(answer(message(1), message(2)))
    polled(receiver, http(b"", "500 Broken"))
    assert [each.id for each in receiver.messages] == ["m2"]
    ((key, reason),) = receiver.turned.items()
    assert reason.startswith("internal error (LookupError at test_relay_hostile.py:")
    assert b"text 1" in receiver.excerpts[key]


@pytest.mark.parametrize("error", [MemoryError(), OSError(28, "full"), TransportDown("down", "wait")])
def test_what_is_not_a_messages_fault_is_raised(error: Exception) -> None:
    with pytest.raises(type(error)):
        unexpected(error)
