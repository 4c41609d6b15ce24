"""What a session has used, read from the end of its transcript: its model, its context, tokens, and cost."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from mailstore.files.whole import open_regular
from mailstore.kit.timestamps import time_of
from mailstore.kit.transcripts.transcript import lines_from_end

USAGE, COST = b'"usage":{', b'"type":"cost-state"'


class SessionUsage(msgspec.Struct):
    """Tokens, and dollars if the program says what was spent; `context` is that of the last answer.

    `given` counts what the model was given since a time, with what was cached, `written` what it wrote.
    `answered` is when it answered last, in seconds since the epoch.
    """

    model: str = ""
    context: int = 0
    given: int = 0
    written: int = 0
    cost: float | None = None
    answered: float | None = None
    is_whole: bool = True
    """Whether everything since that time was read."""


class _Tokens(msgspec.Struct, gc=False):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class _Answer(msgspec.Struct, gc=False):
    id: str = ""
    model: str = ""
    usage: _Tokens | None = None


class _Line(msgspec.Struct, gc=False):
    type: str
    timestamp: str = ""
    message: _Answer | None = None
    cost: float | None = msgspec.field(default=None, name="totalCostUSD")


LINE = msgspec.json.Decoder(_Line)


def usage_of(path: Path, since: float) -> SessionUsage:
    """Return what a session has used since a time, in seconds since the epoch. Raises OSError and NotAFile."""
    found = SessionUsage()
    counted: set[str] = set()
    fd = open_regular(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        size = os.fstat(fd).st_size
        for data in lines_from_end(fd, size):
            if data is None:
                found.is_whole = False
                break
            if USAGE not in data and COST not in data:
                continue
            try:
                line = LINE.decode(data)
            except (msgspec.DecodeError, RecursionError, ValueError):
                continue
            if line.type == "cost-state":
                found.cost = line.cost if found.cost is None else found.cost
            answer = line.message
            if line.type != "assistant" or answer is None or answer.usage is None or answer.id in counted:
                continue
            counted.add(answer.id)
            used, time = answer.usage, time_of(line.timestamp) or 0.0
            given = used.input_tokens + used.cache_creation_input_tokens + used.cache_read_input_tokens
            if found.answered is None:
                found.answered, found.model, found.context = time, answer.model, given
            if time < since:
                break
            found.given += given
            found.written += used.output_tokens
    finally:
        os.close(fd)
    return found
