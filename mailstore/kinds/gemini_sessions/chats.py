"""What a line of a chat says: where its session began, what it gave a subagent, what that answered, what was used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, ClassVar

import msgspec

from mailstore.files.whole import NotAFile, read_whole
from mailstore.kit.sessions.facts import SessionFact, SessionTranscript
from mailstore.kit.sessions.usage import Used
from mailstore.kit.timestamps import time_of
from mailstore.kit.transcripts.transcript import UNREADABLE, line_of
from mailstore.kit.transcripts.turns import tool_words
from mailstore.records.details import SessionTurn, Speaker

ROOT, LONGEST = ".project_root", 1 << 16
USED = (b'"tokens"', b'"usageMetadata"', b'"input_token_count"')


class _Tokens(msgspec.Struct, gc=False):
    input: int = 0
    output: int = 0
    thoughts: int = 0
    tool: int = 0


class _Metadata(msgspec.Struct, gc=False):
    prompt: int = msgspec.field(default=0, name="promptTokenCount")


class _Event(msgspec.Struct, gc=False):
    model: str = ""
    given: int = msgspec.field(default=0, name="input_token_count")
    written: int = msgspec.field(default=0, name="output_token_count")
    thoughts: int = msgspec.field(default=0, name="thoughts_token_count")
    response: str = msgspec.field(default="", name="response_id")


class _Payload(msgspec.Struct, gc=False):
    event: _Event | None = msgspec.field(default=None, name="uiEvent")


class _Call(msgspec.Struct, gc=False):
    id: str = ""
    timestamp: str = ""
    agent: str = msgspec.field(default="", name="agentId")
    result: Any = None


class _Line(msgspec.Struct, gc=False):
    id: str = ""
    uuid: str = ""
    type: str = ""
    timestamp: str = ""
    start: str = msgspec.field(default="", name="startTime")
    session: str = msgspec.field(default="", name="sessionId")
    kind: str = ""
    cwd: str = ""
    branch: str | None = msgspec.field(default=None, name="gitBranch")
    version: str = ""
    model: str = ""
    directories: list[str] = []
    content: Any = None
    calls: list[_Call] = msgspec.field(default_factory=list, name="toolCalls")
    tokens: _Tokens | None = None
    metadata: _Metadata | None = msgspec.field(default=None, name="usageMetadata")
    payload: _Payload | None = msgspec.field(default=None, name="systemPayload")


class _Tool(msgspec.Struct, gc=False):
    name: str = ""
    args: Any = None


class _Calls(msgspec.Struct, gc=False):
    calls: list[_Tool] = msgspec.field(default_factory=list, name="toolCalls")


LINE = msgspec.json.Decoder(_Line)
CALLS = msgspec.json.Decoder(_Calls)


class ChatTranscript(SessionTranscript):
    """A chat, of which the first line says where it began, or a file in the project's folder.

    A subagent's chat begins with what it was told; what it answered is in the chat of the session that started it.
    """

    marks: ClassVar[tuple[bytes, ...]] = (b'"agentId"',)

    def restart(self) -> None:
        self._has_begun = self._was_told = False

    def remember(self, fact: SessionFact) -> None:
        self._has_begun |= fact.kind == "began"
        self._was_told |= fact.kind == "given"

    def marks_now(self) -> tuple[bytes, ...]:
        first = () if self._has_begun else (b'"sessionId"',)
        marks = (b'"type":"user"',) if self.parent and not self._was_told else ()
        return (*self.marks, *first, *marks)

    def facts_in(self, line: bytes, offset: int) -> list[SessionFact]:
        """Return what a line proves. Raises ValueError."""
        said = line_of(LINE, line)
        facts = [*self._began(said, offset, line), *self._told(said, offset, line)]
        for fact in facts:
            self.remember(fact)
        for call in said.calls:
            if call.agent and (text := _answer(call.result)):
                more = {"id": call.id, "other": call.agent, "text": text}
                facts.append(self.fact("answered", offset, line, call.timestamp or said.timestamp, **more))
        return facts

    def _told(self, said: _Line, offset: int, line: bytes) -> Iterator[SessionFact]:
        text = _text(said.content)
        if self.parent and not self._was_told and said.type == "user" and text:
            given = self.fact("given", offset, line, said.timestamp, id=said.id, other=self.parent, text=text)
            yield given.but(kind="told", session=self.parent, other=self.session)
            yield given

    def _began(self, said: _Line, offset: int, line: bytes) -> list[SessionFact]:
        if self._has_begun or not said.session:
            return []
        folder = said.cwd or next(iter(said.directories), "") or self._project()
        name = folder.rstrip("/").rpartition("/")[2]
        more: dict[str, Any] = {"folder": folder, "branch": said.branch or "", "version": said.version}
        return [self.fact("began", offset, line, said.start or said.timestamp, name=name, other=self.parent, **more)]

    def _project(self) -> str:
        """Return where the project is, which Gemini notes beside its chats; empty if it doesn't."""
        for folder in self.path.parents[1:3]:
            with suppress(OSError, NotAFile):
                return read_whole(folder / ROOT, LONGEST).decode("utf-8", "replace").strip()
        return ""


def _text(content: object) -> str:
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _answer(result: object) -> str:
    """Return what the result of a call gives the model."""
    for part in result if isinstance(result, list) else []:
        response = part.get("functionResponse") if isinstance(part, dict) else None
        said = response.get("response") if isinstance(response, dict) else None
        if isinstance(said, dict):
            words = said.get("output") or said.get("error")
            return words if isinstance(words, str) else ""
    return ""


def turns_in(data: bytes) -> Iterator[SessionTurn]:
    """Yield what a line says, if somebody says something in it."""
    try:
        line = LINE.decode(data)
        calls = CALLS.decode(data).calls
    except UNREADABLE:
        return
    at, text = time_of(line.timestamp), _text(line.content) or (line.content if isinstance(line.content, str) else "")
    if line.type == "user" and text:
        yield SessionTurn(Speaker.USER, at, text)
    elif line.type == "gemini" and (text or calls):
        yield SessionTurn(Speaker.AGENT, at, text, tuple(tool_words(call.name, call.args) for call in calls))


def used_in(data: bytes) -> Iterator[Used]:
    """Yield what a line says was used.

    Gemini writes an answer's line again when a tool was run for it. Qwen writes the tokens of each answer, also of its
    subagents, in a line of its own, and the context in the answer's.
    """
    try:
        line = line_of(LINE, data)
    except ValueError:
        return
    at = time_of(line.timestamp)
    if line.tokens is not None:
        tokens = line.tokens
        written = tokens.output + tokens.thoughts + tokens.tool
        yield Used(line.id, at, tokens.input, written, context=tokens.input + written, model=line.model)
    elif line.metadata is not None:
        yield Used(line.uuid, at, context=line.metadata.prompt, model=line.model)
    elif line.payload is not None and (event := line.payload.event) is not None:
        yield Used(event.response or line.uuid, at, event.given, event.written + event.thoughts, is_answer=False)
