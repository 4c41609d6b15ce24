"""Messages fetched by IMAP and POP3, from AgentAZAll's own server and from dovecot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any

import pytest

from mailstore.kinds.agentazall.transports.imap import ImapAccount, ImapTransport
from mailstore.kinds.agentazall.transports.mail_fetching import FetchedMail, ListedMail, MailFetching, MailSession
from mailstore.kinds.agentazall.transports.mail_parsing import header_of
from mailstore.kinds.agentazall.transports.mail_writing import mail_bytes
from mailstore.kinds.agentazall.transports.pop3 import Pop3Account, Pop3Transport
from mailstore.kinds.agentazall.transports.transport import Transport
from mailstore.kit.secret import Secret
from mailstore.kit.secure import TransportDown
from tests.kinds.agentazall.agentazall_mail import identity
from tests.kinds.agentazall.transports.outgoing import message
from tests.kinds.agentazall.transports.receiver import KeptMessages
from tests.servers.certificates import Certificates
from tests.servers.mail_servers import AgentMailServer, Dovecot

PASSWORD = Secret.of("password")


def imap(port: int, address: str, **more: Any) -> ImapTransport:
    return ImapTransport(
        ImapAccount(server="127.0.0.1", port=port, address=address, **{"secret": PASSWORD, "seconds": 5.0, **more})
    )


def pop3(port: int, address: str, **more: Any) -> Pop3Transport:
    return Pop3Transport(
        Pop3Account(server="127.0.0.1", port=port, address=address, **{"secret": PASSWORD, "seconds": 5.0, **more})
    )


def mail(number: int, **changes: Any) -> bytes:
    return mail_bytes(
        message(id=f"{number:012x}", body=identity(1).signed(f"Text {number} ✓"), **changes), "ann@localhost"
    )


def refusal(transport: Transport, receiver: KeptMessages) -> str:
    with closing(transport), pytest.raises(TransportDown) as caught:
        transport.receive(receiver)
    text = str(caught.value)
    assert "password" not in text
    assert text.isprintable()
    return text.partition(" at ")[2].partition(" ")[2]


@pytest.mark.parametrize("kind", ["imap", "pop3"])
def test_new_messages_come_once_and_stay_on_the_server(
    kind: str, agentazall_mail: AgentMailServer, new_name: Callable[[str], str], receiver: KeptMessages
) -> None:
    bob = agentazall_mail.account(f"{new_name('bob')}@localhost")
    numbers = [agentazall_mail.put(bob, mail(number)) for number in range(3)]
    before = agentazall_mail.files(bob)
    made = (
        imap(agentazall_mail.imap, bob, security="none")
        if kind == "imap"
        else pop3(agentazall_mail.pop3, bob, security="none")
    )
    with closing(made) as transport:
        assert transport.receive(receiver) == 3
        assert transport.receive(receiver) == 0
        numbers.append(agentazall_mail.put(bob, mail(3)))
        assert transport.receive(receiver) == 1
    assert list(receiver.kept) == ([f"INBOX/1/{number}" for number in numbers] if kind == "imap" else numbers)
    for number, found in enumerate(receiver.messages):
        assert (found.id, found.body) == (f"{number:012x}", identity(1).signed(f"Text {number} ✓"))
    assert before.items() <= agentazall_mail.files(bob).items()
    assert not receiver.turned


@pytest.mark.parametrize("kind", ["imap", "pop3"])
@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_dovecot_encrypted(
    kind: str,
    security: str,
    dovecot: Dovecot,
    server_certificates: Certificates,
    new_name: Callable[[str], str],
    receiver: KeptMessages,
) -> None:
    bob = new_name("bob")
    files = [dovecot.put(bob, mail(number)) for number in range(3)]
    large = dovecot.put(bob, mail(3, sender="ann@localhost") + b"A line.\r\n" * 20_000)
    ports = {"imap": (dovecot.imaps, dovecot.imap), "pop3": (dovecot.pop3s, dovecot.pop3)}[kind]
    make = imap if kind == "imap" else pop3
    more = {"security": security, "ca_file": server_certificates.authority}
    port = ports[security == "starttls"]
    with closing(make(port, bob, **more)) as transport:
        assert transport.receive(receiver) == 4
        assert transport.receive(receiver) == 0
        files.append(dovecot.put(bob, mail(4)))
        assert transport.receive(receiver) == 1
    assert [each.id for each in receiver.messages] == [f"{number:012x}" for number in range(5)]
    assert kind == "pop3" or all(each.arrived is not None for each in receiver.messages)
    names = [path.name for path in sorted((dovecot.mail / bob).glob("[nc]*/*"))]
    assert sorted(name.partition(":2,")[0] for name in names) == sorted(path.name for path in (*files, large))
    if kind == "imap":
        assert not any("S" in name.partition(":2,")[2] for name in names)  # nothing was marked as read
    wrong = refusal(make(port, bob, **{**more, "secret": Secret.of("pass-word")}), receiver)
    assert wrong.startswith("refused the login (")
    assert wrong.endswith("): check username and secret")
    assert refusal(make(port, bob, security=security), receiver) == (
        "shows a certificate of an unknown authority: name that authority's certificate as ca_file"
    )


def test_the_filter_is_asked_before_a_large_message_is_fetched(
    dovecot: Dovecot, server_certificates: Certificates, new_name: Callable[[str], str], receiver: KeptMessages
) -> None:
    bob = new_name("bob")
    for body in ("small", "x" * 200_000):
        dovecot.put(bob, mail_bytes(message(body=body), "eve@localhost"))
    receiver.blocked = ("eve@localhost",)
    for made in (
        imap(dovecot.imaps, bob, ca_file=server_certificates.authority),
        pop3(dovecot.pop3s, bob, ca_file=server_certificates.authority),
    ):
        with closing(made) as transport:
            assert transport.receive(receiver) == 0
    assert list(receiver.turned.values()) == ["the address filter blocks eve@localhost"] * 4
    assert set(receiver.senders.values()) == {"eve@localhost"}
    assert all(b"eve@localhost" in each for each in receiver.excerpts.values())
    assert (dovecot.mail.parent / "log").read_text().count("x" * 100) == 0


def test_folders_are_chosen_and_named_when_missing(
    dovecot: Dovecot, server_certificates: Certificates, new_name: Callable[[str], str], receiver: KeptMessages
) -> None:
    bob = new_name("bob")
    dovecot.put(bob, mail(1))
    dovecot.put(bob, mail(2), "Agents")
    dovecot.put(bob, mail(3), "Gr&APwA3w-e")
    more = {"ca_file": server_certificates.authority}
    with closing(imap(dovecot.imaps, bob, folders=("Agents", "Grüße"), **more)) as transport:
        assert transport.receive(receiver) == 2
        assert transport.receive(receiver) == 0
    assert [key.partition("/")[0] for key in receiver.kept] == ["Agents", "Grüße"]
    missing = refusal(imap(dovecot.imaps, bob, folders=("Agent",), **more), receiver)
    assert missing.startswith('has no folder "Agent" (')
    assert missing.endswith(('): choose from "Grüße, Agents, INBOX"', '): choose from "Agents, Grüße, INBOX"'))


def test_new_numbers_make_new_keys(
    dovecot: Dovecot, server_certificates: Certificates, new_name: Callable[[str], str], receiver: KeptMessages
) -> None:
    bob = new_name("bob")
    dovecot.put(bob, mail(1))
    with closing(imap(dovecot.imaps, bob, ca_file=server_certificates.authority)) as transport:
        assert transport.receive(receiver) == 1
    for path in (dovecot.mail / bob).glob("dovecot*"):
        path.unlink()
    (dovecot.mail / bob / "dovecot-uidlist").write_text("3 V12345 N7 Gf0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0\n")
    with closing(imap(dovecot.imaps, bob, ca_file=server_certificates.authority)) as transport:
        assert transport.receive(receiver) == 1
    assert len(receiver.kept) == 2
    assert len({each.id for each in receiver.messages}) == 1


class OneLook(MailSession):
    """A mailbox in memory."""

    def __init__(self, *mails: bytes) -> None:
        self._mails = mails

    def listed(self, knows: Callable[[str], bool]) -> Iterable[ListedMail]:
        found = [ListedMail(f"k{number}", number, len(data)) for number, data in enumerate(self._mails)]
        return [each for each in found if not knows(each.key)]

    def head(self, mail: ListedMail) -> bytes | None:
        return self._mails[mail.name].partition(b"\r\n\r\n")[0]

    def whole(self, mail: ListedMail) -> FetchedMail | None:
        return FetchedMail(self._mails[mail.name])

    def finish(self) -> None:
        pass

    def close(self) -> None:
        pass


def test_a_mail_at_which_reading_fails_stops_no_other(receiver: KeptMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: bytes) -> Any:
        if b"poison" in data:
            raise LookupError("hunter2")
        return header_of(data)

    for module in ("mail_fetching", "mail_reading"):
        monkeypatch.setattr(f"mailstore.kinds.agentazall.transports.{module}.header_of", broken)
    monkeypatch.setattr("mailstore.kinds.agentazall.transports.mail_fetching.WORTH_ASKING", 0)
    odd = b"Subject: poison\r\n" + mail(1)
    fetching = MailFetching(lambda: OneLook(odd, mail(2)))
    assert fetching.receive(receiver) == 1
    assert [each.id for each in receiver.messages] == [f"{2:012x}"]
    assert receiver.turned["k0"].startswith("internal error (LookupError at test_mail_fetching.py:")
    assert receiver.excerpts["k0"].startswith(b"Subject: poison")
    assert fetching.receive(receiver) == 0
