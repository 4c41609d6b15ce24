"""The turns of a session around a line of its transcript, as somebody reads them: who said what, with which tools."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from mailstore.files.whole import open_regular
from mailstore.records.details import SessionTurn, Speaker

AROUND = 256 << 10
"""Bytes before and after a line in which turns are looked for."""
LONGEST_WORDS = 200


def turns_around(path: Path, offset: int, said: Callable[[bytes], Iterator[SessionTurn]]) -> list[SessionTurn]:
    """Return the turns around the line at an offset, in bytes, that one or the last before it marked.

    `said` yields what one line says. Raises OSError and NotAFile.
    """
    fd = open_regular(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        start = max(0, offset - AROUND)
        data = os.pread(fd, offset - start + AROUND, start)
    finally:
        os.close(fd)
    at = 0 if start == 0 else data.find(b"\n") + 1
    turns: list[SessionTurn] = []
    sought = -1
    for line in data[at:].split(b"\n")[:-1]:
        turns += said(line)
        if start + at <= offset:
            sought = len(turns) - 1
        at += len(line) + 1
    return joined([replace(turn, is_sought=number == sought) for number, turn in enumerate(turns)])


def joined(turns: list[SessionTurn]) -> list[SessionTurn]:
    """Return turns, of which those are one that an agent's program wrote in several lines."""
    session_turns: list[SessionTurn] = []
    for turn in turns:
        last = session_turns[-1] if session_turns else None
        is_more = last is not None and not (last.tools and turn.text)
        if last is not None and is_more and last.speaker is turn.speaker is Speaker.AGENT:
            text = "\n\n".join(filter(None, (last.text, turn.text)))
            tools, is_sought = last.tools + turn.tools, last.is_sought or turn.is_sought
            session_turns[-1] = SessionTurn(last.speaker, last.time, text, tools, is_sought)
        else:
            session_turns.append(turn)
    return session_turns


def tool_words(name: object, given: object) -> str:
    """Return a call of a tool as one line: its name, and the first text that it was given."""
    words = next((it for it in given.values() if isinstance(it, str) and it), "") if isinstance(given, dict) else ""
    return f"{name} {' '.join(words.split())[:LONGEST_WORDS]}".strip()
