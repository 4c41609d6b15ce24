"""What a line of a session's events says: which agents it started, what those were told and answered, what was used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec

from mailstore.kit.json_records import text_in
from mailstore.kit.sessions.facts import SessionFact, SessionTranscript
from mailstore.kit.sessions.usage import Used
from mailstore.kit.timestamps import time_of
from mailstore.kit.transcripts.transcript import line_of
from mailstore.kit.transcripts.turns import tool_words
from mailstore.records.details import SessionTurn, Speaker

MARKS = (b'"session.start"', b'"subagent.started"', b'"agentId"', b'"write_agent"', b'"agent_id"', b'"name":"task"')
USED = (b'"session.usage_record"', b'"context_current_tokens"')
FROM = "agent-"
WRITE, TASK, READ = "write_agent", "task", "read_agent"


class _Event(msgspec.Struct, gc=False):
    type: str
    timestamp: str = ""
    agent: str = msgspec.field(default="", name="agentId")
    data: dict[str, Any] = {}


EVENT = msgspec.json.Decoder(_Event)


class EventsTranscript(SessionTranscript):
    """The events of a session and its agents; it remembers which calls wrote to an agent, and started which."""

    marks: ClassVar[tuple[bytes, ...]] = (*MARKS, b'"toolName":"task"')

    def restart(self) -> None:
        self._calls: dict[str, SessionFact] = {}

    def remember(self, fact: SessionFact) -> None:
        if fact.kind == "call":
            self._calls[fact.id] = fact

    def facts_in(self, line: bytes, offset: int) -> list[SessionFact]:
        """Return what a line proves. Raises ValueError."""
        event = line_of(EVENT, line)
        base = self.fact("", offset, line, event.timestamp, session=event.agent or self.session)
        facts = list(self._said(event, base))
        for fact in facts:
            self.remember(fact)
        return facts

    def _said(self, event: _Event, base: SessionFact) -> Iterator[SessionFact]:
        said = event.data
        match event.type:
            case "session.start":
                context = _dict(said, "context")
                folder = text_in(context, "cwd")
                yield base.but(
                    kind="began",
                    name=folder.rstrip("/").rpartition("/")[2],
                    folder=folder,
                    branch=text_in(context, "branch"),
                    version=text_in(said, "copilotVersion"),
                )
            case "subagent.started" if event.agent:
                call = self._calls.get(text_in(said, "toolCallId"))
                parent = call.session if call is not None else self.session
                name = text_in(said, "agentDisplayName") or text_in(said, "agentName")
                yield base.but(kind="began", name=name, other=parent, folder=call.folder if call is not None else "")
                if call is not None and call.text:
                    yield call.but(kind="told", other=event.agent)
            case "tool.execution_start" if said.get("toolName") in (WRITE, TASK):
                given, tool = _dict(said, "arguments"), text_in(said, "toolName")
                text, to = text_in(given, "message" if tool == WRITE else "prompt"), text_in(given, "agent_id")
                yield base.but(kind="call", id=text_in(said, "toolCallId"), name=tool, other=to, text=text)
            case "tool.execution_complete":
                yield from self._ended(said, base)
            case "user.message" if event.agent and (text := text_in(said, "content")):
                sender = text_in(said, "source")
                if sender.startswith(FROM):
                    other = sender.removeprefix(FROM)
                    yield base.but(kind="given", id=text_in(said, "messageId"), other=other, text=text)
            case "assistant.message" if event.agent and (text := text_in(said, "content").strip()):
                if not said.get("toolRequests"):
                    parent = self._parent(text_in(said, "parentToolCallId"))
                    answer = base.but(session=parent, other=event.agent, text=text)
                    asked = text_in(said, "originatingMessageId")
                    yield answer.but(kind="answered", id=text_in(said, "messageId"), reply=asked)

    def _parent(self, call_id: str) -> str:
        call = self._calls.get(call_id)
        return call.session if call is not None else self.session

    def _ended(self, said: dict[str, Any], base: SessionFact) -> Iterator[SessionFact]:
        """Yield what the end of a call proves: a message was written or refused, or an agent's answer was taken."""
        telemetry = _dict(said, "toolTelemetry")
        call = self._calls.get(text_in(said, "toolCallId"))
        is_done = said.get("success") is True
        if call is not None and call.name == WRITE:
            if not is_done:
                reason = text_in(_dict(said, "error"), "message") or "the program refused it"
                yield call.but(kind="refused", name=reason, time=base.time, other=call.other or "agent")
            elif call.text and call.other:
                yield call.but(kind="told")
            return
        agent = text_in(_dict(telemetry, "properties"), "agent_id")
        if call is not None and call.name == TASK:
            is_over = text_in(_dict(telemetry, "properties"), "execution_mode") != "background"
            agent = text_in(_dict(telemetry, "restrictedProperties"), "agent_id") if is_over else ""
        if is_done and agent:
            yield base.but(kind="took", id=text_in(said, "toolCallId"), other=agent)


def _dict(value: dict[str, Any], name: str) -> dict[str, Any]:
    value_of_name = value.get(name)
    return value_of_name if isinstance(value_of_name, dict) else {}


def used_in(line: bytes) -> Iterator[Used]:
    """Yield what a line says was used: an answer's tokens, or how full the context is.

    The `cost` of an answer counts premium requests, and is not money.
    """
    try:
        event = line_of(EVENT, line)
    except ValueError:
        return
    said, at = event.data, time_of(event.timestamp)
    if event.type == "session.usage_record":
        usage = _dict(said, "usage")
        given = sum(_number(usage, name) for name in ("inputTokens", "cacheReadTokens", "cacheWriteTokens"))
        yield Used(
            f"{usage.get('apiCallId')} {event.timestamp}",
            at,
            given,
            _number(usage, "outputTokens"),
            model=text_in(usage, "model"),
            agent=event.agent,
        )
    elif event.type == "tool.execution_complete":
        metrics = _dict(_dict(said, "toolTelemetry"), "metrics")
        context, window = _number(metrics, "context_current_tokens"), _number(metrics, "context_token_limit")
        if context and window:
            yield Used("context", at, context=context, window=window, agent=event.agent, is_answer=False)


def _number(value: dict[str, Any], name: str) -> int:
    number = value.get(name)
    return int(number) if isinstance(number, int | float) and 0 <= number < 1 << 62 else 0


class EventTurns:
    """Says what the lines of a session's events say; those of its agents are told apart."""

    def __call__(self, data: bytes) -> Iterator[SessionTurn]:
        """Yield what a line says, if somebody says something in it."""
        try:
            event = line_of(EVENT, data)
        except ValueError:
            return
        at, text = time_of(event.timestamp), text_in(event.data, "content")
        if event.type == "user.message" and text:
            is_told = text_in(event.data, "source").startswith(FROM)
            yield SessionTurn(Speaker.SESSION if is_told else Speaker.USER, at, text)
        elif event.type == "system.notification" and text:
            yield SessionTurn(Speaker.PROGRAM, at, text)
        elif event.type == "assistant.message":
            asked = event.data.get("toolRequests")
            calls = [it for it in asked if isinstance(it, dict)] if isinstance(asked, list) else []
            tools = tuple(tool_words(call.get("name"), call.get("arguments")) for call in calls)
            if text or tools:
                yield SessionTurn(Speaker.SESSION if event.agent else Speaker.AGENT, at, text, tools)


def state_in(data: bytes) -> tuple[str, str] | None:
    """Return what a line says that a session does, and for what it waits; None if it says nothing of that."""
    try:
        event = line_of(EVENT, data)
    except ValueError:
        return None
    match event.type:
        case "permission.requested":
            asked = _dict(event.data, "permissionRequest")
            return "waiting", f"permission {text_in(asked, 'kind')}".strip()
        case "session.shutdown":
            return "offline", ""
        case "assistant.turn_end" if not event.agent:
            return "idle", ""
        case "assistant.turn_start" | "permission.completed" | "user.message":
            return "working", ""
    return None
