"""What SMTP, IMAP and POP3 have in common: an account on a server, and a connection to it."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path
from typing import Literal

from msgspec import Struct

from mailstore.kinds.agentazall.transports.limited_socket import ConnectionLimits, limited
from mailstore.kit.secret import Secret
from mailstore.kit.secure import TransportDown, tls_context

Security = Literal["tls", "starttls", "none"]


class MailAccount(Struct, frozen=True, kw_only=True):
    """An account on a mail server. `address` is the agent's own; `seconds` is how long a silence may last."""

    server: str
    port: int
    address: str
    security: Security = "tls"
    username: str = ""
    secret: Secret | None = None
    ca_file: Path | None = None
    seconds: float = 30.0


class MailServer:
    """What a connection to an account's server needs; nothing is opened by it."""

    def __init__(self, kind: str, account: MailAccount) -> None:
        self.account = account
        self.label = f"{kind} {account.address} at {account.server}:{account.port}"
        self.limits = ConnectionLimits(self.label, account.seconds)
        self._secret = ""

    @property
    def user(self) -> str:
        """Return the name to log in with."""
        return self.account.username or self.account.address

    def password(self) -> str:
        """Return the password, empty if there is none. Raises SecretMissing, and TransportDown if it can't be one."""
        self._secret = self.account.secret.reveal() if self.account.secret else ""
        if not (self.user + self._secret).isprintable():
            raise TransportDown(f"{self.label} has a control character in username or secret", "correct the settings")
        return self._secret

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the password in every form in which a server could repeat it, the longest first."""
        if not self._secret:
            return ()
        pair = f"\0{self.user}\0{self._secret}"
        forms = {self._secret, *(base64.b64encode(each.encode()).decode("ascii") for each in (self._secret, pair))}
        return tuple(sorted(forms, key=len, reverse=True))

    def context(self) -> ssl.SSLContext:
        """Return a context for TLS that obeys the limits. Raises TransportDown."""
        return limited(tls_context(self.account.ca_file), self.limits)
