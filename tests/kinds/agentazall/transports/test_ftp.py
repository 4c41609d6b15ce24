"""Mail over FTP servers that others wrote: AgentAZAll's, and pyftpdlib with and without TLS."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mailstore.kinds.agentazall.transports import ftp_incoming
from mailstore.kinds.agentazall.transports.ftp import FtpAccount, FtpTransport
from mailstore.kinds.agentazall.transports.transport import Attachment, IncomingMessage, MessageRefused
from mailstore.kit.secret import Secret
from mailstore.kit.secure import TransportDown
from tests.kinds.agentazall.transports.outgoing import message
from tests.kinds.agentazall.transports.receiver import KeptMessages
from tests.patience import PATIENCE
from tests.servers.certificates import Certificates
from tests.servers.ftp_servers import FtpPlace, python_ftp

NewName = Callable[[str], str]
Connect = Callable[[FtpPlace, str], FtpTransport]
SIGNED = (
    "---BEGIN AGENTAZALL SIGNED MESSAGE---\nFingerprint: 38\nPublic-Key: +B=\n\nThe text.\n"
    "---END AGENTAZALL SIGNED MESSAGE---\n---BEGIN AGENTAZALL SIGNATURE---\nabc=\n---END AGENTAZALL SIGNATURE---"
)


@pytest.fixture(scope="session")
def plain_ftp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FtpPlace]:
    with python_ftp(tmp_path_factory.mktemp("plain")) as place:
        yield place


@pytest.fixture(scope="session")
def secure_ftp(tmp_path_factory: pytest.TempPathFactory, server_certificates: Certificates) -> Iterator[FtpPlace]:
    with python_ftp(tmp_path_factory.mktemp("secure"), server_certificates) as place:
        yield place


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ftp_incoming, "SETTLE_SECONDS", 0.02)
    monkeypatch.setattr(ftp_incoming, "PATIENCE_SECONDS", 60.0)


@pytest.fixture(params=["original_ftp", "plain_ftp", "secure_ftp"])
def place(request: pytest.FixtureRequest) -> FtpPlace:
    found: FtpPlace = request.getfixturevalue(request.param)
    return found


def transport(place: FtpPlace, name: str, authority: Path | None = None, password: str = "") -> FtpTransport:
    account = FtpAccount(
        server="127.0.0.1",
        port=place.port,
        address=name,
        security="tls" if authority else "none",
        username=place.username,
        secret=Secret.of(password or place.password),
        ca_file=authority,
        seconds=10,
    )
    return FtpTransport(account)


@pytest.fixture
def connected(request: pytest.FixtureRequest, server_certificates: Certificates) -> Iterator[Connect]:
    made: list[FtpTransport] = []

    def connect(place: FtpPlace, name: str) -> FtpTransport:
        authority = server_certificates.authority if "secure" in str(place.root) else None
        made.append(transport(place, name, authority))
        return made[-1]

    yield connect
    for each in made:
        each.close()
        each.close()


def original(place: FtpPlace, name: str, stem: str, text: str, day: str = "2026-11-20") -> Path:
    """Write a file as the original program uploads one."""
    path = place.root / name / day / "inbox" / f"{stem}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def header(**more: str) -> str:
    fields = {"From": "ann@localhost", "To": "bob@localhost", "Subject": "s", "Date": "2026-11-20 20:46:47"}
    fields |= {"Message-ID": "4d15c1f79f99", "Status": "new", **more}
    return "".join(f"{name}: {value}\n" for name, value in fields.items()) + "\n---\n"


def test_a_message_arrives_as_it_was_sent(
    place: FtpPlace, connected: Connect, receiver: KeptMessages, new_name: NewName, tmp_path: Path
) -> None:
    ann, bob = new_name("ann@h"), new_name("bob@h")
    (tmp_path / "data ü.bin").write_bytes(bytes(range(256)) * 1000)
    sent = message(
        sender=ann,
        recipients=(bob, "cyd@localhost"),
        copies=("cyd@localhost",),
        thread="0a1b",
        attachments=(Attachment("data ü.bin", tmp_path / "data ü.bin"),),
    )
    connected(place, ann).send(sent, bob)
    connected(place, ann).send(sent, bob)  # a second try
    there = connected(place, bob)
    assert there.receive(receiver) == 1
    [came] = receiver.messages
    assert came == IncomingMessage(
        key=f"2026-11-20/{sent.id}.txt",
        sender=ann,
        recipients=sent.recipients,
        subject=sent.subject,
        date=sent.date,
        body=sent.body,
        id=sent.id,
        copies=sent.copies,
        thread="0a1b",
        attachments=(("data ü.bin", bytes(range(256)) * 1000),),
    )
    assert there.receive(receiver) == 0
    inbox = place.root / bob / "2026-11-20" / "inbox"
    assert sorted(each.name for each in inbox.iterdir()) == [sent.id, f"{sent.id}.txt"]
    assert list((place.root / bob / ".signalbox").iterdir()) == []


def test_a_message_of_the_original_program_is_taken_when_it_is_complete(
    original_ftp: FtpPlace, connected: Connect, receiver: KeptMessages, new_name: NewName,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    bob = new_name("bob@h")
    there = connected(original_ftp, bob)
    text = header() + SIGNED
    path = original(original_ftp, bob, "4d15c1f79f99", text[:40])
    assert there.receive(receiver) == 0
    path.write_text(text[:-20])
    assert there.receive(receiver) == 0
    path.write_text(text)
    assert there.receive(receiver) == 1
    assert receiver.messages[0].body == SIGNED
    assert receiver.messages[0].id == "4d15c1f79f99"

    files = header(Attachments="a.csv, b.csv") + SIGNED
    path = original(original_ftp, bob, "two", files)
    assert there.receive(receiver) == 0
    (path.parent / "two").mkdir()
    (path.parent / "two" / "a.csv").write_text("a")
    assert there.receive(receiver) == 0
    (path.parent / "two" / "b.csv").write_text("b")
    (path.parent / "two" / "sub").mkdir()
    assert there.receive(receiver) == 1
    assert sorted(receiver.messages[1].attachments) == [("a.csv", b"a"), ("b.csv", b"b")]


def test_a_message_whose_attachment_never_comes_is_not_hidden(
    plain_ftp: FtpPlace,
    connected: Connect,
    receiver: KeptMessages,
    new_name: NewName,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bob = new_name("bob@h")
    original(plain_ftp, bob, "one", header(Attachments="lost.csv") + SIGNED)
    there = connected(plain_ftp, bob)
    assert there.receive(receiver) == 0
    monkeypatch.setattr(ftp_incoming, "PATIENCE_SECONDS", 0.0)
    assert there.receive(receiver) == 1


def test_what_nobody_uploads_any_more_is_taken_or_named(
    plain_ftp: FtpPlace, connected: Connect, receiver: KeptMessages, new_name: NewName
) -> None:
    bob = new_name("bob@h")
    cut = original(plain_ftp, bob, "cut", (header() + SIGNED)[:-30])
    empty = original(plain_ftp, bob, "empty", "")
    there = connected(plain_ftp, bob)
    assert there.receive(receiver) == 0
    long_ago = time.time() - 3 * 3600
    os.utime(cut, (long_ago, long_ago))
    os.utime(empty, (long_ago, long_ago))
    assert there.receive(receiver) == 1
    assert receiver.turned == {"2026-11-20/empty.txt": "it is empty"}


def test_an_unsigned_message_is_taken_once_it_does_not_grow(
    plain_ftp: FtpPlace, connected: Connect, receiver: KeptMessages, new_name: NewName
) -> None:
    bob = new_name("bob@h")
    original(plain_ftp, bob, "x", header() + "unsigned text")
    assert connected(plain_ftp, bob).receive(receiver) == 1  # looked at twice
    assert receiver.messages[0].body == "unsigned text"


def test_what_the_filter_blocks_is_not_kept_nor_its_attachments_fetched(
    plain_ftp: FtpPlace, connected: Connect, receiver: KeptMessages, new_name: NewName
) -> None:
    bob = new_name("bob@h")
    original(plain_ftp, bob, "x", header(Attachments="a") + SIGNED)
    receiver.blocked = ("ann@localhost",)
    assert connected(plain_ftp, bob).receive(receiver) == 0
    assert receiver.turned == {"2026-11-20/x.txt": "the address filter blocks ann@localhost"}
    assert receiver.senders == {"2026-11-20/x.txt": "ann@localhost"}
    assert receiver.excerpts["2026-11-20/x.txt"].startswith(b"From: ann@localhost")


def test_a_message_that_waited_long_is_found_on_an_old_day(
    plain_ftp: FtpPlace, connected: Connect, receiver: KeptMessages, new_name: NewName,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    bob = new_name("bob@h")
    for day in range(10, 20):
        original(plain_ftp, bob, f"on{day}", header() + SIGNED, f"2026-11-{day}")
    there = connected(plain_ftp, bob)
    assert there.receive(receiver) == 10
    original(plain_ftp, bob, "late", header() + SIGNED, "2026-11-11")
    assert there.receive(receiver) == 0
    monkeypatch.setattr(ftp_incoming, "ALL_DAYS_SECONDS", 0.0)
    assert there.receive(receiver) == 1


def test_two_messages_under_one_id_are_both_delivered(
    plain_ftp: FtpPlace, connected: Connect, receiver: KeptMessages, new_name: NewName
) -> None:
    ann, bob = new_name("ann@h"), new_name("bob@h")
    for text in ("one", "two", "one", "two"):
        connected(plain_ftp, ann).send(message(body=text), bob)
    assert connected(plain_ftp, bob).receive(receiver) == 2
    assert sorted(each.body for each in receiver.messages) == ["one", "two"]


def test_an_interrupted_upload_is_never_seen_and_finished_by_the_next_try(
    plain_ftp: FtpPlace, connected: Connect, receiver: KeptMessages, new_name: NewName,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    from mailstore.kinds.agentazall.transports.ftp_session import FtpSession

    bob = new_name("bob@h")
    (tmp_path / "a").write_text("a")
    sent = message(attachments=(Attachment("a", tmp_path / "a"),))
    there = connected(plain_ftp, bob)
    for step in range(30):
        steps = iter(range(30))

        def counted(name: str, *, until: int = step, steps: Iterator[int] = steps) -> Callable[..., object]:
            before: Callable[..., object] = getattr(FtpSession, name)

            def act(self: FtpSession, *values: object) -> object:
                if next(steps) == until:
                    raise KeyboardInterrupt
                return before(self, *values)

            return act

        with monkeypatch.context() as patch:
            for name in ("store", "rename", "make_folder"):
                patch.setattr(FtpSession, name, counted(name))
            sender = connected(plain_ftp, "ann")
            try:
                sender.send(sent, bob)
            except KeyboardInterrupt:
                # all or nothing at all is there
                assert there.receive(receiver) in (0, 1)
                assert all(each.attachments == (("a", b"a"),) for each in receiver.messages)
                continue
        break
    there.receive(receiver)
    assert step > 5
    assert len(receiver.messages) == 1


@pytest.mark.parametrize("address", ["../eve", "a/b", "a\\b", ".hidden", "", "x\ny", "x" * 300])
def test_an_address_that_is_no_folder_is_refused(plain_ftp: FtpPlace, connected: Connect, address: str) -> None:
    with pytest.raises(MessageRefused, match="can't be the name of a folder"):
        connected(plain_ftp, "ann").send(message(), address)
    with pytest.raises(MessageRefused, match="can't be the name of a folder"):
        transport(plain_ftp, address)


def test_a_wrong_password_is_down_and_not_told(plain_ftp: FtpPlace, receiver: KeptMessages) -> None:
    wrong = transport(plain_ftp, "bob", password="wrong-pass")
    with pytest.raises(TransportDown, match="refuses the login") as failure:
        wrong.receive(receiver)
    assert "wrong-pass" not in str(failure.value)


def test_a_server_that_grants_no_rights_says_so(tmp_path: Path) -> None:
    with (
        python_ftp(tmp_path, rights="elr") as place,
        closing(transport(place, "ann")) as ann,
        pytest.raises(TransportDown, match="check the rights"),
    ):
        ann.send(message(), "bob")


def test_a_connection_that_the_server_closed_is_made_again(tmp_path: Path, receiver: KeptMessages) -> None:
    with python_ftp(tmp_path) as place, closing(transport(place, "bob")) as bob:
        assert bob.receive(receiver) == 0
        bob.send(message(), "bob")
        assert bob._session is not None
        place.hang_up.set()
        assert select.select([bob._session._ftp.sock], [], [], PATIENCE)[0]  # it says goodbye
        assert bob.receive(receiver) == 1
    with pytest.raises(TransportDown, match="refuses connections"):
        bob.receive(receiver)


def test_certificates_are_checked_and_tls_is_not_given_up(
    secure_ftp: FtpPlace, plain_ftp: FtpPlace, receiver: KeptMessages, server_certificates: Certificates
) -> None:
    other = server_certificates.elsewhere  # a certificate of no authority of ours
    with pytest.raises(TransportDown, match="unknown authority"):
        transport(secure_ftp, "bob", other).receive(receiver)
    with pytest.raises(TransportDown, match=r"check the rights|does not offer"):
        transport(plain_ftp, "bob", server_certificates.authority).receive(receiver)
    with pytest.raises(TransportDown, match="refuses the login"):
        transport(secure_ftp, "bob").receive(receiver)
