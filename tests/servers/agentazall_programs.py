"""The servers of AgentAZAll, each a program of its own on loopback with a port that was free."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import msgspec
import pytest

from tests.patience import PATIENCE
from tests.project.import_graph import ROOT


def agentazall_python() -> Path:
    """Return the interpreter that has agentazall; skip the test where there is none."""
    path = ROOT / ".venv" / "agentazall" / "bin" / "python"
    if not path.exists():
        pytest.skip("agentazall is not installed")
    return path


def free_port() -> int:
    """Return a port on loopback that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running_server(module: str, *words: str, cwd: Path, ready: str, env: Mapping[str, str] = {}) -> Iterator[str]:
    """Start a server of agentazall, yield what it has printed once that holds `ready`, and stop it at the end."""
    python = str(agentazall_python())
    with subprocess.Popen(
        [python, "-u", "-m", f"agentazall.{module}", *words],
        cwd=cwd, env={"PATH": os.environ["PATH"], "HOME": str(cwd), "PYTHONUTF8": "1", **env},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        try:
            assert server.stdout is not None
            printed = ""
            for line in server.stdout:
                printed += line
                if ready in line:
                    break
            else:
                raise RuntimeError(f"{module} ended before it was ready")
            yield printed
        finally:
            server.kill()


class AgentRelay(msgspec.Struct, frozen=True):
    """A running relay: its URL, and the folder in which it keeps what waits."""

    url: str
    data: Path

    def token(self, name: str) -> str:
        """Register an agent with plain HTTP, as anyone could; return its token."""
        found = self.said("POST", "/register", {"agent_name": name})
        return str(found["api_token"])

    def said(self, method: str, path: str, value: object = None, token: str = "") -> dict[str, object]:
        """Return what the relay answers to a request."""
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        data = None if value is None else json.dumps(value).encode()
        with urlopen(Request(self.url + path, data, headers, method=method), timeout=PATIENCE) as response:
            found: dict[str, object] = json.load(response)
            return found

    def waiting(self, name: str) -> list[Path]:
        """Return the files of the messages that wait for an agent."""
        return sorted((self.data / "inboxes" / name).glob("*.msg"))


@contextmanager
def running_relay(folder: Path) -> Iterator[AgentRelay]:
    """Start agentazall's relay with its data in a folder."""
    data = folder / "relay"
    words = ("--port", str(free_port()), "--data-dir", str(data), "--create-accounts", "1")
    with running_server("agenttalk_server", *words, cwd=folder, ready="Press Ctrl+C") as printed:
        url = re.search(r"API  : (\S+)", printed)
        assert url
        yield AgentRelay(url[1], data)
