"""Hand messages over by SMTP."""

from __future__ import annotations

import smtplib
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from mailstore.kinds.agentazall.transports.mail_server import MailAccount, MailServer, connected
from mailstore.kinds.agentazall.transports.mail_writing import checked_address, mail_bytes
from mailstore.kinds.agentazall.transports.transport import MessageRefused, OutgoingMessage, Transport
from mailstore.kit.secure import TransportDown, down_by, said

OUR_NAME = "[127.0.0.1]"
"""What we are called to servers: no name of this machine is told, and none is looked up."""
LOGIN_NEEDED = frozenset({530, 534, 535, 538})
CLOSING = 421


class SmtpAccount(MailAccount, frozen=True, kw_only=True):
    """An account on an SMTP server; `address` is whom its messages are from. Without a secret there is no login."""


class _Smtp(smtplib.SMTP):
    """The library's client on a limited connection."""

    def __init__(self, server: MailServer) -> None:
        self._server = server
        account = server.account
        try:
            super().__init__(account.server, account.port, local_hostname=OUR_NAME, timeout=account.seconds)
        except BaseException:
            self.close()
            raise

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        context = self._server.context() if self._server.account.security == "tls" else None
        return connected(host, port, self._server.limits, context)


class SmtpTransport(Transport):
    """Sends e-mail, one for each recipient, over a connection that is kept for the next."""

    kind = "smtp"
    can_receive = False

    def __init__(self, account: SmtpAccount) -> None:
        self._server = MailServer(self.kind, account)
        self.label = self._server.label
        self._client: _Smtp | None = None

    def send(self, message: OutgoingMessage, recipient: str) -> None:
        data = mail_bytes(message, self._server.account.address)
        sender, to = checked_address(self._server.account.address), checked_address(recipient)
        client = self._ready(len(data))
        options = [] if data.isascii() and to.isascii() else ["SMTPUTF8"]
        if options and not client.has_extn("smtputf8"):
            raise MessageRefused(f'{self.label} can\'t send to "{to}"', "use addresses in ASCII", "E602")
        largest = client.esmtp_features.get("size", "")
        if largest.isdigit() and len(largest) < 20 and 0 < int(largest) < len(data):
            raise MessageRefused(
                f"{self.label} takes at most {int(largest):,} bytes, not {len(data):,}", "send less", "E603"
            )
        try:
            with self._clear(to):
                client.sendmail(sender, [to], data, mail_options=options)
        except TransportDown:
            self.close()
            raise

    def _ready(self, size: int) -> _Smtp:
        """Return a connection that is logged in, the last one if it still is."""
        client = self._client
        if client is not None:
            self._server.limits.begin(size)
            with suppress(TransportDown), self._clear():
                if client.rset()[0] == 250:
                    return client
        self.close()
        self._server.limits.begin(size)
        with self._clear():
            client = self._client = _Smtp(self._server)
        try:
            with self._clear():
                if self._server.account.security == "starttls":
                    client.starttls(context=self._server.context())
                client.ehlo_or_helo_if_needed()
            if password := self._server.password():
                self._log_in(client, password)
        except BaseException:
            self.close()
            raise
        return client

    def _log_in(self, client: _Smtp, password: str) -> None:
        """Log in, once: a wrong password tried in every way that a server knows locks accounts."""
        if not (self._server.user + password).isascii():
            raise TransportDown(f"{self.label} takes only ASCII in username and secret", "change them", "E604")
        ways: dict[str, Any] = {
            "PLAIN": client.auth_plain,
            "LOGIN": client.auth_login,
            "CRAM-MD5": client.auth_cram_md5,
        }
        offered = client.esmtp_features.get("auth", "").upper().split()
        name = next((name for name in ways if name in offered), "")
        if not name:
            raise TransportDown(f"{self.label} offers no login that we know", "check security, or unset secret", "E605")
        client.user, client.password = self._server.user, password
        with self._clear():
            client.auth(name, ways[name])

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            self._server.limits.begin()
            with suppress(TransportDown, MessageRefused), self._clear():
                client.quit()
            client.close()

    @contextmanager
    def _clear(self, recipient: str = "") -> Iterator[None]:
        """Turn what the library raises into TransportDown or MessageRefused."""
        try:
            yield
        except TransportDown:
            raise
        except smtplib.SMTPRecipientsRefused as error:
            raise self._answered(*next(iter(error.recipients.values())), recipient) from None
        except smtplib.SMTPAuthenticationError as error:
            raise self._down("refused the login", error.smtp_error, "check username and secret") from None
        except smtplib.SMTPResponseException as error:
            raise self._answered(error.smtp_code, error.smtp_error, recipient) from None
        except smtplib.SMTPNotSupportedError as error:
            raise self._down("can't do what the settings ask", str(error), "check security and secret") from None
        except smtplib.SMTPServerDisconnected as error:
            # the library tells a time-out in words only
            raise down_by(TimeoutError() if "timed out" in str(error) else EOFError(), self.label) from None
        except (OSError, smtplib.SMTPException) as error:
            raise down_by(error, self.label, self._server.secrets) from None
        except (ValueError, IndexError):
            raise TransportDown(
                f"{self.label} does not speak SMTP", "check server, port and security", "E607"
            ) from None

    def _answered(self, code: int, text: Any, recipient: str) -> TransportDown | MessageRefused:
        if code in LOGIN_NEEDED:
            return self._down("wants a login", text, "set username and secret")
        if recipient and 500 <= code < 600:
            words = said(text, self._server.secrets)
            return MessageRefused(
                f'{self.label} refused the message to "{recipient}" ({code} {words})', "correct it", "E606"
            )
        if code < 0:
            return TransportDown(f"{self.label} does not speak SMTP", "check server, port and security", "E607")
        return self._down(f"can't take messages now ({code})", text, "it is tried again")

    def _down(self, what: str, text: Any, remedy: str) -> TransportDown:
        return TransportDown(f"{self.label} {what} ({said(text, self._server.secrets)})", remedy)
