"""Every way in which MCP Agent Mail's server can fail: a clear line, and nothing sent twice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailstore.errors import StoreError
from mailstore.kinds.agent_mail.server import sending, tools
from mailstore.kinds.agent_mail.store import AgentMailStore
from mailstore.records.draft import Draft, draft
from mailstore.store import Store
from tests.kinds.agent_mail.servers import Server
from tests.servers.agent_mail import AgentMailServer
from tests.servers.agent_mail_tools import ServedMail
from tests.servers.bad_http import BAD_ANSWERS, BadServer
from tests.servers.certificates import Certificates

MESSAGE: Draft = draft(sender="user", recipients=("GreenLake",), content="Hello.")
SAID = {
    "silent": "does not answer: check that it runs",
    "endless": "sends too much",
    "nothing": "ended the connection",
    "garbage": "ended the connection",
    "half": "ended the connection",
    "no JSON": "answers what is not MCP",
    "no MCP": "answers what is not MCP",
    "a page": "answers what is not MCP",
}


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    database = Server(tmp_path / "storage.sqlite3")
    database.make()
    database.message("GreenLake", ["HumanOverseer"], subject="Hello")
    database.close()
    monkeypatch.setattr(tools, "SECONDS", 20.0)
    return database.path


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    with AgentMailStore.open(database) as store:
        yield store


@pytest.fixture
def mail(database: Path, agent_mail_server: AgentMailServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedMail]:
    monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", agent_mail_server.url)
    with agent_mail_server.serving(database) as served:
        monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_TOKEN", served.token)
        yield served


def numbers(database: Path) -> list[int]:
    with AgentMailStore.open(database) as store:
        return sorted(int(event.id) for batch in store.scan() for event in batch if hasattr(event, "subject"))


@pytest.mark.parametrize("way", BAD_ANSWERS)
def test_a_server_that_answers_badly_is_told_within_the_time(
    way: str, store: Store, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "silent":
        monkeypatch.setattr(tools, "SECONDS", 0.2)
    with BadServer(way) as bad:
        monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", f"http://127.0.0.1:{bad.port}/mcp/")
        begun = time.monotonic()
        with pytest.raises(StoreError, match=SAID[way]) as caught:
            store.send(MESSAGE)
    assert time.monotonic() - begun < 10
    assert f"127.0.0.1:{bad.port}" in str(caught.value)
    assert numbers(database) == [1]


def test_no_server_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with BadServer("nothing") as bad:
        pass
    monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", f"http://127.0.0.1:{bad.port}/mcp/")
    with pytest.raises(StoreError, match="refuses connections: start the server"):
        store.send(MESSAGE)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (302, "sends its visitors elsewhere"),
        (401, "refuses the token: check the secret"),
        (403, "lets this token only read: give it a role that may write"),
        (404, "is not its MCP endpoint .404.: its path is usually /mcp/ or /api/"),
        (429, "takes no more requests for now"),
        (500, "failed .500.: look at its log"),
    ],
)
def test_what_http_refuses_is_told_with_the_way_out(status: int, said: str, store: Store, mail: ServedMail) -> None:
    mail.status = status
    with pytest.raises(StoreError, match=said):
        store.send(MESSAGE)
    with pytest.raises(StoreError, match=f"mail stays unread by its system, as .*{said}"):
        store.mark_read("user", ["1"])
    assert mail.calls == []


def test_a_wrong_or_missing_token_is_told(store: Store, mail: ServedMail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIGNALBOX_AGENT_MAIL_TOKEN")
    with pytest.raises(StoreError, match=r"asks for a token: set secret_file in \[agent_mail\], or \$SIGNAL"):
        store.send(MESSAGE)


def test_an_answer_that_gets_lost_is_looked_up_and_the_message_is_there_once(
    store: Store, mail: ServedMail, database: Path
) -> None:
    mail.loses.add("send_message")
    assert store.send(MESSAGE).id == "2"
    assert numbers(database) == [1, 2]


def test_where_it_can_not_be_known_whether_a_message_was_sent_that_is_said(
    store: Store, mail: ServedMail, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "UNKNOWN_SECONDS", 0.0)
    mail.loses.add("send_message")
    monkeypatch.setattr(mail, "_send_message", lambda **arguments: {"id": 7})
    with pytest.raises(StoreError, match="whether the message was sent is not known: look for it"):
        store.send(MESSAGE)
    assert numbers(database) == [1]


def test_the_server_of_another_database_gets_nothing(
    store: Store, tmp_path: Path, agent_mail_server: AgentMailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Server(tmp_path / "other" / "storage.sqlite3")
    other.make()
    other.agent("GreenLake", inception_ts="2026-01-01 00:00:00.000000")
    other.agent("HumanOverseer", inception_ts="2026-01-01 00:00:00.000000")
    other.close()
    monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", agent_mail_server.url)
    with agent_mail_server.serving(other.path) as mail:
        monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_TOKEN", mail.token)
        for command in (lambda: store.send(MESSAGE), lambda: store.mark_read("user", ["1"])):
            with pytest.raises(StoreError, match=r"has another database than .*: check url in \[agent_mail\]"):
                command()
        assert mail.calls == ["whois", "whois"]


def test_what_a_server_says_that_it_wrote_and_did_not_is_told(
    store: Store, mail: ServedMail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "APPEARS_SECONDS", 0.0)
    monkeypatch.setattr(mail, "_send_message", lambda **arguments: {"id": 7})
    monkeypatch.setattr(mail, "_mark_message_read", lambda **arguments: {"read": True})
    with pytest.raises(StoreError, match=r"took message 7, which is not in storage.sqlite3: check url"):
        store.send(MESSAGE)
    with pytest.raises(StoreError, match=r"marks do not appear in storage.sqlite3: check url"):
        store.mark_read("user", ["1"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("expired", "shows an expired certificate"),
        ("elsewhere", "shows a certificate for another host"),
        ("certificate", "shows a certificate of an unknown authority: name that authority's certificate as ca_file"),
        ("", ""),
    ],
)
def test_a_certificate_is_checked_before_the_token_is_sent(
    name: str,
    said: str,
    store: Store,
    database: Path,
    server_certificates: Certificates,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chain = getattr(server_certificates, name or "certificate")
    if name != "certificate":
        monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_CA_FILE", str(server_certificates.authority))
    server = AgentMailServer(ssl_certfile=str(chain), ssl_keyfile=str(chain.with_suffix(".key")))
    try:
        with server.serving(database) as mail:
            monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", server.url)
            monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_TOKEN", mail.token)
            if said:
                with pytest.raises(StoreError, match=said):
                    store.send(MESSAGE)
            else:
                assert store.send(MESSAGE).id == "2"
            assert bool(mail.calls) is not bool(said)
    finally:
        server.close()
