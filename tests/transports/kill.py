"""Kills two syncs again and again, at any moment, while they exchange letters over a real server.

`python -m tests.transports.kill relay --rounds 300`; `ftp` likewise. Nothing may be lost, doubled or left.
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

from mailstore.sync.engine import SyncEngine
from mailstore.sync.their_config import plan_in
from mailstore.transports.letter_file import parse
from tests.servers.agentazall_programs import AgentRelay, running_relay
from tests.servers.ftp_servers import FtpPlace, agentazall_ftp
from tests.sync.rig import Machine

ANN, BOB = "ann.agenttalk", "bob.agenttalk"
LETTERS = 5
LONGEST = 0.5
"""Seconds after which a sync is killed at the latest."""


def config_in(folder: Path, name: str, server: AgentRelay | FtpPlace) -> Path:
    fields: dict[str, Any] = {"agent_name": name, "mailbox_dir": "./data/mailboxes", "transport": "none"}
    if isinstance(server, AgentRelay):
        token = server.token(name.partition(".")[0])
        fields["relays"] = [{"server": server.url, "token": token, "address": name}]
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


def tried(server: AgentRelay | FtpPlace, folder: Path, rounds: int) -> int:
    """Kill both sides in every round, then let them finish; return how many letters were lost or doubled."""
    ann, bob = Machine(folder / "a", ANN), Machine(folder / "b", BOB)
    configs = [config_in(folder / "a", ANN, server), config_in(folder / "b", BOB, server)]
    written: list[str] = []
    killed = 0
    for number in range(rounds):
        for each in range(LETTERS):
            written.append(f"letter {number}.{each}")
            ann.write(ANN, BOB, written[-1])
        for config in configs:
            killed += synced(config, random.uniform(0.0, LONGEST))
    for config in configs * 2:
        synced(config, None)
    found = Counter(bodies_in(bob.root, BOB))
    lost, doubled = [each for each in written if each not in found], [each for each, n in found.items() if n > 1]
    left = list(folder.glob("*/data/mailboxes/*/.signalbox/spool*/*.bytes"))
    print(f"{len(written)} letters, {killed} kills: {len(lost)} lost, {len(doubled)} doubled, {len(left)} spools left")
    print(*lost[:5], *doubled[:5], sep="\n")
    return len(lost) + len(doubled) + len(left)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["relay", "ftp"])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args(words)
    print(f"seed {given.seed}")
    random.seed(given.seed)
    start: Callable[[Path], AbstractContextManager[AgentRelay | FtpPlace]]
    start = running_relay if given.kind == "relay" else agentazall_ftp
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        (folder / "server").mkdir()
        with start(folder / "server") as server:
            return 1 if tried(server, folder, given.rounds) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
