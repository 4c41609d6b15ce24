"""AgentAZAll's relay, e-mail and FTP servers, to be killed and started again on the same port with the same files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.servers.agentazall_programs import AgentRelay, free_port, running_server

KINDS = ("relay", "e-mail", "FTP")
PASSWORD = "password"
REUSE = """
import socket
bind = socket.socket.bind
def bind_again(self, address):
    self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return bind(self, address)
socket.socket.bind = bind_again
"""
"""What Python runs before a server: ports of connections that a kill cut are free again at once, not after a minute."""


class TransportServers:
    """The three servers, each with its data in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(REUSE)
        self.relay_port, self.smtp, self.imap, self.pop3 = (free_port() for _ in range(4))
        self.ftp = self._ftp_port()
        (folder / "ftp.json").write_text(json.dumps({"ftp": self._ftp_table(root=str(folder / "ftp"))}))
        (folder / "mail").mkdir()
        (folder / "mail" / "accounts.json").write_text("{}")
        self._running: dict[str, ExitStack] = {}
        self.kills = dict.fromkeys(KINDS, 0)
        self._tokens: dict[str, str] = {}

    @staticmethod
    def _ftp_port() -> int:
        # its server takes the hundred ports from one hundred above for data
        while (port := free_port()) > 65_000:
            pass
        return port

    def _ftp_table(self, **more: str) -> dict[str, Any]:
        return {
            "host": "127.0.0.1",
            "port": self.ftp,
            "port_range": [self.ftp] * 2,
            "user": "agents",
            "password": PASSWORD,
            **more,
        }

    def start(self, kind: str) -> None:
        """Start one of the servers, and wait until it is ready."""
        module, *words = {
            "relay": ["agenttalk_server", "--port", str(self.relay_port), "--data-dir", str(self._folder / "relay")],
            "e-mail": [
                *("email_server", "--smtp-port", str(self.smtp), "--imap-port", str(self.imap)),
                *("--pop3-port", str(self.pop3), "--data-dir", str(self._folder / "mail")),
            ],
            "FTP": ["ftp_server", "--port", str(self.ftp)],
        }[kind]  # fmt: skip
        env = {"AGENTAZALL_CONFIG": str(self._folder / "ftp.json"), "PYTHONPATH": str(self._folder)}
        self._running[kind] = stack = ExitStack()
        stack.enter_context(running_server(module, *words, cwd=self._folder, ready="Press Ctrl+C", env=env))

    def kill(self, kind: str) -> None:
        """End one of the servers with SIGKILL."""
        self._running.pop(kind).close()
        self.kills[kind] += 1

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run all three."""
        try:
            for kind in KINDS:
                self.start(kind)
            yield
        finally:
            for stack in self._running.values():
                stack.close()

    def register(self, agent: str) -> None:
        """Make an agent's accounts on every server; its name ends in `.agenttalk`."""
        relay = AgentRelay(f"http://127.0.0.1:{self.relay_port}", self._folder / "relay")
        self._tokens[agent] = relay.token(agent.removesuffix(".agenttalk"))
        file = self._folder / "mail" / "accounts.json"
        draft = file.with_suffix(".draft")
        draft.write_text(json.dumps({**json.loads(file.read_text()), agent: {"password": PASSWORD}}))
        draft.replace(file)

    def settings(self, agent: str, kinds: tuple[str, ...]) -> dict[str, Any]:
        """Return the part of a config.json that names an agent's accounts on some of the servers."""
        found: dict[str, Any] = {"transport": "none"}
        if "e-mail" in kinds:
            found["transport"] = "email"
            found["email"] = {
                "imap_server": "127.0.0.1", "imap_port": self.imap, "imap_ssl": False, "imap_folder": "INBOX",
                "smtp_server": "127.0.0.1", "smtp_port": self.smtp, "smtp_ssl": False, "smtp_starttls": False,
                "username": agent, "password": PASSWORD, "sync_special_folders": False,
            }  # fmt: skip
        if "FTP" in kinds:
            found["transport"] = "both" if "e-mail" in kinds else "ftp"
            found["ftp"] = self._ftp_table()
        if "relay" in kinds:
            server = f"http://127.0.0.1:{self.relay_port}"
            found["relays"] = [{"server": server, "token": self._tokens[agent], "address": agent}]
        return found
