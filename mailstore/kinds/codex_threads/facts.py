"""What a line of a rollout proves about messages to a thread: what its queue gave it, what subagents were told."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from mailstore.files.whole import NotAFile, open_regular
from mailstore.kit.json_records import text_in
from mailstore.kit.sessions.facts import SessionFact, SessionTranscript
from mailstore.kit.sessions.usage import Used
from mailstore.kit.timestamps import time_of
from mailstore.kit.transcripts.transcript import UNREADABLE, line_of, lines_from_end
from mailstore.kit.transcripts.turns import tool_words
from mailstore.records.details import SessionTurn, Speaker

MARKS = (b'"session_meta"', b'"UserMessage"', b'"CollabAgentToolCall"', b"<subagent_notification>", b'"turn_trigger"')
NOTIFICATION, ENDING = "<subagent_notification>", "</subagent_notification>"
COUNTS = (b'"token_count"',)


class _Line(msgspec.Struct, gc=False):
    type: str
    timestamp: str = ""
    payload: dict[str, Any] = {}


DECODER = msgspec.json.Decoder(_Line)


class RolloutTranscript(SessionTranscript):
    """A rollout, read for messages; it remembers which turns took what was queued, and whether it is a subagent's."""

    marks: ClassVar[tuple[bytes, ...]] = MARKS

    def restart(self) -> None:
        self._queued: set[str] = set()
        self._is_subagent = self._has_begun = False

    def facts_in(self, line: bytes, offset: int) -> list[SessionFact]:
        """Return what a line proves. Raises ValueError."""
        said = line_of(DECODER, line)
        facts = list(self._said(said, self.fact("", offset, line, said.timestamp)))
        for fact in facts:
            self.remember(fact)
        return facts

    def remember(self, fact: SessionFact) -> None:
        if fact.kind == "turn":
            self._queued.add(fact.id)
        elif fact.kind == "began":
            self._is_subagent = bool(fact.other)
        elif fact.kind == "given":
            self._has_begun = True

    def _said(self, line: _Line, base: SessionFact) -> Iterator[SessionFact]:
        said = line.payload
        if line.type == "session_meta" and text_in(said, "id") == self.session:
            yield _began(said, base)
        elif line.type == "response_item":
            yield from _answered(said, base)
        elif line.type == "event_msg" and said.get("type") == "task_started":
            attribution = said.get("turn_attribution")
            if isinstance(attribution, dict) and attribution.get("turn_trigger") == "queue":
                yield base.but(kind="turn", id=text_in(attribution, "turn_id"))
        elif line.type == "event_msg" and said.get("type") == "item_completed" and isinstance(said.get("item"), dict):
            item, turn = said["item"], text_in(said, "turn_id")
            if item.get("type") == "UserMessage":
                is_first = self._is_subagent and not self._has_begun
                if is_first or turn in self._queued:
                    yield base.but(kind="given", id=text_in(item, "client_id"), text=_text(item))
            elif item.get("type") == "CollabAgentToolCall":
                yield from _told(item, base)


def _began(said: dict[str, Any], base: SessionFact) -> SessionFact:
    git = said.get("git")
    folder = text_in(said, "cwd")
    return base.but(
        kind="began",
        time=text_in(said, "timestamp") or base.time,
        name=text_in(said, "agent_nickname") or folder.rstrip("/").rpartition("/")[2],
        other=text_in(said, "parent_thread_id"),
        folder=folder,
        branch=text_in(git, "branch") if isinstance(git, dict) else "",
        version=text_in(said, "cli_version"),
    )


def _text(item: dict[str, Any]) -> str:
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    return "\n".join(text_in(part, "text") for part in parts if isinstance(part, dict) and text_in(part, "text"))


def _told(item: dict[str, Any], base: SessionFact) -> Iterator[SessionFact]:
    """Yield a call of a tool that writes to subagents; those that wait, or end one, have no text."""
    receivers, text = item.get("receiver_thread_ids"), text_in(item, "prompt")
    if not text or item.get("sender_thread_id") != base.session or not isinstance(receivers, list):
        return
    for receiver in receivers:
        if isinstance(receiver, str) and receiver:
            yield base.but(kind="told", id=text_in(item, "id"), name=text_in(item, "tool"), other=receiver, text=text)


def _answered(said: dict[str, Any], base: SessionFact) -> Iterator[SessionFact]:
    """Yield the end of a subagent's turn, which the program gives to the thread that started it."""
    if said.get("role") != "user" or not (text := _text(said)).startswith(NOTIFICATION):
        return
    try:
        value = json.loads(text.removeprefix(NOTIFICATION).partition(ENDING)[0])
        status = value["status"]
        words = ", ".join(f"{it}" for it in status.values()) if isinstance(status, dict) else f"{status}"
        if words and isinstance(value["agent_path"], str):
            yield base.but(kind="answered", id=text_in(said, "id"), other=value["agent_path"], text=words)
    except (ValueError, KeyError, TypeError, RecursionError):
        return


def client_of(path: Path, text: str, since: float) -> str:
    """Return the id of the row with a text that a thread took since a time, in seconds; empty if it took none."""
    with suppress(OSError, NotAFile):
        fd = open_regular(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            for data in lines_from_end(fd, os.fstat(fd).st_size):
                if data is None or b'"UserMessage"' not in data:
                    continue
                line = line_of(DECODER, data)
                item = line.payload.get("item")
                if (time_of(line.timestamp) or 0.0) < since - 1:
                    break
                if isinstance(item, dict) and _text(item) == text:
                    return text_in(item, "client_id")
        except ValueError:
            return ""
        finally:
            os.close(fd)
    return ""


class _Tokens(msgspec.Struct, gc=False):
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0


class _Info(msgspec.Struct, gc=False):
    last: _Tokens = msgspec.field(default_factory=_Tokens, name="last_token_usage")
    total: _Tokens = msgspec.field(default_factory=_Tokens, name="total_token_usage")
    window: int | None = msgspec.field(default=None, name="model_context_window")


class _Count(msgspec.Struct, gc=False):
    info: _Info | None = None


class _CountLine(msgspec.Struct, gc=False):
    payload: _Count
    timestamp: str = ""


COUNT = msgspec.json.Decoder(_CountLine)


def used_in(line: bytes) -> Iterator[Used]:
    """Yield what a count of tokens says; the same sum again is no news."""
    try:
        count = COUNT.decode(line)
    except UNREADABLE:
        return
    if (info := count.payload.info) is not None:
        last, total = info.last, info.total.total_tokens
        given, written = last.input_tokens, last.output_tokens
        at = time_of(count.timestamp)
        yield Used(f"{total}", at, given, written, context=last.total_tokens, window=info.window, all=total)


class RolloutTurns:
    """Says what the lines of a rollout say, in their order: what began a turn stands in a line before."""

    def __init__(self, *, is_subagent: bool) -> None:
        self._triggers: dict[str, str] = {}
        self._is_subagent = is_subagent

    def __call__(self, data: bytes) -> Iterator[SessionTurn]:
        """Yield what a line says, if somebody says something in it."""
        try:
            line = line_of(DECODER, data)
        except ValueError:
            return
        said, item = line.payload, line.payload.get("item")
        if isinstance(attribution := said.get("turn_attribution"), dict):
            self._triggers[text_in(attribution, "turn_id")] = text_in(attribution, "turn_trigger")
        if said.get("type") != "item_completed" or not isinstance(item, dict):
            return
        at = time_of(line.timestamp)
        match text_in(item, "type"):
            case "UserMessage":
                yield SessionTurn(self._speaker(text_in(said, "turn_id")), at, _text(item))
            case "AgentMessage":
                yield SessionTurn(Speaker.AGENT, at, _text(item))
            case "" | "Reasoning":
                return
            case kind:
                yield SessionTurn(Speaker.AGENT, at, "", (_tool(text_in(item, "tool") or kind, item),))

    def _speaker(self, turn: str) -> Speaker:
        """Return who wrote what began a turn: the user only where the program says so."""
        if self._is_subagent:
            return Speaker.SESSION
        return Speaker.USER if self._triggers.get(turn) == "user" else Speaker.PROGRAM


def _tool(name: str, item: dict[str, Any]) -> str:
    given = {key: item.get(key) for key in ("command", "prompt", "query", "path")}
    command = given["command"]
    if isinstance(command, list):
        given["command"] = " ".join(str(each) for each in command)
    return tool_words(name, given)
