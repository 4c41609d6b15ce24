"""What a line of a session's transcript says: as somebody reads it, and of what the session has used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from mailstore.kit.sessions.usage import Used
from mailstore.kit.timestamps import time_of
from mailstore.kit.transcripts.transcript import UNREADABLE
from mailstore.kit.transcripts.turns import tool_words
from mailstore.records.details import SessionTurn, Speaker

SPEAKERS = {"human": Speaker.USER, "peer": Speaker.SESSION}
SOURCES = {"typed": Speaker.USER, "sdk": Speaker.USER}
MARKS = (b'"usage":{', b'"type":"cost-state"')


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


def turns_in(data: bytes) -> Iterator[SessionTurn]:
    """Yield what a line says, if somebody says something in it: results of tools are left out."""
    try:
        line = LINE.decode(data)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return
    time = time_of(line.timestamp)
    content = line.message.content if line.message is not None else None
    if line.type == "assistant":
        parts = content if isinstance(content, list) else []
        tools = tuple(tool_words(part.get("name"), part.get("input")) for part in parts if _is(part, "tool_use"))
        text = _text(content)
        if text or tools:
            yield SessionTurn(Speaker.AGENT, time, text, tools)
    elif line.type == "user" and not bytes(line.result) and (text := _text(content)):
        yield SessionTurn(_speaker(line, line.origin), time, text)
    elif line.type == "attachment" and line.attachment and line.attachment.get("type") == "queued_command":
        origin, prompt = line.attachment.get("origin"), line.attachment.get("prompt")
        if isinstance(prompt, str) and prompt:
            speaker = _speaker(line, origin if isinstance(origin, dict) else None)
            yield SessionTurn(speaker, time, prompt)


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


class _Tokens(msgspec.Struct, gc=False):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class _Answer(msgspec.Struct, gc=False):
    id: str = ""
    model: str = ""
    usage: _Tokens | None = None


class _UsageLine(msgspec.Struct, gc=False):
    type: str
    timestamp: str = ""
    message: _Answer | None = None
    cost: float | None = msgspec.field(default=None, name="totalCostUSD")


USAGE_LINE = msgspec.json.Decoder(_UsageLine)


def used_in(data: bytes) -> Iterator[Used]:
    """Yield what a line says was used: of the lines of an answer, which share an id, the last counts.

    The program says what a session has cost when it ends.
    """
    try:
        line = USAGE_LINE.decode(data)
    except UNREADABLE:
        return
    answer = line.message
    if line.type == "cost-state":
        yield Used("cost", None, cost=line.cost, is_answer=False)
    elif line.type == "assistant" and answer is not None and answer.usage is not None:
        tokens = answer.usage
        given = tokens.input_tokens + tokens.cache_creation_input_tokens + tokens.cache_read_input_tokens
        yield Used(answer.id, time_of(line.timestamp), given, tokens.output_tokens, given, model=answer.model)
