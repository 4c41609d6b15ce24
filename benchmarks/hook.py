"""What `check` costs as a whole process, compared with an empty Python and another system's listing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.generate import stamp

COLD = 3
SMALL = 1_000
LISTING = "agentazall inbox --offline"
UNREAD, CHARACTERS = 250, 600
FULL, RESUMED, EMPTY_HANDED = "claude-a66516ad", "claude-c0ffee00", "claude-b77627be"
CHECK = "check, 250 unread of 600 characters"
STATUS, COMPLETION = "status --tmux", "completion of an agent"
EMPTY = "python -c pass"
SCRIPT = Path(sys.executable).with_name("signalbox")
OTHER = Path(sys.prefix) / "agentazall" / "bin" / "agentazall"
"""Another system's own program, installed by `make` into a separate environment."""


def run(argv: Sequence[str], env: dict[str, str]) -> int:
    """Run a program to its end; return the nanoseconds it took."""
    start = time.monotonic_ns()
    subprocess.run(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic_ns() - start


def signalbox(data: Path, env: dict[str, str]) -> dict[str, list[str]]:
    """Add messages to a mailbox; return the checks of an agent with mail, a resumed one, one without, and of nobody."""
    now = time.time()
    for name in (FULL, RESUMED, EMPTY_HANDED):
        for status in ("living", "frozen", "living") if name == RESUMED else ("living",):
            line = {"session_id": name, "status": status, "started_at": stamp(now - 900), "updated": stamp(now - 600)}
            append(data / "agent-roster.jsonl", [line])
    messages: list[dict[str, object]] = [
        {
            "id": f"{name}-{number}",
            "sender": EMPTY_HANDED,
            "recipient": name,
            "timestamp": stamp(now - 300),
            "subject": f"Message {number}",
            "content": ("word " * 120)[:CHARACTERS],
            "thread": None,
            "ttl_hours": None,
            "read_by": [],
        }
        for name in (FULL, RESUMED)
        for number in range(UNREAD)
    ]
    append(data / "agent-mailbox.jsonl", messages)
    check = [str(SCRIPT), "check", "--store", f"haak:{data}", "--as"]
    subprocess.run([*check, FULL, "--dry-run"], env=env, stdout=subprocess.DEVNULL, check=True)  # indexes it
    subprocess.run([*check, EMPTY_HANDED, "--max-chars", "0"], env=env, stdout=subprocess.DEVNULL, check=True)
    status = [str(SCRIPT), "status", "--store", f"haak:{data}"]
    subprocess.run(status, env=env, stdout=subprocess.DEVNULL, check=True)  # counts it
    return {
        CHECK: [*check, FULL, "--dry-run"],
        "check, 250 unread, a resumed agent": [*check, RESUMED, "--dry-run"],
        "check, nothing unread": [*check, EMPTY_HANDED],
        "check, not registered": [*check, "nobody-00000000"],
        STATUS: [*status, "--tmux"],
        COMPLETION: [str(SCRIPT), "completion", "words", "bash", "--", f"signalbox read --store {data} --as c"],
    }


def append(path: Path, records: list[dict[str, object]]) -> None:
    """Append records to a file."""
    with path.open("a", encoding="ascii") as file:
        file.writelines(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


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
    """Run each program once a round, in turn, at a small size and at the largest."""
    for messages in dict.fromkeys((SMALL, bench.largest)):
        with bench.lent(messages) as data, bench.home() as home:
            env = {"HOME": str(home), "PATH": os.environ.get("PATH", "")}
            programs = {EMPTY: [sys.executable, "-c", "pass"], **signalbox(data, env)}
            if messages != SMALL:
                pass
            elif OTHER.exists():
                programs[LISTING] = agentazall(str(OTHER), home / "other", messages)
            else:
                bench.results.notes.append("agentazall is not installed: the hook has no other system's beside it")
            _measure(bench, programs, env, messages)


def _measure(bench: Bench, programs: dict[str, list[str]], env: dict[str, str], messages: int) -> None:
    taken: dict[str, list[int]] = {name: [] for name in programs}
    cold = 0 if bench.is_quick else COLD
    for at in range(cold + bench.rounds(40)):
        for name, argv in programs.items():
            time_taken = run(argv, env)
            if at >= cold:
                taken[name].append(time_taken)
    for name, times in taken.items():
        bench.results.times(name, messages, times)
