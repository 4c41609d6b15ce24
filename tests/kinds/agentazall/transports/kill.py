"""Kills two syncs again and again, at any moment, while they exchange messages over a real server.

`python -m tests.kinds.agentazall.transports.kill relay --rounds 300`; `ftp`, `imap` and `pop3` likewise. Nothing may be
lost, doubled or left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from mailstore.kinds.agentazall.message_file import parse
from mailstore.kinds.agentazall.sync.engine import SyncEngine
from mailstore.kinds.agentazall.sync.their_config import plan_in
from tests.kinds.agentazall.sync.rig import Machine
from tests.servers.agentazall_programs import AgentRelay, running_relay
from tests.servers.ftp_servers import FtpPlace, agentazall_ftp
from tests.servers.mail_servers import PASSWORD, AgentMailServer, running_mail_server

ANN, BOB = "ann.agenttalk", "bob.agenttalk"
MESSAGES = 5
LONGEST = 0.5
"""Seconds after which a sync is killed at the latest."""


Server = AgentRelay | FtpPlace | AgentMailServer


def config_in(folder: Path, name: str, server: Server, *, uses_pop3: bool = False) -> Path:
    fields: dict[str, Any] = {"agent_name": name, "mailbox_dir": "./data/mailboxes", "transport": "none"}
    if isinstance(server, AgentRelay):
        token = server.token(name.partition(".")[0])
        fields["relays"] = [{"server": server.url, "token": token, "address": name}]
    elif isinstance(server, AgentMailServer):
        account: dict[str, Any] = {
            "username": server.account(name), "password": PASSWORD, "use_pop3": uses_pop3,
            **{f"{kind}_server": "127.0.0.1" for kind in ("smtp", "imap", "pop3")},
            "smtp_port": server.smtp, "imap_port": server.imap, "pop3_port": server.pop3,
        }  # fmt: skip
        fields |= {"transport": "email", "email": account}
    else:
        account = {"host": "127.0.0.1", "port": server.port, "user": server.username, "password": server.password}
        fields |= {"transport": "ftp", "ftp": account, "ftp_servers": [account]}
    path = folder / "config.json"
    path.write_text(json.dumps(fields))
    path.chmod(0o600)
    return path


def synced(config: Path, seconds: float | None) -> bool:
    """Run a sync once in a process of its own, and kill it after so many seconds; return whether it was."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            with SyncEngine(plan_in(config), lambda line: None) as engine:
                status = 1 if engine.once().troubles else 0
        finally:
            os._exit(status)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def bodies_in(root: Path, name: str) -> list[str]:
    return [parse(path.read_bytes()).body for path in root.glob(f"{name}/*/inbox/*.txt")]


def tried(server: Server, folder: Path, rounds: int, *, uses_pop3: bool) -> int:
    """Kill both sides in every round, then let them finish; return how many messages were lost or doubled."""
    ann, bob = Machine(folder / "a", ANN), Machine(folder / "b", BOB)
    configs = [config_in(folder / at, name, server, uses_pop3=uses_pop3) for at, name in (("a", ANN), ("b", BOB))]
    written: list[str] = []
    killed = 0
    for number in range(rounds):
        for each in range(MESSAGES):
            written.append(f"message {number}.{each}")
            ann.write(ANN, BOB, written[-1])
        for config in configs:
            killed += synced(config, random.uniform(0.0, LONGEST))
    for config in configs * 2:
        synced(config, None)
    found = Counter(bodies_in(bob.root, BOB))
    lost, doubled = [each for each in written if each not in found], [each for each, n in found.items() if n > 1]
    left = list(folder.glob("*/data/mailboxes/*/.signalbox/spool*/*.bytes"))
    print(f"{len(written)} messages, {killed} kills: {len(lost)} lost, {len(doubled)} doubled, {len(left)} spools left")
    print(*lost[:5], *doubled[:5], sep="\n")
    return len(lost) + len(doubled) + len(left)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["relay", "ftp", "imap", "pop3"])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args(words)
    print(f"seed {given.seed}")
    random.seed(given.seed)
    starts: dict[str, Callable[[Path], AbstractContextManager[Server]]] = {
        "relay": running_relay,
        "ftp": agentazall_ftp,
    }
    start = starts.get(given.kind, running_mail_server)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        (folder / "server").mkdir()
        with start(folder / "server") as server:
            return 1 if tried(server, folder, given.rounds, uses_pop3=given.kind == "pop3") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
