"""Messages sent by SMTP, to aiosmtpd and to AgentAZAll's own server."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mailstore.errors import MailError
from mailstore.kinds.agentazall.transports.mail_reading import message_in
from mailstore.kinds.agentazall.transports.smtp import SmtpAccount, SmtpTransport
from mailstore.kinds.agentazall.transports.transport import Attachment, MessageRefused, OutgoingMessage
from mailstore.kit.secret import Secret
from mailstore.kit.secure import TransportDown
from tests.kinds.agentazall.agentazall_mail import identity
from tests.kinds.agentazall.transports.outgoing import message
from tests.servers.agentazall_programs import free_port
from tests.servers.certificates import Certificates
from tests.servers.mail_servers import AgentMailServer, taking_mail


def account(port: int, **changes: Any) -> SmtpAccount:
    made = SmtpAccount(server="127.0.0.1", port=port, address="ann@localhost", security="none", seconds=5.0)
    return msgspec.structs.replace(made, **changes)


def send(account: SmtpAccount, *messages: OutgoingMessage, to: str = "bob@localhost") -> None:
    with closing(SmtpTransport(account)) as transport:
        for each in messages:
            transport.send(each, to)


def refusal(account: SmtpAccount, *messages: OutgoingMessage, to: str = "bob@localhost") -> str:
    """Return the words of a refusal, which hold no secret and no control character."""
    with pytest.raises(MailError) as caught:
        send(account, *(messages or (message(),)), to=to)
    text = str(caught.value)
    assert "password" not in text
    assert text.isprintable()
    assert ": " in text
    return f"{type(caught.value).__name__} {text.replace(f'ann@localhost at 127.0.0.1:{account.port}', 'ANN')}"


def server_side(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def test_a_message_is_taken_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(range(256)))
    written = message(
        recipients=("bob@localhost", "carol@localhost"), copies=("carol@localhost",), thread="a1b2c3d4e5f6",
        body=identity(1).signed("Line.\n.\n..\n\n---\nFrom here ✓"),
        attachments=(Attachment("ä; b.bin", tmp_path / "data"),),
    )  # fmt: skip
    with taking_mail() as taken:
        send(account(taken.port), written, written)
    assert [(each.sender, each.recipients) for each in taken.messages] == [("ann@localhost", ("bob@localhost",))] * 2
    found = message_in(taken.messages[0].data, "1")
    assert (found.id, found.sender, found.recipients, found.copies, found.subject, found.body, found.thread) == (
        written.id, written.sender, written.recipients, written.copies, written.subject, written.body, written.thread,
    )  # fmt: skip
    assert found.attachments == (("ä; b.bin", bytes(range(256))),)


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_a_message_goes_encrypted_and_logged_in(security: str, server_certificates: Certificates) -> None:
    shown = server_side(server_certificates.certificate, server_certificates.key)
    with taking_mail(shown, starttls=security == "starttls", login=True) as taken:
        known = account(
            taken.port,
            security=security,
            ca_file=server_certificates.authority,
            username="ann",
            secret=Secret.of("password"),
        )
        send(known, message())
        assert len(taken.messages) == 1
        wrong = msgspec.structs.replace(known, secret=Secret.of("pass-word"))
        assert refusal(wrong) == (
            'TransportDown smtp ANN refused the login ("5.7.8 Authentication credentials invalid"): '
            "check username and secret"
        )
        assert "smtp ANN wants a login" in refusal(msgspec.structs.replace(known, secret=None))
        unknown = refusal(msgspec.structs.replace(known, ca_file=None))
        assert "shows a certificate of an unknown authority: name that authority's certificate as ca_file" in unknown


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_a_certificate_is_checked(security: str, server_certificates: Certificates) -> None:
    for names, words in (
        (("expired", "expired_key"), "an expired certificate: renew it on the server, or check this machine's clock"),
        (("elsewhere", "elsewhere_key"), "a certificate for another host: use a host name that the certificate holds"),
    ):  # fmt: skip
        shown = server_side(*(getattr(server_certificates, name) for name in names))
        with taking_mail(shown, starttls=security == "starttls") as taken:
            known = account(taken.port, security=security, ca_file=server_certificates.authority)
            assert refusal(known) == f"TransportDown smtp ANN shows {words}"


def test_no_encryption_is_no_encryption_asked_for(server_certificates: Certificates, tmp_path: Path) -> None:
    with taking_mail() as taken:
        known = account(taken.port, security="starttls", ca_file=server_certificates.authority)
        assert "smtp ANN can't do what the settings ask" in refusal(known)
        known = account(taken.port, security="tls", ca_file=server_certificates.authority)
        assert (
            refusal(known)
            == "TransportDown smtp ANN does not speak TLS on this port: check port and security in the settings"
        )
        known = account(taken.port, security="tls", ca_file=tmp_path / "none")
        assert f"ca_file {tmp_path}/none can't be used (no such file or directory)" in refusal(known)
        assert not taken.messages


def test_what_a_server_refuses_is_said() -> None:
    with taking_mail() as taken:
        known = account(taken.port)
        assert refusal(known, to="no-one@localhost") == (
            'MessageRefused smtp ANN refused the message to "no-one@localhost" '
            '(550 "5.1.1 no such person [31m here"): correct it'
        )
        assert refusal(known, to="later-on@localhost") == (
            'TransportDown smtp ANN can\'t take messages now (451) ("4.7.1 greylisted"): it is tried again'
        )
        assert "MessageRefused" in refusal(known, message(id="refuse-me"))
        assert "takes at most 200,000 bytes" in refusal(known, message(body="x" * 200_000))
        with closing(SmtpTransport(known)) as transport:  # the connection is as good as before
            with pytest.raises(MessageRefused):
                transport.send(message(), "no-one@localhost")
            transport.send(message(), "bob@localhost")
        assert len(taken.messages) == 1


def test_an_address_beyond_ascii_is_sent() -> None:
    with taking_mail() as taken:
        send(account(taken.port), message(recipients=("jörg@localhost",)), to="jörg@localhost")
    assert taken.messages[0].recipients == ("jörg@localhost",)


def test_a_server_that_came_back_is_used_again() -> None:
    with taking_mail() as first:
        transport = SmtpTransport(account(first.port))
        transport.send(message(), "bob@localhost")
    with pytest.raises(TransportDown, match="refuses connections: start the server, or check host and port"):
        transport.send(message(), "bob@localhost")
    with taking_mail(port=first.port) as second, closing(transport):
        transport.send(message(), "bob@localhost")
    assert (len(first.messages), len(second.messages)) == (1, 1)


def test_no_server() -> None:
    assert refusal(account(free_port())).endswith("ANN refuses connections: start the server, or check host and port")
    unknown = refusal(account(25, server="mail.invalid"))
    assert "can't be found by its name: check the host" in unknown


def test_agentazall_s_server_takes_a_message(agentazall_mail: AgentMailServer, new_name: Callable[[str], str]) -> None:
    bob = agentazall_mail.account(f"{new_name('bob')}@localhost")
    known = account(agentazall_mail.smtp, username=bob, secret=Secret.of("password"))
    send(known, message(recipients=(bob,)), message(id="4d15c1f79f9a", recipients=(bob,)), to=bob)
    kept = sorted(agentazall_mail.folder(bob, "INBOX").glob("*.eml"))
    assert [message_in(path.read_bytes(), "1").id for path in kept] == ["4d15c1f79f99", "4d15c1f79f9a"]
    wrong = msgspec.structs.replace(known, secret=Secret.of("passwort"))
    assert "refused the login" in refusal(wrong, message(recipients=(bob,)))
