"""Open the transports that settings describe; a library is imported when an account needs it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from mailstore.installation import remedy
from mailstore.kinds.agentazall.sync.plan import AccountPlan, WrongSettings
from mailstore.kinds.agentazall.transports.transport import Transport
from mailstore.kit.secret import Secret

PORTS = {
    ("smtp", "tls"): 465,
    ("smtp", "starttls"): 587,
    ("smtp", "none"): 25,
    ("imap", "tls"): 993,
    ("imap", "starttls"): 143,
    ("imap", "none"): 143,
    ("pop3", "tls"): 995,
    ("pop3", "starttls"): 110,
    ("pop3", "none"): 110,
    ("ftp", "tls"): 21,
    ("ftp", "none"): 21,
}
CLASSES = {
    "relay": ("RelayAccount", "RelayTransport"),
    "smtp": ("SmtpAccount", "SmtpTransport"),
    "imap": ("ImapAccount", "ImapTransport"),
    "pop3": ("Pop3Account", "Pop3Transport"),
    "ftp": ("FtpAccount", "FtpTransport"),
}
"""The classes of an account and its transport in the kind's module."""


def secret_in(place: str, file: str, variable: str, command: list[str], beside: Path) -> Secret | None:
    """Return the secret that settings name, None if they name none. Raises WrongSettings."""
    if sum(map(bool, (file, variable, command))) > 1:
        raise WrongSettings(f"{place} names its secret more than once", "keep one of secret_file, _env and _command")
    if file:
        return Secret.in_file(beside / Path(file).expanduser())
    if variable:
        return Secret.in_environment(variable)
    return Secret.from_command(command) if command else None


def account_of(kind: str, fields: dict[str, Any], addresses: dict[str, str]) -> AccountPlan:
    """Return an account of a kind from the fields of its struct in the transport's module."""
    return AccountPlan(kind, fields["address"], _opening(kind, fields), addresses)


def _opening(kind: str, fields: dict[str, Any]) -> Callable[[], Transport]:
    def opened() -> Transport:
        """Import and open the transport. Raises WrongSettings if its library is missing."""
        try:
            module = import_module(f"mailstore.kinds.agentazall.transports.{kind}")
            account, transport = CLASSES[kind]
            made: Transport = getattr(module, transport)(getattr(module, account)(**fields))
        except ModuleNotFoundError as error:
            raise WrongSettings(
                f"the package {error.name} for {kind} is not installed", remedy("agentazall")
            ) from error
        return made

    return opened
