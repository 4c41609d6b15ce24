"""Turn AgentAZAll's own config.json into a plan."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mailstore.kinds.agentazall.places import config_at, is_agent_name, mailbox_dir
from mailstore.kinds.agentazall.rules import filter_of
from mailstore.kinds.agentazall.sync.plan import (
    EVERY_SECONDS,
    AccountPlan,
    AgentPlan,
    SyncPlan,
    WrongSettings,
    account_of,
)
from mailstore.kit.secret import Secret

OTHERS = stat.S_IRWXG | stat.S_IRWXO
SHORTEST_SECONDS, LONGEST_SECONDS = 0.1, 600.0


def plan_in(file: Path) -> SyncPlan:
    """Return the plan in a config.json: for its one agent. Raises WrongSettings and OSError."""
    file = file.absolute()
    config = config_at(file)
    if config is None:
        raise WrongSettings(
            f"{file} is not a configuration of AgentAZAll", "it must hold agent_name and mailbox_dir", "E553"
        )
    root = mailbox_dir(config, file)
    if root is None:
        raise WrongSettings(f"mailbox_dir in {file} is not a path", "write the folder of mailboxes", "E554")
    reading = _Reading(file)
    name = reading.text(config, "", "agent_name")
    if not name.isprintable() or not is_agent_name(name) or {"/", "\\"}.intersection(name) or not name:
        raise WrongSettings(f"agent_name in {file} is not an address", "write the name of the agent's folder", "E555")
    every = config.get("sync_interval", EVERY_SECONDS)
    if not isinstance(every, int | float) or isinstance(every, bool):
        raise WrongSettings(f"sync_interval in {file} must be a number", "write seconds", "E556")
    agent = AgentPlan(name, tuple(_accounts(reading, config, name)), filter_of(config))
    warnings = []
    if reading.has_secrets and file.stat().st_mode & OTHERS:
        warnings.append(f"{file} holds passwords, and others can read it: chmod 600 {file}")
    return SyncPlan(
        root.resolve(), (agent,), min(max(float(every), SHORTEST_SECONDS), LONGEST_SECONDS), tuple(warnings)
    )


class _Reading:
    """Reads values of a configuration, and says which one is wrong."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.has_secrets = False

    def _of(self, table: dict[str, Any], place: str, key: str, kind: type, what: str, default: Any) -> Any:
        value = table.get(key, default)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise WrongSettings(f"{place}{key} in {self._file} must be {what}", "fix it, or remove it", "E557")
        return value

    def text(self, table: dict[str, Any], place: str, key: str, default: str = "") -> str:
        value: str = self._of(table, place, key, str, "text", default)
        return value

    def is_set(self, table: dict[str, Any], place: str, key: str) -> bool:
        return bool(self._of(table, place, key, bool, "true or false", False))

    def port(self, table: dict[str, Any], place: str, key: str, default: int) -> int:
        value: int = self._of(table, place, key, int, "a port", default)
        if not 0 < value < 65536:
            raise WrongSettings(
                f"{place}{key} in {self._file} must be a port", "write a number from 1 to 65535", "E558"
            )
        return value

    def secret(self, table: dict[str, Any], place: str, key: str) -> Secret | None:
        text = self.text(table, place, key)
        self.has_secrets |= bool(text)
        return Secret.of(text) if text else None

    def tables(
        self, config: dict[str, Any], several: str, single: str, *, is_used: bool
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the accounts of a kind with their places: those of the list, else the single one if it is used."""
        tables = self._of(config, "", several, list, "a list", [])
        for number, each in enumerate(tables):
            if not isinstance(each, dict):
                raise WrongSettings(
                    f"{several}[{number}] in {self._file} must be an object", "fix it, or remove it", "E559"
                )
            yield f"{several}[{number}].", each
        if is_used and not tables:
            yield f"{single}.", self._of(config, "", single, dict, "an object", {})


def _accounts(reading: _Reading, config: dict[str, Any], name: str) -> Iterator[AccountPlan]:
    transport = reading.text(config, "", "transport", "email")
    for place, each in reading.tables(config, "relays", "agenttalk", is_used=transport == "agenttalk"):
        server = reading.text(each, place, "server")
        if server:
            token = reading.secret(each, place, "token") or Secret.of("")
            address = reading.text(each, place, "address") or name
            yield account_of("relay", {"server": server, "address": address, "secret": token}, {})
    for place, each in reading.tables(config, "email_accounts", "email", is_used=transport in ("email", "both")):
        yield from _email(reading, each, place, name)
    for place, each in reading.tables(config, "ftp_servers", "ftp", is_used=transport in ("ftp", "both")):
        if host := reading.text(each, place, "host"):
            fields: dict[str, object] = {
                "server": host,
                "port": reading.port(each, place, "port", 2121),
                "address": name,
                "security": "tls" if reading.is_set(each, place, "ftp_ssl") else "none",
                "username": reading.text(each, place, "user"),
                "secret": reading.secret(each, place, "password"),
            }
            yield account_of("ftp", fields, {})


def _email(reading: _Reading, table: dict[str, Any], place: str, name: str) -> Iterator[AccountPlan]:
    common: dict[str, object] = {
        "username": reading.text(table, place, "username"),
        "secret": reading.secret(table, place, "password"),
        "address": name,
    }
    uses_pop3 = reading.is_set(table, place, "use_pop3")
    for kind, port in (("smtp", 2525), ("pop3", 1110) if uses_pop3 else ("imap", 1143)):
        if server := reading.text(table, place, f"{kind}_server"):
            security = "tls" if reading.is_set(table, place, f"{kind}_ssl") else "none"
            if kind == "smtp" and reading.is_set(table, place, "smtp_starttls"):
                security = "starttls"
            fields: dict[str, object] = {
                **common,
                "server": server,
                "port": reading.port(table, place, f"{kind}_port", port),
                "security": security,
            }
            if kind == "imap":
                fields["folders"] = (reading.text(table, place, "imap_folder", "INBOX"),)
            yield account_of(kind, fields, {})
