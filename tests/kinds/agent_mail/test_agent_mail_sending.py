"""What is sent, answered, marked and acknowledged through MCP Agent Mail's server."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mailstore.conformance.following import following, scanned
from mailstore.delegating import ReadOnly
from mailstore.errors import DraftRefused, MailError, StoreError, Unsupported
from mailstore.kinds.agent_mail.server import sending
from mailstore.kinds.agent_mail.store import AgentMailStore
from mailstore.records.draft import Draft, draft
from mailstore.records.message import Message
from mailstore.records.scope import url_of
from mailstore.registry import create_store, open_store
from mailstore.store import Capability, Store
from tests.kinds.agent_mail.servers import Server
from tests.mailstore.owners import snapshot
from tests.servers.agent_mail import AgentMailServer
from tests.servers.agent_mail_tools import PREAMBLE, DirectTools, ServedMail

ASKED = "Which branch?"


@pytest.fixture
def mail(tmp_path: Path, agent_mail_server: AgentMailServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedMail]:
    """A database with two agents, one of which asked the person, and the settings that name its server."""
    database = Server(tmp_path / "storage.sqlite3")
    database.make()
    database.agent("BlueDog")
    database.message("GreenLake", ["HumanOverseer"], subject=ASKED, body_md="main?", ack_required=1, thread_id="TKT-1")
    database.close()
    monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", agent_mail_server.url)
    with agent_mail_server.serving(database.path) as served:
        monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_TOKEN", served.token)
        yield served


@pytest.fixture
def store(mail: ServedMail, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The store, with tools that are called directly: what goes over HTTP is tested with `over_http`."""
    monkeypatch.setattr(sending, "with_tools", DirectTools(mail).call)
    with AgentMailStore.open(mail.database.path) as store:
        yield store


@pytest.fixture
def over_http(mail: ServedMail) -> Iterator[Store]:
    with AgentMailStore.open(mail.database.path) as store:
        yield store


def message(*recipients: str, content: str = "Hello.", **fields: Any) -> Draft:
    return draft(**{"sender": "user", "recipients": recipients, "content": content, **fields})


def written(mail: ServedMail) -> int:
    with mail.database.at_once() as connection:
        return int(connection.execute("SELECT count(*) FROM messages").fetchone()[0])


def test_a_message_is_sent_by_the_tools_and_returned_as_a_scan_yields_it(store: Store, mail: ServedMail) -> None:
    text = "Two lines,\n  **bold**, 日本. "
    sent = store.send(message("GreenLake", "BlueDog", content=text, subject="News"))
    assert (sent.sender, sent.recipients, sent.subject) == ("user", ("GreenLake", "BlueDog"), "News")
    assert store.content(sent) == text
    assert sent in scanned(store)
    assert mail.calls == ["whois", "send_message"]


def test_an_answer_goes_into_the_thread_with_its_own_subject_or_that_of_the_question(over_http: Store) -> None:
    answer = over_http.send(message("GreenLake", thread="1"))
    other = over_http.send(message("GreenLake", subject="Another thing", thread=answer.id))
    assert (answer.subject, answer.thread, other.subject, other.thread) == (f"Re: {ASKED}", "1", "Another thing", "1")


PNG = b"\x89PNG\r\n\x1a\n and so on"


def test_an_image_is_sent_and_no_path_in_a_text_attaches_one(over_http: Store, tmp_path: Path) -> None:
    image = tmp_path / "picture.png"
    image.write_bytes(PNG)
    sent = over_http.send(message("GreenLake", attachments=(str(image),), thread="1"))
    [file] = over_http.attachments(sent)
    with over_http.open_attachment(sent, file.name) as there:
        assert there.read() == PNG
    quoted = over_http.send(message("GreenLake", content=f"You wrote ![it]({image})"))
    assert over_http.attachments(quoted) == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a,b\n", "is not a PNG, JPEG, GIF or WebP image"),
        (b"", "is not a PNG"),
        (None, "can't be read (no such file"),
        (1 << 30, "of more than 32 MiB"),
    ],
)
def test_a_file_that_the_server_does_not_take_is_refused_before_it_is_asked(
    store: Store, mail: ServedMail, tmp_path: Path, data: bytes | int | None, said: str
) -> None:
    file = tmp_path / "file"
    if data is not None:
        file.write_bytes(PNG if isinstance(data, int) else data)
    if isinstance(data, int):
        os.truncate(file, data)
    with pytest.raises(DraftRefused, match=re.escape(said)):
        store.send(message("GreenLake", attachments=(str(file),)))
    assert mail.calls == []


def test_a_server_elsewhere_reads_no_files_here(
    store: Store, mail: ServedMail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", "https://mail.example/mcp/")
    with (
        AgentMailStore.open(mail.database.path) as other,
        pytest.raises(DraftRefused, match=r"the server is mail\.example"),
    ):
        other.send(message("GreenLake", attachments=("/etc/hostname",)))


def test_where_only_the_overseers_page_sends_files_are_refused(
    mail: ServedMail, over_http: Store, tmp_path: Path
) -> None:
    mail.closed.add("GreenLake")
    image = tmp_path / "picture.png"
    image.write_bytes(PNG)
    before = written(mail)
    with pytest.raises(StoreError, match="its own page only, and no files there"):
        over_http.send(message("GreenLake", attachments=(str(image),)))
    assert written(mail) == before


def test_a_broadcast_names_every_agent_of_the_project_but_the_sender(store: Store) -> None:
    assert set(store.send(message("all")).recipients) == {"GreenLake", "BlueDog"}
    assert store.send(message("all", sender="GreenLake")).recipients == ("BlueDog",)


async def test_what_is_sent_comes_by_the_watcher_and_holds_up_nothing(over_http: Store) -> None:
    scanned(over_http)
    async with following(over_http) as came:
        sent = await asyncio.to_thread(over_http.send, message("GreenLake"))
        await came.until_message(sent.id)
        own = over_http.send(message("GreenLake", content="From the loop's own thread."))
        await came.until_message(own.id)


def test_mail_is_marked_and_acknowledged_once_and_only_by_its_recipients(over_http: Store, mail: ServedMail) -> None:
    assert over_http.mark_read("BlueDog", ["1", "99", "x"]) == 0
    assert mail.calls == []
    assert over_http.why_not_acknowledged("1") == ""
    assert over_http.mark_read("user", ["1", "1"]) == 1
    assert [over_http.acknowledge("user", ["1"]), over_http.acknowledge("user", ["1"])] == [1, 0]
    assert mail.calls == ["whois", "mark_message_read", "whois", "acknowledge_message"]
    [seen] = [event for event in scanned(over_http) if getattr(event, "subject", "") == ASKED]
    assert "unacknowledged:user" not in getattr(seen, "tags", ())


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"recipients": ("GreenLak",)}, 'unknown agent "GreenLak": did you mean GreenLake?'),
        ({"recipients": ("GreenLake", "Nobody")}, 'unknown agent "Nobody": use BlueDog or GreenLake'),
        ({"recipients": ("OldFox",)}, "OldFox, which is retired"),
        ({"recipients": ("GreenLake@elsewhere",)}, 'unknown project "elsewhere": use backend'),
        ({"recipients": ("GreenLake",), "sender": "Nobody"}, 'from names an unknown agent "Nobody"'),
        ({"recipients": ("GreenLake",), "thread": "77"}, "message 77 is not in storage.sqlite3"),
    ],
)
def test_whom_the_server_would_make_up_is_refused_and_nothing_is_asked_of_it(
    fields: dict[str, Any], said: str, store: Store, mail: ServedMail
) -> None:
    mail.database.agent("OldFox", retired_at="2026-03-16 12:00:00.000000")
    with pytest.raises(MailError, match=said.replace("?", "\\?")):
        store.send(message(**{"recipients": ("GreenLake",), **fields}))
    assert mail.calls == []


def test_with_several_projects_a_message_goes_to_one_of_them(store: Store, mail: ServedMail) -> None:
    mail.database.agent("GreenLake", "frontend")
    sent = store.send(message("GreenLake@frontend"))
    assert (sent.recipients, sent.sender) == (("GreenLake@frontend",), "user")
    with pytest.raises(DraftRefused, match="names agents of backend and frontend: write to the agents of one project"):
        store.send(message("GreenLake@frontend", "BlueDog@backend"))
    with pytest.raises(DraftRefused, match="names no project"):
        store.send(message("GreenLake"))


# The person's registration


def test_the_person_is_registered_with_the_first_message_to_a_project(mail: ServedMail, over_http: Store) -> None:
    mail.database.agent("RedFox", "frontend")
    sent = over_http.send(message("RedFox@frontend"))
    assert sent.sender == "user"
    assert mail.calls == ["whois", "register_agent", "send_message"]


def test_where_the_server_chooses_names_its_own_page_registers_the_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Server(tmp_path / "storage.sqlite3")
    database.make()
    database.agent("GreenLake")
    database.close()
    server = AgentMailServer(is_strict=True)
    try:
        with server.serving(database.path) as mail, AgentMailStore.open(database.path) as store:
            monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", server.url)
            monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_TOKEN", mail.token)
            sent = store.send(message("GreenLake"))
            assert mail.calls == ["whois", "overseer/send"]
            assert (sent.sender, sent.subject, store.content(sent)) == ("user", "Hello.", f"{PREAMBLE}Hello.")
            assert store.send(message("GreenLake", content="Again.")).tags == ()
            assert mail.calls[2:] == ["whois", "send_message"]
    finally:
        server.close()


def test_whom_an_agent_lets_write_is_no_matter_for_the_person(mail: ServedMail, over_http: Store) -> None:
    mail.closed.add("BlueDog")
    sent = over_http.send(message("BlueDog", subject="Stop", thread=None))
    assert (sent.subject, sent.tags) == ("Stop", ("importance:high",))
    with pytest.raises(StoreError, match=r"the server refuses the message .*contact approval of BlueDog"):
        over_http.send(message("BlueDog", sender="GreenLake"))


def test_a_name_that_the_server_knows_once_is_not_taken_from_another_project(mail: ServedMail, store: Store) -> None:
    mail.database.agent("RedFox", "frontend")
    mail.database.do("CREATE UNIQUE INDEX uq_agents_name_ci ON agents (lower(name))")
    with pytest.raises(StoreError, match="HumanOverseer is registered in backend"):
        store.send(message("RedFox@frontend"))
    assert mail.calls == ["whois"]


# Settings


def test_without_a_server_mail_is_only_read_and_the_reason_says_what_to_set(
    mail: ServedMail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SIGNALBOX_AGENT_MAIL_URL")
    with open_store(mail.database.path) as store:
        why = store.capabilities.why_not(Capability.SEND)
        assert why == store.capabilities.why_not(Capability.MARK_READ) == store.why_not_acknowledged("1")
        assert "set url in [agent_mail] of config.toml, or $SIGNALBOX_AGENT_MAIL_URL" in why
        for command in (lambda: store.send(message("GreenLake")), lambda: store.acknowledge("user", ["1"])):
            with pytest.raises(Unsupported, match="set url in"):
                command()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("localhost:8765", "is not the URL of a server"),
        ("http://127.0.0.1:99999/mcp/", "is not the URL of a server"),
        ("http://me:sesame@127.0.0.1/mcp/", "holds more than host and path"),
        ("http://127.0.0.1/mcp/?token=sesame", "holds more than host and path"),
        ("http://mail.example/mcp/", "would go to mail.example unencrypted"),
    ],
)
def test_a_wrong_url_is_told_without_the_secrets_in_it(
    url: str, why: str, mail: ServedMail, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", url)
    reason = store.capabilities.why_not(Capability.SEND)
    assert why in reason
    assert "sesame" not in reason


def test_the_token_comes_from_a_file_that_others_can_not_read(
    mail: ServedMail, over_http: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "token"
    secret.write_text(f"{mail.token}\n", encoding="utf-8")
    secret.chmod(0o644)
    monkeypatch.delenv("SIGNALBOX_AGENT_MAIL_TOKEN")
    monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_SECRET_FILE", str(secret))
    with pytest.raises(MailError, match=r"others can read .*: chmod 600"):
        over_http.send(message("GreenLake"))
    secret.chmod(0o600)
    assert over_http.send(message("GreenLake")).recipients == ("GreenLake",)


def test_nothing_but_the_server_writes_and_the_token_is_never_told(
    mail: ServedMail, over_http: Store, caplog: pytest.LogCaptureFixture
) -> None:
    over_http.send(message("GreenLake"))
    mail.database.close()
    before = snapshot(mail.database.path.parent)
    with caplog.at_level(logging.DEBUG):
        mail.status = 500
        with pytest.raises(StoreError) as caught:
            over_http.send(message("GreenLake", content="Refused."))
        assert mail.token not in str(caught.value)
    assert snapshot(mail.database.path.parent) == before
    assert mail.token not in caplog.text
    assert mail.token not in repr(vars(over_http))


def test_beside_other_mailboxes_it_is_sent_to_and_acknowledged_by_its_label(
    store: Store, mail: ServedMail, tmp_path: Path
) -> None:
    with create_store("haak", str(tmp_path / "other")) as other:
        other.send(draft(sender="ann-00000001", recipients=("user",), content="Hello."))
        url = url_of({"lab": store.url, "house": other.url})
    with open_store(url) as both:
        events = scanned(both)
        [theirs] = [event.id for event in events if isinstance(event, Message) and event.id.startswith("house/")]
        sent = both.send(message("lab/GreenLake"))
        assert (sent.id.partition("/")[0], sent.recipients) == ("lab", ("lab/GreenLake",))
        assert both.why_not_acknowledged(theirs) == "its messages are not acknowledged: reply instead"
        assert both.why_not_acknowledged("lab/1") == ""
        assert both.acknowledge("user", ["lab/1"]) == 1
        with pytest.raises(Unsupported, match="nothing was acknowledged: its messages are not acknowledged"):
            both.acknowledge("user", [theirs])
    past = ReadOnly(store, "it is the past")
    assert past.why_not_acknowledged("1") == "it is the past"
    with pytest.raises(Unsupported, match="it is the past"):
        past.acknowledge("user", ["1"])
