"""What a line of a rollout proves about messages to a thread: what its queue gave it, what subagents were told."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec

from mailstore.files.whole import open_regular
from mailstore.kit.json_records import text_in
from mailstore.kit.transcripts.transcript import UNREADABLE, Reached, Transcript, line_of, lines_from_end

MARKS = (b'"session_meta"', b'"UserMessage"', b'"CollabAgentToolCall"', b"<subagent_notification>", b'"turn_trigger"')
NOTIFICATION, ENDING = "<subagent_notification>", "</subagent_notification>"
FULL, FULL_SHARE = "context nearly full", 0.9


class ThreadFact(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What one line, or a row of the queue, proves; `time` as it is written.

    `kind` is `began` (the thread: `name` is its nickname or folder, `other` its parent), `turn` (a turn took what was
    queued: `id`), `given` (a text from the queue, or a subagent's first, with the `id` of its row), `told` (the thread
    wrote to `other`), `answered` (the subagent `other` has ended its turn, with this text), or `queued` (a row).
    """

    kind: str
    file: str
    offset: int
    length: int
    thread: str
    time: str
    id: str = ""
    name: str = ""
    other: str = ""
    text: str = ""
    folder: str = ""
    branch: str = ""
    version: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """Return the identity of what the line says."""
        return self.kind, self.thread, self.id or self.time, self.other


class Rollout(NamedTuple):
    """A file of a thread."""

    place: str
    name: str

    @property
    def path(self) -> Path:
        return Path(self.place)

    @property
    def thread(self) -> str:
        """The thread's id, which ends the file's name."""
        return self.name.rpartition("/")[2].removesuffix(".jsonl")[-36:]


class _Line(msgspec.Struct, gc=False):
    type: str
    timestamp: str = ""
    payload: dict[str, Any] = {}


DECODER = msgspec.json.Decoder(_Line)


class RolloutTranscript(Transcript[ThreadFact]):
    """A rollout, read for messages; it remembers which turns took what was queued, and whether it is a subagent's."""

    marks: ClassVar[tuple[bytes, ...]] = MARKS

    def __init__(self, file: Rollout, reached: Reached | None, known: Iterable[ThreadFact]) -> None:
        super().__init__(file.path, file.name, reached)
        self._thread = file.thread
        self._queued: set[str] = set()
        self._is_subagent = self._has_begun = False
        for fact in known:
            self._remember(fact)

    def begin(self) -> None:
        super().begin()
        self._queued = set()
        self._is_subagent = self._has_begun = False

    def facts_in(self, line: bytes, offset: int) -> list[ThreadFact]:
        """Return what a line proves. Raises ValueError."""
        said = line_of(DECODER, line)
        found = list(self._said(said, ThreadFact("", self.file, offset, len(line), self._thread, said.timestamp)))
        for fact in found:
            self._remember(fact)
        return found

    def _remember(self, fact: ThreadFact) -> None:
        if fact.kind == "turn":
            self._queued.add(fact.id)
        elif fact.kind == "began":
            self._is_subagent = bool(fact.other)
        elif fact.kind == "given":
            self._has_begun = True

    def _said(self, line: _Line, base: ThreadFact) -> Iterator[ThreadFact]:
        said = line.payload
        if line.type == "session_meta" and text_in(said, "id") == self._thread:
            yield _began(said, base)
        elif line.type == "response_item":
            yield from _answered(said, base)
        elif line.type == "event_msg" and said.get("type") == "task_started":
            attribution = said.get("turn_attribution")
            if isinstance(attribution, dict) and attribution.get("turn_trigger") == "queue":
                yield _as(base, kind="turn", id=text_in(attribution, "turn_id"))
        elif line.type == "event_msg" and said.get("type") == "item_completed" and isinstance(said.get("item"), dict):
            item, turn = said["item"], text_in(said, "turn_id")
            if item.get("type") == "UserMessage":
                is_first = self._is_subagent and not self._has_begun
                if is_first or turn in self._queued:
                    yield _as(base, kind="given", id=text_in(item, "client_id"), text=_text(item))
            elif item.get("type") == "CollabAgentToolCall":
                yield from _told(item, base)


def _as(base: ThreadFact, **more: Any) -> ThreadFact:
    return msgspec.structs.replace(base, **more)


def _began(said: dict[str, Any], base: ThreadFact) -> ThreadFact:
    git = said.get("git")
    folder = text_in(said, "cwd")
    return _as(
        base,
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


def _told(item: dict[str, Any], base: ThreadFact) -> Iterator[ThreadFact]:
    """Yield a call of a tool that writes to subagents; those that wait, or end one, have no text."""
    receivers, text = item.get("receiver_thread_ids"), text_in(item, "prompt")
    if not text or item.get("sender_thread_id") != base.thread or not isinstance(receivers, list):
        return
    for receiver in receivers:
        if isinstance(receiver, str) and receiver:
            yield _as(base, kind="told", id=text_in(item, "id"), name=text_in(item, "tool"), other=receiver, text=text)


def _answered(said: dict[str, Any], base: ThreadFact) -> Iterator[ThreadFact]:
    """Yield the end of a subagent's turn, which the program gives to the thread that started it."""
    if said.get("role") != "user" or not (text := _text(said)).startswith(NOTIFICATION):
        return
    try:
        value = json.loads(text.removeprefix(NOTIFICATION).partition(ENDING)[0])
        status = value["status"]
        words = ", ".join(f"{it}" for it in status.values()) if isinstance(status, dict) else f"{status}"
        if words and isinstance(value["agent_path"], str):
            yield _as(base, kind="answered", id=text_in(said, "id"), other=value["agent_path"], text=words)
    except (ValueError, KeyError, TypeError, RecursionError):
        return


class _Tokens(msgspec.Struct, gc=False):
    total_tokens: int = 0


class _Info(msgspec.Struct, gc=False):
    last: _Tokens = msgspec.field(default_factory=_Tokens, name="last_token_usage")
    total: _Tokens = msgspec.field(default_factory=_Tokens, name="total_token_usage")
    window: int | None = msgspec.field(default=None, name="model_context_window")


class _Count(msgspec.Struct, gc=False):
    info: _Info | None = None


class _CountLine(msgspec.Struct, gc=False):
    payload: _Count


COUNT = msgspec.json.Decoder(_CountLine)


def usage_of(path: Path) -> dict[str, str]:
    """Return what a thread has used, in words, from the last count in its rollout. Raises OSError and NotAFile."""
    fd = open_regular(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        for line in lines_from_end(fd, os.fstat(fd).st_size):
            if line is None:
                break
            if b'"token_count"' not in line:
                continue
            try:
                info = COUNT.decode(line).payload.info
            except UNREADABLE:
                continue
            if info is not None:
                used, window = info.last.total_tokens, info.window
                share = f" of {window:,} ({100 * used // window} %)" if window else ""
                name = FULL if window and used >= FULL_SHARE * window else "context"
                return {name: f"{used:,}{share} tokens", "tokens": f"{info.total.total_tokens:,} in all"}
    finally:
        os.close(fd)
    return {}
