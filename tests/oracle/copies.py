"""What leaves a mailbox: when messages were read, as a mirror and a conversion have it; exports that were altered."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from console.cli import main
from tests.oracle.answers import Answers
from tests.oracle.making import NOW
from tests.oracle.records import Box, read_box
from tests.oracle.rules import one_name

COPYING = {"mirror": ("mirror", "--once"), "convert": ("convert",)}


def run(*words: str) -> tuple[int, str]:
    """Run a command; return its exit status, and what it printed."""
    out = io.StringIO()
    with patch("time.time", lambda: NOW), redirect_stdout(out), redirect_stderr(out):
        status = main(list(words))
    return status, out.getvalue()


def reads_of(box: Box) -> Answers:
    """Return when each reader first read each message, None where no record says it."""
    known = {message.id for message in box.messages}
    first: Answers = {}
    for mark in box.reads:
        if mark.message_id in known:
            fact = f"read {mark.message_id} {one_name(mark.name)}"
            times = [time for time in (first.get(fact), mark.time) if time is not None]
            first[fact] = round(min(times), 1) if times else None
    return first


def reads_of_copy(whole: Path, command: str) -> Answers:
    """Copy a mailbox with a command into an empty folder; return when what the copy holds was read."""
    copy = whole.with_name(command)
    if command == "mirror":
        run("init", f"haak:{copy}")
    name, *options = COPYING[command]
    status, said = run(name, f"haak:{whole}", f"haak:{copy}", *options)
    return reads_of(read_box(copy / "data")) if status == 0 else {"error": said}


def noticed_alterations(whole: Path) -> Answers:
    """Return whether `verify` notices that an export was altered: not at all, or in one field of a message in it."""
    file, url = whole.with_name("export.jsonl"), f"haak:{whole}"
    run("export", "--format", "jsonl", "--archive", "--output", str(file), "--force", "--store", url)
    lines = file.read_text("utf-8").splitlines()
    noticed: Answers = {"nothing": _is_noticed(file, url)}
    at = len(lines) // 2
    row = json.loads(lines[at]) if lines else {}
    for field in row:
        without = {key: row[key] for key in row if key != field}
        for what, altered in (("altered", {**row, field: _other(row[field])}), ("left out", without)):
            file.write_text("\n".join([*lines[:at], json.dumps(altered), *lines[at + 1 :]]) + "\n", "utf-8")
            noticed[f"{field} {what}"] = _is_noticed(file, url)
    return noticed


def _is_noticed(file: Path, url: str) -> bool:
    status, said = run("verify", str(file), "--store", url)
    return status != 0 or "moved" in said


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}x" if isinstance(value, str) else [value] if value else "x"
