"""FTP servers that list impossible names, never stop, stop amid a file, drip or lie."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from mailstore.kinds.agentazall.transports import ftp_incoming, ftp_session
from mailstore.kinds.agentazall.transports.ftp import FtpAccount, FtpTransport
from mailstore.kinds.agentazall.transports.transport import IncomingMessage
from mailstore.kit.secret import Secret
from mailstore.kit.secure import TransportDown
from tests.kinds.agentazall.transports.outgoing import message
from tests.kinds.agentazall.transports.receiver import KeptMessages
from tests.kinds.agentazall.transports.test_ftp import SIGNED, header
from tests.servers.ftp_servers import python_ftp
from tests.servers.scripted import scripted_server

Answers = Callable[[str], tuple[str, bytes | None]]
INBOX = "/bob/2026-11-20/inbox"
WHOLE = (header() + SIGNED).encode()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ftp_incoming, "SETTLE_SECONDS", 0.01)


class _Talk:
    """One FTP conversation: `lists` are the names in a folder, `files` the bytes; both may be anything."""

    def __init__(self, lists: dict[str, bytes], files: dict[str, bytes], *, cut: int = 0, sizes: bool = True) -> None:
        self.lists, self.files, self.cut, self.sizes = lists, files, cut, sizes

    def __call__(self, connection: socket.socket) -> None:
        place = "/"
        connection.sendall(b"220 ready\r\n")
        with socket.create_server(("127.0.0.1", 0)) as passive, connection.makefile("rb") as lines:
            for line in lines:
                word, _, rest = line.decode("utf-8", "surrogateescape").strip().partition(" ")
                match word:
                    case "USER":
                        reply = b"331 go on"
                    case "PASV":
                        port = passive.getsockname()[1]
                        # another host, as a server could name one to have us connect there
                        reply = f"227 (10,1,1,1,{port >> 8},{port & 255})".encode()
                    case "CWD":
                        place = rest
                        reply = b"250 ok" if rest in self.lists else b"550 no"
                    case "SIZE" if self.sizes and rest in self.files:
                        reply = f"213 {len(self.files[rest])}".encode()
                    case "NLST" | "RETR":
                        data = self.lists[place] if word == "NLST" else self.files.get(rest)
                        if data is None:
                            connection.sendall(b"550 no\r\n")
                            continue
                        connection.sendall(b"150 here\r\n")
                        with passive.accept()[0] as out, suppress(OSError):
                            out.sendall(data[: len(data) - self.cut] if word == "RETR" else data)
                            while word == "RETR" and self.cut < 0:
                                out.sendall(b"x" * 65536)
                        reply = b"226 done"
                    case "FEAT" | "SIZE" | "MDTM":
                        reply = b"550 no"
                    case _:
                        reply = b"200 ok"
                connection.sendall(reply + b"\r\n")


@contextmanager
def talking(*scripts: Callable[[socket.socket], None]) -> Iterator[FtpTransport]:
    with scripted_server(*scripts) as port:
        found = FtpTransport(FtpAccount("127.0.0.1", port, "bob", secret=Secret.of("p"), seconds=5.0))
        try:
            yield found
        finally:
            found.close()


def folders(names: Sequence[bytes]) -> dict[str, bytes]:
    return {"/bob": b"2026-11-20\r\n", INBOX: b"\r\n".join([*names, b""])}


def test_names_that_no_file_may_have_are_named_and_never_asked_for(receiver: KeptMessages) -> None:
    names = [b"..", b".", b"../../x.txt", b"/etc/passwd.txt", b"a\\b.txt", b"\x1b[2J.txt", b"\xff\xfe.txt", b"good.txt"]
    names += [b"x" * 300 + b".txt", "ü.txt".encode(), b"", b"no-letter"]
    talk = _Talk(folders(names), {f"{INBOX}/good.txt": WHOLE, f"{INBOX}/ü.txt": WHOLE})
    with talking(talk) as there:
        assert there.receive(receiver) == 2
        assert there.receive(receiver) == 0
    assert sorted(receiver.kept) == ["2026-11-20/good.txt", "2026-11-20/ü.txt"]
    assert len(receiver.turned) == 6
    assert set(receiver.turned.values()) == {"a name that no file may have"}
    assert all(key.isprintable() for key in receiver.turned)


def test_a_file_that_never_ends_is_turned_away_and_the_rest_is_taken(
    receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ftp_incoming, "MOST_BYTES", 1 << 20)
    files = {f"{INBOX}/a.txt": b"From: x\n"}
    endless = _Talk(folders([b"a.txt", b"b.txt"]), files, cut=-1, sizes=False)
    good = _Talk(folders([b"a.txt", b"b.txt"]), {f"{INBOX}/b.txt": WHOLE})
    with talking(endless, good) as there:
        assert there.receive(receiver) == 1
    assert receiver.turned == {"2026-11-20/a.txt": "larger than 1 MiB"}
    assert list(receiver.kept) == ["2026-11-20/b.txt"]


def test_a_large_file_is_not_even_fetched(receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ftp_incoming, "MOST_BYTES", 100)
    with talking(_Talk(folders([b"a.txt"]), {f"{INBOX}/a.txt": WHOLE})) as there:
        assert there.receive(receiver) == 0
    assert receiver.turned == {"2026-11-20/a.txt": "larger than 0 MiB"}


def test_a_server_that_stops_amid_a_message_gives_it_the_next_time(receiver: KeptMessages) -> None:
    files = {f"{INBOX}/a.txt": WHOLE}
    with talking(_Talk(folders([b"a.txt"]), files, cut=30), _Talk(folders([b"a.txt"]), files)) as there:
        assert there.receive(receiver) == 0
        there.close()
        assert there.receive(receiver) == 1
    assert receiver.messages[0].body == SIGNED


def test_an_unsigned_message_that_is_shorter_than_the_server_says_is_not_taken(receiver: KeptMessages) -> None:
    files = {f"{INBOX}/a.txt": (header() + "a text that is cut").encode()}
    with talking(_Talk(folders([b"a.txt"]), files, cut=5)) as there:
        assert there.receive(receiver) == 0
        assert there.receive(receiver) == 0
    assert receiver.messages == []


def test_endless_lists_and_replies_end(receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ftp_session, "MOST_NAMES", 1000)
    many = {"/bob": b"".join(b"%d\r\n" % number for number in range(5000))}
    for lists in (many, {"/bob": b"x" * 100_000}):
        with talking(_Talk(lists, {})) as there, pytest.raises(TransportDown, match="sends too much"):
            there.receive(receiver)

    def chatter(connection: socket.socket) -> None:
        connection.sendall(b"220-hello\r\n")
        while True:
            connection.sendall(b"220-hello\r\n" * 1000)

    def long_line(connection: socket.socket) -> None:
        connection.sendall(b"220 ")
        while True:
            connection.sendall(b"x" * 65536)

    def garbage(connection: socket.socket) -> None:
        connection.sendall(b"\x00\xff garbage\r\n" * 3)

    for script in (chatter, long_line, garbage, lambda connection: None):
        with talking(script) as there, pytest.raises(TransportDown):
            there.receive(receiver)


def test_a_server_that_drips_is_left(receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    def drip(connection: socket.socket) -> None:
        connection.settimeout(0.05)
        while True:
            connection.sendall(b"2")
            try:
                if not connection.recv(1):
                    return
            except TimeoutError:
                pass

    with scripted_server(drip) as port:
        there = FtpTransport(FtpAccount("127.0.0.1", port, "bob", seconds=0.15))
        with pytest.raises(TransportDown, match="does not answer"):
            there.receive(receiver)


def test_words_of_a_server_are_shown_harmless(receiver: KeptMessages) -> None:
    def refuse(connection: socket.socket) -> None:
        connection.sendall(b"220 ready\r\n")
        with connection.makefile("rb") as lines:
            for line in lines:
                connection.sendall(b"331 go on\r\n" if line.startswith(b"USER") else b"530 no \x1b[2J secret-word\r\n")

    with scripted_server(refuse) as port:
        there = FtpTransport(FtpAccount("127.0.0.1", port, "bob", secret=Secret.of("secret-word")))
        with pytest.raises(TransportDown, match="refuses the login") as failure:
            there.receive(receiver)
    assert str(failure.value).isprintable()
    assert "secret-word" not in str(failure.value)


def test_a_full_disk_here_is_no_fault_of_the_server(
    tmp_path: Path, receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(came: IncomingMessage) -> None:
        raise OSError(28, "No space left on device")

    with python_ftp(tmp_path) as place:
        account = FtpAccount("127.0.0.1", place.port, "bob", username=place.username, secret=Secret.of(place.password))
        there = FtpTransport(account)
        there.send(message(), "bob")
        with monkeypatch.context() as patch:
            patch.setattr(receiver, "keep", full)
            with pytest.raises(OSError, match="No space"):
                there.receive(receiver)
        assert there.receive(receiver) == 1
        there.close()


def test_a_server_with_a_full_disk_keeps_the_message_waiting(
    tmp_path: Path, receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    with python_ftp(tmp_path) as place:
        account = FtpAccount("127.0.0.1", place.port, "bob", username=place.username, secret=Secret.of(place.password))
        there = FtpTransport(account)
        store = ftp_session.FtpSession.store

        def cut(session: ftp_session.FtpSession, path: str, data: bytes) -> None:
            store(session, path, data[:-3])

        with monkeypatch.context() as patch:
            patch.setattr(ftp_session.FtpSession, "store", cut)
            with pytest.raises(TransportDown, match="the server kept"):
                there.send(message(), "bob")
        assert there.receive(receiver) == 0
        there.send(message(), "bob")
        assert there.receive(receiver) == 1
        there.close()
    assert os.listdir(tmp_path / "bob" / ".signalbox") == []  # noqa: PTH208
