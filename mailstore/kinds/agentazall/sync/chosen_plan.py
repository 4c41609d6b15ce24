"""Find out what to carry: from the table [transports] of the settings, or from AgentAZAll's own config.json."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from mailstore.errors import MailError, StoreError, reason_of
from mailstore.kinds.agentazall.places import (
    config_at,
    find,
    is_agent_folder,
    is_agent_name,
    mailbox_dir,
    transport_trees,
)
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
from mailstore.kinds.agentazall.sync.their_config import plan_in
from mailstore.location import path_of
from mailstore.registry import kind_and_location
from mailstore.server_settings import program_settings

Settings = RelaySettings | SmtpSettings | Pop3Settings | FtpSettings
KINDS = ("relay", "smtp", "imap", "pop3", "ftp")
OF_SETTINGS = ("agent", "addresses", "secret_file", "secret_env", "secret_command", "ca_file")
KIND = "agentazall"
TABLE = "transports"
MOST_CONFIGS = 100


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


def plan_for(given: str, usual: Callable[[], str]) -> SyncPlan:
    """Return what to carry: a config.json that is named, else [transports], else each config.json beside the mailboxes.

    `usual` returns the mailbox that is meant where neither is named. Raises MailError.
    """
    try:
        if given and given.endswith(".json"):
            return plan_in(path_of(_path(given)))
        settings = program_settings()
        ours = settings.checked(TABLE, TransportSettings)
        root = _root(given or ours.mailbox or usual())
        if ours != TransportSettings() and _is_meant(ours, root):
            return plan_of(ours, settings.file, root)
        return _theirs(root)
    except OSError as error:
        raise StoreError(
            f"{error.filename} can't be read ({reason_of(error)})", "check the path and its permissions", "E384"
        ) from error


def root_of(given: str, usual: Callable[[], str]) -> Path:
    """Return the folder of mailboxes that is meant, as `plan_for` finds it. Raises MailError."""
    if given and given.endswith(".json"):
        return plan_in(path_of(_path(given))).root
    return _root(given or program_settings().checked(TABLE, TransportSettings).mailbox or usual())


def _path(given: str) -> str:
    kind, location = kind_and_location(given)
    if kind not in ("", KIND):
        raise StoreError(f"a mailbox of the kind {kind} can't be synchronised", "name a mailbox of AgentAZAll", "E536")
    return location


def _root(given: str) -> Path:
    path = path_of(_path(given))
    root = find(path)
    if root is None:
        raise StoreError(
            f"no AgentAZAll mailbox was found at {path}", "name the folder of mailboxes, or a config.json", "E537"
        )
    if trees := transport_trees(root):
        raise StoreError(
            f"{root} holds several trees ({', '.join(trees)})", "name one of them; each has accounts of its own", "E538"
        )
    return root.resolve()


def _is_meant(ours: TransportSettings, root: Path) -> bool:
    """Return whether the table is for this mailbox: it names none, or this one."""
    return not ours.mailbox or find(path_of(_path(ours.mailbox))) in (root, None) or _root(ours.mailbox) == root


def _theirs(root: Path) -> SyncPlan:
    """Return the plans of all config.json beside the mailboxes as one; agents without one get local mail alone."""
    plans: list[SyncPlan] = []
    left_aside: list[str] = []
    for path in islice(sorted(root.parent.parent.glob("config*.json")), MOST_CONFIGS):
        config = config_at(path)
        if config is None:
            left_aside.append(f"{path} was left aside: it is not JSON with agent_name and mailbox_dir")
        elif (folder := mailbox_dir(config, path)) is not None and folder.resolve() == root:
            plans.append(plan_in(path))
    agents = {agent.name: agent for plan in plans for agent in plan.agents}
    named = [agents.get(name) or AgentPlan(name) for name in agents_in(root)]
    if not named:
        raise MailError(f"{root} has no folder of an agent", "register one with its own program first", "E539")
    here = {agent.name for agent in named}
    left_aside += [f"{name} was left aside: it has no folder in {root}" for name in agents if name not in here]
    every = min((plan.every_seconds for plan in plans), default=SyncPlan(root, ()).every_seconds)
    return SyncPlan(root, tuple(named), every, (*(warning for plan in plans for warning in plan.warnings), *left_aside))
