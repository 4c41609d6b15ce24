"""Mail servers that send garbage, 10 GB, nothing, or half of something."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import pytest

from mailstore.kinds.agentazall.transports.imap import ImapAccount, ImapTransport
from mailstore.kinds.agentazall.transports.mail_server import MailAccount
from mailstore.kinds.agentazall.transports.pop3 import Pop3Account, Pop3Transport
from mailstore.kinds.agentazall.transports.smtp import SmtpAccount, SmtpTransport
from mailstore.kinds.agentazall.transports.transport import Transport
from mailstore.kit.secret import Secret
from mailstore.kit.secure import TransportDown
from tests.kinds.agentazall.transports.outgoing import message
from tests.kinds.agentazall.transports.receiver import KeptMessages
from tests.servers.scripted import endless, scripted_server

Script = Callable[[socket.socket], None]
SECRET = "pass-word"
SMALL = b"From: a@x\r\n\r\nText\r\n"

KINDS: dict[str, tuple[type[MailAccount], Callable[[Any], Transport]]] = {
    "imap": (ImapAccount, ImapTransport),
    "pop3": (Pop3Account, Pop3Transport),
    "smtp": (SmtpAccount, SmtpTransport),
}


def transport(kind: str, port: int, seconds: float = 5.0) -> Transport:
    account, made = KINDS[kind]
    return made(
        account(
            server="127.0.0.1",
            port=port,
            address="ann@localhost",
            security="none",
            secret=Secret.of(SECRET),
            seconds=seconds,
        )
    )


def used(made: Transport, receiver: KeptMessages) -> int:
    if made.can_receive:
        return made.receive(receiver)
    made.send(message(), "bob@localhost")
    return 0


def failure(kind: str, receiver: KeptMessages, *scripts: Script, seconds: float = 5.0) -> str:
    with scripted_server(*scripts) as port, pytest.raises(TransportDown) as caught:  # noqa: SIM117 - port first
        with closing(transport(kind, port, seconds)) as made:
            used(made, receiver)
    text = str(caught.value)
    assert text.isprintable()
    assert SECRET not in text
    assert "cGFzcy13b3Jk" not in text
    return text.replace(f"{kind} ann@localhost at 127.0.0.1:{port} ", "")


def answering(greeting: bytes, answers: Mapping[bytes, bytes | None], *, ends: bytes = b"") -> Script:
    """Return a script that answers each command by its first words; None ends the connection.

    In an answer, TAG stands for what IMAP begins a command with. After the answer `ends` the connection is ended, too.
    """

    def script(connection: socket.socket) -> None:
        connection.sendall(greeting)
        with connection.makefile("rb") as lines:
            for line in lines:
                tag, _, rest = line.strip().partition(b" ")
                words = rest if b"TAG" in b"".join(each or b"" for each in answers.values()) else line.strip()
                found = next((answers[key] for key in answers if words.upper().startswith(key)), None)
                if found is None:
                    return
                connection.sendall(found.replace(b"TAG", tag))
                if ends and words.upper().startswith(ends):
                    return

    return script


def literal(uid: int, data: bytes, size: int | None = None) -> bytes:
    head = b"* %d FETCH (UID %d BODY[] {%d}\r\n" % (uid, uid, len(data) if size is None else size)
    return head + data + (b")\r\nTAG OK done\r\n" if size is None else b"")


IMAP = {
    b"CAPABILITY": b"* CAPABILITY IMAP4rev1\r\nTAG OK done\r\n",
    b"LOGIN": b"TAG OK done\r\n",
    b"EXAMINE": b"* 2 EXISTS\r\n* OK [UIDVALIDITY 5] ok\r\nTAG OK [READ-ONLY] done\r\n",
    b"UID SEARCH": b"* SEARCH 1 2\r\nTAG OK done\r\n",
    b"UID FETCH 1 (RFC822.SIZE": b"* 1 FETCH (UID 1 RFC822.SIZE 20)\r\nTAG OK done\r\n",
    b"UID FETCH 2 (RFC822.SIZE": b"* 2 FETCH (UID 2 RFC822.SIZE 20)\r\nTAG OK done\r\n",
    b"UID FETCH 1 ": literal(1, SMALL),
    b"UID FETCH 2 ": literal(2, SMALL),
    b"NOOP": b"TAG OK done\r\n",
    b"LOGOUT": b"* BYE\r\nTAG OK done\r\n",
}
POP3 = {
    b"USER": b"+OK\r\n",
    b"PASS": b"+OK\r\n",
    b"UIDL": b"+OK\r\n1 one\r\n2 two\r\n.\r\n",
    b"LIST": b"+OK\r\n1 20\r\n2 20\r\n.\r\n",
    b"RETR 1": b"+OK\r\n" + SMALL + b".\r\n",
    b"RETR 2": b"+OK\r\n" + SMALL + b".\r\n",
    b"QUIT": b"+OK\r\n",
}
SMTP = {
    b"EHLO": b"250-x\r\n250 AUTH PLAIN LOGIN\r\n",
    b"AUTH": b"235 ok\r\n",
    b"MAIL": b"250 ok\r\n",
    b"RCPT": b"250 ok\r\n",
    b"DATA": b"354 go on\r\n",
    b".": b"250 taken\r\n",
    b"RSET": b"250 ok\r\n",
    b"QUIT": b"221 bye\r\n",
}
HELLO = {"imap": b"* OK hello\r\n", "pop3": b"+OK hello\r\n", "smtp": b"220 hello\r\n"}
TALK = {"imap": IMAP, "pop3": POP3, "smtp": SMTP}


def talk(kind: str) -> Script:
    """Return the script of a well-behaved server."""
    return answering(HELLO[kind], TALK[kind])


def test_the_scripts_behave(receiver: KeptMessages) -> None:
    for kind in ("imap", "pop3"):
        with scripted_server(talk(kind)) as port, closing(transport(kind, port)) as made:
            assert used(made, receiver) == 2
    assert [each.body for each in receiver.messages] == ["Text"] * 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "garbage", [b"\xff\xfe\0\x1b[31m\r\n" * 40, b"HTTP/1.1 400 Bad Request\r\n\r\n", b"220\r\n" * 40]
)
def test_garbage(kind: str, garbage: bytes, receiver: KeptMessages) -> None:
    def script(connection: socket.socket) -> None:
        connection.sendall(garbage)
        connection.recv(1 << 16)

    text = failure(kind, receiver, script)
    words = (
        "does not speak",
        "ended the connection",
        "refused",
        "can't take messages now",
        "offers no login",
    )
    assert text.startswith(words), text


@pytest.mark.parametrize("kind", KINDS)
def test_a_greeting_without_end(kind: str, receiver: KeptMessages) -> None:
    for piece in (b"x" * 65536, b"220-hello\r\n" * 5000):
        text = failure(kind, receiver, endless(b"", piece))
        assert text.startswith(("sends more than is taken in", "does not speak", "refused", "ended", "can't take")), (
            text
        )


@pytest.mark.parametrize("kind", KINDS)
def test_silence(kind: str, receiver: KeptMessages) -> None:
    def script(connection: socket.socket) -> None:
        connection.recv(1)

    assert failure(kind, receiver, script, seconds=0.05).startswith("does not answer: check the network and the server")


@pytest.mark.parametrize("kind", KINDS)
def test_dripping(kind: str, receiver: KeptMessages) -> None:
    def script(connection: socket.socket) -> None:
        connection.settimeout(0.02)
        for byte in HELLO[kind].strip() + b"x" * 1000:
            connection.sendall(bytes([byte]))
            try:
                if not connection.recv(1):
                    return
            except TimeoutError:
                continue

    assert failure(kind, receiver, script, seconds=0.05).startswith(("is too slow", "does not answer"))


@pytest.mark.parametrize("kind", KINDS)
def test_an_end_at_any_command(kind: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    for word in TALK[kind]:
        if word in (b"QUIT", b"LOGOUT", b"NOOP", b"RSET", b"CAPABILITY"):
            continue
        receiver = KeptMessages(tmp_path_factory.mktemp("spool"))
        changed = {**TALK[kind], word: None}
        text = failure(kind, receiver, answering(HELLO[kind], changed))
        assert text == "ended the connection: look at the server's log; it is tried again", word
        assert len(receiver.kept) == (1 if word.endswith((b"FETCH 1 ", b"FETCH 2 ", b"RETR 1", b"RETR 2")) else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_at_any_command_tells_no_secret(kind: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    wrong = {"imap": b"TAG NO ", "pop3": b"-ERR ", "smtp": b"421 "}[kind]
    echo = wrong + b"ann@localhost pass-word cGFzcy13b3Jk \x1b]0;owned\x07\r\n"
    for word in TALK[kind]:
        if word in (b"QUIT", b"LOGOUT", b"NOOP", b"RSET", b"LIST", b"EHLO", b"CAPABILITY", b"UID FETCH 2 (RFC822.SIZE"):
            continue
        receiver = KeptMessages(tmp_path_factory.mktemp("spool"))
        text = failure(kind, receiver, answering(HELLO[kind], {**TALK[kind], word: echo}))
        assert "***" in text or "ended the connection" in text or "has no folder" in text, (word, text)


@pytest.mark.parametrize(
    ("kind", "word", "answer"),
    [
        ("imap", b"UID FETCH 1 ", literal(1, b"From: a@x\r\n", 10 << 30)),
        ("imap", b"UID FETCH 1 ", literal(1, b"", 10**30)),
        ("imap", b"UID FETCH 1 ", literal(1, b"x" * (5 << 20), 5 << 20)),
    ],
)
def test_a_message_that_is_larger_than_announced(kind: str, word: bytes, answer: bytes, receiver: KeptMessages) -> None:
    with (
        scripted_server(answering(HELLO[kind], {**TALK[kind], word: answer})) as port,
        closing(transport(kind, port)) as made,
    ):
        assert used(made, receiver) == 1
    assert list(receiver.turned.values()) == ["it is larger than 96 MB"]
    assert [each.key for each in receiver.messages] == ["INBOX/5/2"]


def test_a_message_without_end(receiver: KeptMessages) -> None:
    def script(connection: socket.socket) -> None:
        with connection.makefile("rb") as lines:
            connection.sendall(HELLO["pop3"])
            for line in lines:
                word = next(key for key in POP3 if line.startswith(key))
                connection.sendall(POP3[word] if word != b"RETR 1" else b"+OK\r\n")
                while word == b"RETR 1":
                    connection.sendall(b"x" * 78 + b"\r\n" * 1000)

    with scripted_server(script) as port, closing(transport("pop3", port)) as made:
        assert used(made, receiver) == 1
    assert receiver.turned == {"one": "it is larger than 96 MB"}
    assert list(receiver.kept) == ["two"]


@pytest.mark.parametrize(("kind", "size"), [("imap", b"UID FETCH 1 (RFC822.SIZE"), ("pop3", b"LIST")])
def test_a_message_announced_too_large_is_not_fetched(kind: str, size: bytes, receiver: KeptMessages) -> None:
    answer = {
        "imap": b"* 1 FETCH (UID 1 RFC822.SIZE 10737418240)\r\nTAG OK done\r\n",
        "pop3": b"+OK\r\n1 10737418240\r\n2 20\r\n.\r\n",
    }[kind]
    script = answering(HELLO[kind], {**TALK[kind], size: answer})
    with scripted_server(script) as port, closing(transport(kind, port)) as made:
        assert used(made, receiver) == 1
    assert list(receiver.turned.values()) == ["it is larger than 96 MB"]


def test_one_message_that_breaks_the_connection_stops_no_other(receiver: KeptMessages) -> None:
    broken = answering(HELLO["imap"], {**IMAP, b"UID FETCH 1 ": literal(1, SMALL[:9], 20)}, ends=b"UID FETCH 1 (BODY")
    with scripted_server(broken) as port, closing(transport("imap", port)) as made:
        for _ in range(2):
            with pytest.raises(TransportDown, match="ended the connection"):
                used(made, receiver)
            assert list(receiver.kept) == ["INBOX/5/2"]
    with scripted_server(broken, talk("imap")) as port, closing(transport("imap", port)) as made:
        assert used(made, receiver) == 1
    assert set(receiver.kept) == {"INBOX/5/1", "INBOX/5/2"}
    assert not receiver.turned


def test_a_mailbox_in_which_nothing_came_is_not_listed_again(receiver: KeptMessages) -> None:
    searched = []

    class Once(dict[bytes, bytes]):
        def __getitem__(self, key: bytes) -> bytes:
            if key == b"UID SEARCH":
                searched.append(key)
            return super().__getitem__(key)

    answer = IMAP[b"EXAMINE"].replace(b"TAG", b"* OK [UIDNEXT 3] ok\r\nTAG")
    script = answering(HELLO["imap"], Once({**IMAP, b"EXAMINE": answer}))
    with scripted_server(script) as port, closing(transport("imap", port)) as made:
        assert [used(made, receiver) for _ in range(3)] == [2, 0, 0]
    assert len(searched) == 1


def test_a_damaged_message_is_turned_away_with_its_beginning(receiver: KeptMessages) -> None:
    bad = b"From: a@x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\n" * 2000
    answers = {**POP3, b"RETR 1": b"+OK\r\n" + bad + b".\r\n", b"LIST": b"+OK\r\n.\r\n"}
    with scripted_server(answering(HELLO["pop3"], answers)) as port, closing(transport("pop3", port)) as made:
        assert used(made, receiver) == 1
    assert receiver.turned == {"one": "it has more than 1,000 parts"}
    assert receiver.excerpts["one"].startswith(b"From: a@x")


def test_a_full_disk_is_told_as_what_it_is(receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_message: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(receiver, "keep", full)
    for kind in ("imap", "pop3"):
        with scripted_server(talk(kind)) as port, pytest.raises(OSError, match="No space left"):
            used(transport(kind, port), receiver)


def test_a_secret_with_a_line_end_is_never_sent(receiver: KeptMessages) -> None:
    heard = []

    def script(connection: socket.socket) -> None:
        connection.sendall(b"+OK\r\n")
        heard.append(connection.recv(1000))

    secret = Secret.of("a\r\nDELE 1")
    with scripted_server(script) as port:
        account = Pop3Account(server="127.0.0.1", port=port, address="ann", security="none", secret=secret)
        with pytest.raises(TransportDown, match="control character in username or secret"):
            Pop3Transport(account).receive(receiver)
    assert heard == [b""]
