"""What a sync does: for which agents of which mailbox, by which accounts, and how their transports are opened."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from mailstore.errors import MailError
from mailstore.installation import remedy
from mailstore.kinds.agentazall.names import plain_of
from mailstore.kinds.agentazall.rules import OPEN, Filter
from mailstore.kinds.agentazall.transports.transport import Transport
from mailstore.kit.secret import Secret

EVERY_SECONDS = 10.0


class WrongSettings(MailError):
    """A setting of a transport can't be used; the problem names file and key."""


class AccountPlan(NamedTuple):
    """One account of an agent: how to open it, and what others are called there."""

    kind: str
    address: str
    """What the agent itself is called there."""

    open: Callable[[], Transport]
    addresses: dict[str, str]

    def called(self, address: str) -> str:
        """Return what the recipient is called there: a relay knows `bob@localhost` as `bob`."""
        if address in self.addresses or self.kind != "relay":
            return self.addresses.get(address, address)
        return plain_of(address)

    def here(self, address: str) -> str:
        """Return what somebody there is called here."""
        return next((ours for ours, theirs in self.addresses.items() if theirs == address), address)


class AgentPlan(NamedTuple):
    """An agent by its address, its accounts, and which senders it accepts."""

    name: str
    accounts: tuple[AccountPlan, ...] = ()
    filter: Filter = OPEN


class SyncPlan(NamedTuple):
    """A folder of mailboxes, its agents, and how often to look."""

    root: Path
    agents: tuple[AgentPlan, ...]
    every_seconds: float = EVERY_SECONDS
    warnings: tuple[str, ...] = ()


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
        raise WrongSettings(
            f"{place} names its secret more than once", "keep one of secret_file, _env and _command", "E542"
        )
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
                f"the package {error.name} for {kind} is not installed", remedy("agentazall"), "E543"
            ) from error
        return made

    return opened
