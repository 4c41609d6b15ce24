"""Messages are sent by a server of the program: here one that writes what OpenCode 1.18.33 does."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from mailstore.conformance.following import scanned
from mailstore.errors import DraftRefused, MailError, StoreError, Unsupported
from mailstore.kinds.opencode_sessions import sending
from mailstore.kinds.opencode_sessions.store import OpenCodeStore
from mailstore.records.draft import draft
from mailstore.records.message import Message
from tests.kinds.opencode_sessions.test_opencode_sessions import CHILD, PARENT, SESSION, home, seen

__all__ = ["home"]
MESSAGE = "INSERT INTO message VALUES (?, ?, ?, ?, ?)"
PART = "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)"


class Program:
    """A server on loopback that notes what it was asked, and gives prompts to the sessions of a database."""

    def __init__(self, home: Path) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.status = 204
        self.home = home
        self.id = "msg_zz1"

    def take(self, path: str, body: bytes) -> None:
        session, text = path.split("/")[2], json.loads(body)["parts"][0]["text"]
        now = int(time.time() * 1000)
        self.write(session, self.id, {"role": "user"}, now)
        part = json.dumps({"type": "text", "text": text}, separators=(",", ":"))
        self.run(PART, f"prt_{self.id}", self.id, session, now, now, part)

    def write(self, session: str, number: str, said: dict[str, object], now: int) -> None:
        self.run(MESSAGE, number, session, now, now, json.dumps(said, separators=(",", ":")))

    def run(self, statement: str, *values: object) -> None:
        with closing(sqlite3.connect(self.home / "opencode.db")) as database, database:
            database.execute(statement, values)


@contextmanager
def served(program: Program) -> Iterator[str]:
    """Serve on loopback; yield the URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            program.asked.append((self.path, self.headers["authorization"]))
            if program.status == 204:
                program.take(self.path, body)
            self.send_response(program.status)
            self.end_headers()
            if program.status == 500:
                self.wfile.write(b'{"name":"UnknownError"}')

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def hello(home: Path, text: str, to: str = PARENT) -> Message:
    with OpenCodeStore.open(home) as store:
        scanned(store)
        return store.send(draft(sender="user", recipients=(to,), content=text))


def test_a_message_is_given_to_a_session_and_read_when_that_begins_to_answer(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(home)
    with served(program) as url:
        monkeypatch.setenv("SIGNALBOX_OPENCODE_URL", url)
        sent = hello(home, "please look\n日本")
    assert (sent.id, sent.sender, sent.recipients) == ("msg_zz1", "user", (PARENT,))
    assert program.asked == [(f"/session/{SESSION}/prompt_async", None)]
    assert ("user", PARENT, "please look\n日本", "frozen") in seen(home)
    program.write(SESSION, "msg_zz2", {"role": "assistant", "parentID": "msg_zz1"}, int(time.time() * 1000))
    assert ("user", PARENT, "please look\n日本", "read") in seen(home)
    assert len([it for it in seen(home) if it[0] == "user"]) == 1


def test_the_password_is_given_where_one_is_set(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(home)
    with served(program) as url:
        monkeypatch.setenv("SIGNALBOX_OPENCODE_URL", url)
        monkeypatch.setenv("SIGNALBOX_OPENCODE_PASSWORD", "sesame")
        hello(home, "please look")
    assert program.asked[0][1] == f"Basic {b64encode(b'opencode:sesame').decode()}"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "asks for a password"),
        (404, "does not have"),
        (500, 'refused the message: {"name":"UnknownError"}'),
        (302, "refused the message: status 302"),
    ],
)
def test_what_the_server_answers_otherwise_is_said(
    home: Path, monkeypatch: pytest.MonkeyPatch, status: int, words: str
) -> None:
    program = Program(home)
    program.status = status
    before = seen(home)
    with served(program) as url:
        monkeypatch.setenv("SIGNALBOX_OPENCODE_URL", url)
        with pytest.raises(MailError) as caught:
            hello(home, "please look")
    assert words in f"{caught.value}"
    assert seen(home) == before


def test_a_message_that_is_not_in_the_database_is_not_said_to_be_sent(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = home.parent / "other" / "opencode"
    other.mkdir(parents=True)
    (other / "opencode.db").write_bytes((home / "opencode.db").read_bytes())
    monkeypatch.setattr(sending, "SEEN_SECONDS", 0.1)
    with served(Program(other)) as url:
        monkeypatch.setenv("SIGNALBOX_OPENCODE_URL", url)
        with pytest.raises(StoreError, match="not in the database yet"):
            hello(home, "please look")


def test_a_server_that_is_away_or_can_not_be_one_is_said_before(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Program(home)) as url:
        pass
    monkeypatch.setenv("SIGNALBOX_OPENCODE_URL", url)
    with pytest.raises(StoreError, match="did not take the message"):
        hello(home, "please look")
    for wrong, words in (
        ("http://example.org:4096", "unencrypted"),
        ("ftp://127.0.0.1", "not the URL of a server"),
        ("http://ann@127.0.0.1", "not the URL of a server"),
        ("", "set url in"),
    ):
        monkeypatch.setenv("SIGNALBOX_OPENCODE_URL", wrong)
        with pytest.raises(Unsupported, match=words):
            hello(home, "please look")


def test_a_child_session_is_one_too_and_an_unknown_one_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Program(home)) as url:
        monkeypatch.setenv("SIGNALBOX_OPENCODE_URL", url)
        assert hello(home, "for the child", CHILD).recipients == (CHILD,)
        with pytest.raises(DraftRefused, match="not a session of OpenCode"):
            hello(home, "x", "nobody@1234")
