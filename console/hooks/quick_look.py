"""Whether a hook can leave at once: the agent works, and nothing has changed since it was last notified of its mail.

It finds what it needs in the bytes of the input without decoding them, and compares it with the first line of the
session's state. Whatever it doesn't know asks for a full run. Imports only `os`, `time` and such: it runs after each
tool of each agent.

That line holds, separated by tabs: when the next heartbeat is due, the options of the command, the working folder as
the program's JSON spells it, and for each file whose change may mean mail its stat and its path. A roster isn't among
them: it changes with each heartbeat of each agent, and what else changes in it is seen at the next full run.
"""

from __future__ import annotations

import os
import time

from console.hooks.state_folder import held_root, root

TOOL_EVENTS = frozenset({b"PostToolBatch", b"PostToolUse", b"AfterTool", b"postToolUse", b"tool.execute.after"})
"""What programs call the end of a tool call; at every other event there is more to do."""
GATE_EVENTS = frozenset({b"PreToolUse", b"BeforeTool", b"preToolUse", b"tool.execute.before"})
"""What they call the moment before a tool runs, at which there is something to do only while somebody is held."""
SESSION, CWD, EVENT = (b'"session_id"', b'"sessionId"'), (b'"cwd"',), (b'"hook_event_name"',)
LONGEST_ID = 128
GATE_OPTION = "--gate"
"""Says that a hook runs before each tool, too."""
NO_QUICK_LOOK = "0"
"""Stands alone where every event needs a full run."""
GONE = "-"
ROSTER = "agent-roster."
"""How the names of a HAAK mailbox's rosters begin."""
LONGEST_LINE = 1 << 18
NAMED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def token_in(data: bytes, names: tuple[bytes, ...]) -> bytes:
    """Return the first text that a JSON object gives to one of some names, as it is spelled; empty if there is none."""
    for name in names:
        at = data.find(name)
        if at < 0:
            continue
        at += len(name)
        while data[at : at + 1] in (b" ", b":"):
            at += 1
        end = data.find(b'"', at + 1)
        if data[at : at + 1] == b'"' and end > 0:
            token = data[at + 1 : end]
            return b"" if b"\\" in token else token
    return b""


def is_quiet(words: list[str], data: bytes) -> bool:
    """Say whether nothing is to be done; `words` are the program's name and the options of the hook."""
    named = words[1].encode() if len(words) > 1 and not words[1].startswith("-") else b""
    event = named or token_in(data, EVENT)
    session = token_in(data, SESSION)
    is_named = 0 < len(session) <= LONGEST_ID and NAMED.issuperset(session)
    is_gate, is_a_tool = event in GATE_EVENTS, event in TOOL_EVENTS
    if is_named and (is_gate or (is_a_tool and GATE_OPTION in words)):
        is_over = _note_call(words, session.decode(), data, is_end=is_a_tool)
        if is_gate:
            return not is_over and stat_mark(held_root()) == GONE
    if not is_a_tool or not is_named:
        return False
    cwd = token_in(data, CWD).decode("utf-8", "replace")
    top = root()
    try:
        folders = os.listdir(top)  # noqa: PTH208 - pathlib costs more than all of this
    except OSError:
        return False
    name = f"{words[0]}-{session.decode()}"
    options = " ".join(words[1:])
    return any(_is_same(f"{top}/{folder}/{name}", options, cwd) for folder in folders)


def _note_call(words: list[str], session: str, data: bytes, *, is_end: bool) -> bool:
    """Note a tool call; return whether it reaches a limit of the command."""
    from console.hooks.calls import (
        LIMITS,
        TOOL_NAME,
        Calls,
        bytes_of,
        call_lines,
        calls_file,
        limits_in,
        line_of,
        note,
    )

    path = calls_file(words[0], session)
    try:
        note(path, line_of(data, token_in(data, TOOL_NAME), is_end=is_end))
    except OSError:  # a full disk, or not a file: nothing else depends on it
        return False
    if is_end or not any(limit in words for limit in LIMITS):
        return False
    limits = limits_in(words)
    return bool(Calls(call_lines(path, bytes_of(limits))).broken(limits, time.time()))


def _is_same(path: str, options: str, cwd: str) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            line = os.read(fd, LONGEST_LINE).partition(b"\n")[0].decode("utf-8", "replace")
        finally:
            os.close(fd)
    except OSError:
        return False
    if line == NO_QUICK_LOOK:
        return False
    due, *fields = line.split("\t")
    if not due.isdigit() or time.time() >= int(due) or fields[:2] != [options, cwd] or len(fields) % 2:
        return False
    marks = fields[2:]
    return all(stat_mark(place) == mark for mark, place in zip(marks[::2], marks[1::2], strict=True))


def stat_mark(path: str) -> str:
    """Return what distinguishes one state of a file from another: inode, size, and when it or its mode changed."""
    try:
        stat = os.stat(path)  # noqa: PTH116 - pathlib costs more than all of this
    except OSError:
        return GONE
    return f"{stat.st_ino} {stat.st_size} {stat.st_ctime_ns}"


def quick_line(
    due: float, options: str, cwd_token: str, paths: list[str], mark: list[str], *, is_on_server: bool = False
) -> str:
    """Return the line; one that always asks for a full run where a text can't stand in it.

    A mailbox on a server has no files: the line holds until it is due.
    """
    fields = [str(int(due)), options, cwd_token]
    for path, stat in zip(paths, mark, strict=False):
        if not path.rpartition("/")[2].startswith(ROSTER):
            fields += [stat, path]
    is_plain = all(field.isprintable() for field in fields)
    is_told = is_on_server or (paths and len(paths) == len(mark))
    return "\t".join(fields) if is_plain and is_told else NO_QUICK_LOOK
