"""What a session-start hook costs as a whole process, compared with an empty Python and another system's listing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.generate import generate

__all__ = ["measure"]

COLD = 3
EMPTY = "python -c pass"
SCRIPT = Path(sys.executable).with_name("signalbox")
OTHER = Path(sys.prefix) / "agentazall" / "bin" / "agentazall"
"""Another system's own program, installed by `make` into a separate environment."""


def run(argv: Sequence[str], env: dict[str, str]) -> int:
    """Run a program to its end; return the nanoseconds it took."""
    start = time.monotonic_ns()
    subprocess.run(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic_ns() - start


def signalbox(data: Path, messages: int) -> dict[str, list[str]]:
    """Make a mailbox; return the checks of an agent that has mail and of one that has read all."""
    generate(data, messages)
    agents = [json.loads(line) for line in (data / "agent-roster.jsonl").read_bytes().splitlines()]
    full, empty = [agent["session_id"] for agent in agents if agent["status"] == "living"][:2]
    check = [str(SCRIPT), "check", "--store", f"haak:{data}", "--as"]
    subprocess.run([*check, empty], stdout=subprocess.DEVNULL, check=True)
    return {"check, unread mail": [*check, full, "--dry-run"], "check, nothing unread": [*check, empty]}


def agentazall(program: str, root: Path, messages: int) -> list[str]:
    """Write as many messages in agentazall's own format; return the command that lists them."""
    inbox = root / "mailboxes" / "ann@localhost" / time.strftime("%Y-%m-%d") / "inbox"
    inbox.mkdir(parents=True)
    body = "word " * 120
    for number in range(messages):
        key = f"{number:012x}"
        head = f"From: bob@localhost\nTo: ann@localhost\nSubject: About {number}\nDate: 2026-11-20 10:00:00\n"
        (inbox / f"{key}.txt").write_text(f"{head}Message-ID: {key}\nStatus: new\n\n---\n{body}")
    config = root / "config.json"
    settings = {"agent_name": "ann@localhost", "agent_key": "0" * 32, "mailbox_dir": str(root / "mailboxes")}
    config.write_text(json.dumps({**settings, "log_file": str(root / "log"), "transport": "agenttalk"}))
    return [program, "-c", str(config), "inbox", "--all", "--offline"]


def measure(bench: Bench) -> None:
    """Run each program once a round, in turn."""
    messages = 1_000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        programs = {EMPTY: [sys.executable, "-c", "pass"], **signalbox(root / "data", messages)}
        if OTHER.exists():
            programs["agentazall inbox --offline"] = agentazall(str(OTHER), root / "other", messages)
        else:
            bench.results.notes.append("agentazall is not installed: the hook has no other system's beside it")
        env = {"HOME": str(root), "PATH": os.environ.get("PATH", "")}
        taken: dict[str, list[int]] = {name: [] for name in programs}
        cold = 0 if bench.is_quick else COLD
        for at in range(cold + bench.rounds(40)):
            for name, argv in programs.items():
                time_taken = run(argv, env)
                if at >= cold:
                    taken[name].append(time_taken)
    for name, times in taken.items():
        bench.results.times(name, 0, times)
