"""The turns of a session around a line of its transcript, as somebody reads them: who said what, with which tools."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mailstore.files.whole import open_regular
from mailstore.kit.timestamps import time_of
from mailstore.records.details import SessionTurn, Speaker

AROUND = 256 << 10
"""Bytes before and after a line in which turns are looked for."""
LONGEST_WORDS = 200
SPEAKERS = {"human": Speaker.USER, "peer": Speaker.SESSION}
SOURCES = {"typed": Speaker.USER, "sdk": Speaker.USER}


class _Message(msgspec.Struct, gc=False):
    content: Any = None


class _Line(msgspec.Struct, gc=False):
    type: str
    timestamp: str = ""
    is_meta: bool = msgspec.field(default=False, name="isMeta")
    prompt_source: str = msgspec.field(default="", name="promptSource")
    permission_mode: str = msgspec.field(default="", name="permissionMode")
    message: _Message | None = None
    origin: dict[str, Any] | None = None
    attachment: dict[str, Any] | None = None
    result: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="toolUseResult")


LINE = msgspec.json.Decoder(_Line)


def turns_around(path: Path, offset: int) -> list[SessionTurn]:
    """Return the turns around the line at an offset, in bytes, that one marked. Raises OSError and NotAFile."""
    fd = open_regular(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        start = max(0, offset - AROUND)
        data = os.pread(fd, offset - start + AROUND, start)
    finally:
        os.close(fd)
    at = 0 if start == 0 else data.find(b"\n") + 1
    found: list[SessionTurn] = []
    for line in data[at:].split(b"\n")[:-1]:
        for turn in _turns(line, is_sought=start + at == offset):
            last = found[-1] if found else None
            is_more = last is not None and not (last.tools and turn.text)
            if last is not None and is_more and last.speaker is turn.speaker is Speaker.AGENT:
                found[-1] = _joined(last, turn)
            else:
                found.append(turn)
        at += len(line) + 1
    return found


def _joined(one: SessionTurn, other: SessionTurn) -> SessionTurn:
    text = "\n\n".join(filter(None, (one.text, other.text)))
    is_sought = one.is_sought or other.is_sought
    return SessionTurn(one.speaker, one.time, text, one.tools + other.tools, is_sought)


def _turns(data: bytes, *, is_sought: bool) -> Iterator[SessionTurn]:
    """Yield what a line says, if somebody says something in it: results of tools are left out."""
    try:
        line = LINE.decode(data)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return
    time = time_of(line.timestamp)
    content = line.message.content if line.message is not None else None
    if line.type == "assistant":
        parts = content if isinstance(content, list) else []
        tools = tuple(_tool(part) for part in parts if _is(part, "tool_use"))
        text = _text(content)
        if text or tools:
            yield SessionTurn(Speaker.AGENT, time, text, tools, is_sought)
    elif line.type == "user" and not bytes(line.result) and (text := _text(content)):
        yield SessionTurn(_speaker(line, line.origin), time, text, is_sought=is_sought)
    elif line.type == "attachment" and line.attachment and line.attachment.get("type") == "queued_command":
        origin, prompt = line.attachment.get("origin"), line.attachment.get("prompt")
        if isinstance(prompt, str) and prompt:
            speaker = _speaker(line, origin if isinstance(origin, dict) else None)
            yield SessionTurn(speaker, time, prompt, is_sought=is_sought)


def _speaker(line: _Line, origin: dict[str, Any] | None) -> Speaker:
    """Return who said what the model was given: the user only where the program says so."""
    if origin is not None:
        return SPEAKERS.get(str(origin.get("kind")), Speaker.PROGRAM)
    if line.prompt_source:
        return SOURCES.get(line.prompt_source, Speaker.PROGRAM)
    return Speaker.USER if line.permission_mode and not line.is_meta else Speaker.PROGRAM


def _is(part: object, kind: str) -> bool:
    return isinstance(part, dict) and part.get("type") == kind


def _text(content: object) -> str:
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if _is(part, "text"))
    return "\n\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())


def _tool(part: dict[str, Any]) -> str:
    """Return a call of a tool as one line: its name, and the first text that it was given."""
    given = part.get("input")
    words = next((it for it in given.values() if isinstance(it, str) and it), "") if isinstance(given, dict) else ""
    return f"{part.get('name')} {' '.join(words.split())[:LONGEST_WORDS]}".strip()
