"""What the commands print with `--json`, held against the oracle: run in this process, with the mailbox's own clock."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from console.cli import main
from mailstore.haak.quick.quick_unread import Unusual, quick_unread
from tests.oracle.answers import Answers
from tests.oracle.making import NOW
from tests.oracle.people import PERSON
from tests.oracle.records import Box
from tests.oracle.rules import Oracle
from tests.oracle.threads import forest

STATES = ("read", "unread", "dead", "expired", "waiting", "frozen", "unknown")


def run(folder: Path, *words: str) -> Any:
    """Run a command and return the document that it prints."""
    out, err = io.StringIO(), io.StringIO()
    with patch("time.time", lambda: NOW), redirect_stdout(out), redirect_stderr(err):
        status = main([*words, "--json", "--store", f"haak:{folder}"])
    if not out.getvalue():
        return f"{status}: {err.getvalue().strip()}"
    return json.loads(out.getvalue())


def expected_of_commands(box: Box, told: Answers, now: float, *, is_past: bool = False) -> Answers:
    """Return what the commands must say, given what the oracle has told already."""
    oracle = Oracle(box, now, is_past=is_past)
    messages = oracle.messages
    rows: Answers = {
        "threads": {
            root: (
                told[f"summary {root}"][0],
                told[f"summary {root}"][1],
                told[f"summary {root}"][2],
                told[f"summary {root}"][3],
            )
            for root in told["view all"]
        },
        "dead-letters": sorted(key[5:] + " " + value[0] for key, value in told.items() if key.startswith("dead ")),
        "agents": {
            key[7:]: (status, len(told[f"unread {key[7:]}"]))
            for key, status in told.items()
            if key.startswith("status ")
        },
        "channels": {key[8:]: value for key, value in told.items() if key.startswith("channel ")},
    }
    for name in [*oracle.people.lines, PERSON]:
        rows[f"read {name}"] = [(each, oracle.states[each]) for each in told[f"inbox {name}"]]
        rows[f"read --unread {name}"] = told[f"unread {name}"]
    for state in STATES:
        having = {message.id for message in messages.values() if state in oracle.states[message.id].values()}
        rows[f"is:{state}"] = sorted(name for name in having if not messages[name].is_archived)
        rows[f"is:{state} --archive"] = sorted(having)
    for root, names in list(forest(messages).threads.items())[:3]:
        rows[f"thread {root}"] = [(name, oracle.states[name]) for name in names if name in messages]
    if not is_past:
        unknown = [
            (message.id, address)
            for message in messages.values()
            for address in message.recipients
            if oracle.people.meaning(address)[0] == "unknown"
        ]
        rows["doctor"] = {
            "messages": told["counts"]["messages"],
            "archived": told["counts"]["archived"],
            "agents": len(oracle.people.lines),
            "malformed": told["unreadable"],
            "duplicates": told["duplicates"],
            "orphans": told["missing"],
            "cycles": told["rings"],
            "unresolvable": sorted(unknown),
        }
    return rows


def found_by_commands(folder: Path, rows: Answers, at: float | None = None) -> Answers:
    """Ask the commands for what is expected of them."""
    then = [] if at is None else ["--at", f"{at:.0f}"]
    if at is not None:
        from tests.mailboxes import iso

        then = ["--at", iso(at)]
    told: Answers = {}
    for question in rows:
        words = question.split()
        if words[0] == "read":
            unread = ["--unread"] if "--unread" in words else []
            name = question.removeprefix("read ").removeprefix("--unread ")
            found = run(folder, "read", "--as", name, *unread, *then)
            told[question] = (
                [row["id"] if unread else (row["id"], row["states"]) for row in found]
                if isinstance(found, list)
                else found
            )
        elif words[0].startswith("is:"):
            found = run(folder, "search", *words, *then)
            told[question] = sorted(row["id"] for row in found) if isinstance(found, list) else found
        elif words[0] == "thread":
            found = run(folder, "thread", question.removeprefix("thread "), *then)
            told[question] = [(row["id"], row["states"]) for row in found] if isinstance(found, list) else found
        else:
            found = run(folder, question, *then)
            told[question] = SHAPES[question](found) if not isinstance(found, str) else found
    return told


SHAPES = {
    "threads": lambda rows: {
        row["root"]: (row["subject"], row["participants"], row["messages"], row["last_timestamp"]) for row in rows
    },
    "dead-letters": lambda rows: sorted(f"{row['message_id']} {row['recipient']} {row['state']}" for row in rows),
    "agents": lambda rows: {row["session_id"]: (row["status"], row["unread"]) for row in rows},
    "channels": lambda rows: {row["tag"]: (row["messages"], sorted(row["agents"])) for row in rows},
    "doctor": lambda found: {
        "messages": found["messages"],
        "archived": found["archived"],
        "agents": found["agents"],
        "malformed": sorted({(fault["file"], fault["line"]) for fault in found["malformed"]}),
        "duplicates": sorted(spot["id"] for spot in found["duplicates"]),
        "orphans": found["orphans"],
        "cycles": sorted((sorted(ring["members"]), ring["cut"]) for ring in found["cycles"]),
        "unresolvable": sorted((pair["message_id"], pair["name"]) for pair in found["unresolvable"]),
    },
}


def found_quickly(folder: Path, names: list[str], told: Answers) -> Answers:
    """Ask the short way of `check` for each agent's unread mail; those for whom it is no way are left out."""
    for name in names:
        with suppress(Unusual):
            told[f"unread {name}"] = [one.id for one in quick_unread(str(folder / "agent-mailbox.jsonl"), name, NOW)]
    return {}
