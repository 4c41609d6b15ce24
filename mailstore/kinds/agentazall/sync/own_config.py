"""Turn the table [transports] of the settings into a plan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from mailstore.kinds.agentazall.places import is_agent_folder, is_agent_name
from mailstore.kinds.agentazall.rules import Filter, filters_of
from mailstore.kinds.agentazall.sync.plan import (
    PORTS,
    AccountPlan,
    AgentPlan,
    SyncPlan,
    WrongSettings,
    account_of,
    secret_in,
)
from mailstore.kinds.agentazall.sync.settings import (
    FtpSettings,
    Pop3Settings,
    RelaySettings,
    SmtpSettings,
    TransportSettings,
)

Settings = RelaySettings | SmtpSettings | Pop3Settings | FtpSettings
KINDS = ("relay", "smtp", "imap", "pop3", "ftp")
OF_SETTINGS = ("agent", "addresses", "secret_file", "secret_env", "secret_command", "ca_file")


def plan_of(settings: TransportSettings, file: Path, root: Path) -> SyncPlan:
    """Return the plan for a mailbox; `file` is that of the settings. Raises WrongSettings and OSError."""
    accounts: dict[str, list[AccountPlan]] = {}
    for place, kind, account in _accounts(settings, file):
        _check_agent(account.agent, f"agent of {place}")
        accounts.setdefault(account.agent, []).append(_account(place, kind, account, file))
    for name in settings.agents:
        _check_agent(name, f"an entry of [transports] agents in {file}")
    if others := sorted(set(accounts) - set(settings.agents)) if settings.agents else []:
        raise WrongSettings(
            f"[transports] agents in {file} lacks {others[0]}, which has an account", "add it there", "E548"
        )
    names = settings.agents or sorted(accounts) or agents_in(root)
    rules = Filter(settings.filter.mode, tuple(settings.filter.blacklist), tuple(settings.filter.whitelist))
    filters = filters_of(root)
    agents = [AgentPlan(name, tuple(accounts.get(name, ())), filters.get(name, rules)) for name in names]
    return SyncPlan(root, tuple(agents), settings.every_seconds)


def agents_in(root: Path) -> list[str]:
    """Return the agents that have a folder. Raises OSError."""
    paths = (path for path in root.iterdir() if is_agent_name(path.name) and path.is_dir() and not path.is_symlink())
    return sorted(path.name for path in paths if is_agent_folder(path))


def _accounts(settings: TransportSettings, file: Path) -> Iterator[tuple[str, str, Settings]]:
    for kind in KINDS:
        for number, account in enumerate(getattr(settings, kind)):
            yield f"[[transports.{kind}]] number {number + 1} in {file}", kind, account


def _account(place: str, kind: str, account: Settings, file: Path) -> AccountPlan:
    fields: dict[str, Any] = {name: value for name, value in asdict(account).items() if name not in OF_SETTINGS}
    fields["address"] = account.address or account.agent
    fields["secret"] = secret_in(
        place, account.secret_file, account.secret_env, account.secret_command, file.absolute().parent
    )
    fields["ca_file"] = file.absolute().parent / Path(account.ca_file).expanduser() if account.ca_file else None
    if kind == "relay":
        if fields["secret"] is None:
            raise WrongSettings(f"{place} has no token", "name a file that holds it with secret_file", "E550")
        if not account.server.startswith(("http://", "https://")):
            raise WrongSettings(f"server of {place} is not a URL", 'write server = "https://HOST:PORT"', "E551")
    else:
        fields["port"] = fields["port"] or PORTS[kind, fields["security"]]
        if fields["username"] and fields["secret"] is None:
            raise WrongSettings(
                f"{place} has a username and no password", "name a file that holds it with secret_file", "E552"
            )
    if "folders" in fields:
        fields["folders"] = tuple(fields["folders"])
    return account_of(kind, fields, account.addresses)


def _check_agent(name: str, place: str) -> None:
    if not name.isprintable() or not is_agent_name(name) or {"/", "\\"}.intersection(name):
        raise WrongSettings(f'{place} is "{name}", not the address of an agent', "write the name of its folder", "E549")
