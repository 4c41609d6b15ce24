"""What a transcript's lines prove about a team's messages: the lines that its own program writes, no others."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from mailstore.kit.json_records import text_in
from mailstore.kit.transcripts.transcript import UNREADABLE, line_of

LEAD = "team-lead"
MARKS = (b"teammate", b'"team_name":"', b'"routing":{', b'"kind":"peer"', b'"request_id":"', b'"isCompactSummary":true')
"""Bytes of which every line with a message has one: other lines are not decoded."""
OPENINGS = ("<teammate-message ", "Another Claude session sent a message:\n<teammate-message ")
TEAM = re.compile(r"[A-Za-z0-9_-]{1,200}")
"""A team's name as the program writes it, which its folder has too; any other is damage, and may be a path."""


class TranscriptOrigin(msgspec.Struct, frozen=True):
    """The transcript of a line: its name as shown, its session, the agent that owns it and its team where known."""

    file: str
    session: str
    agent: str = ""
    owner: str = ""
    team: str = ""


class Fact(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What one line proves.

    `kind` is `sent` (a tool put the text into inboxes), `spawned` (an agent was started with this prompt),
    `turn` (this was given to the owner's model; the text is the whole turn), `entry` (a message was given to the
    owner's model while it worked), `ended` (the team's folder was deleted), `compacted`, or `link` (the transcript
    continues the one whose last line is `text`). `owner` is the agent whose transcript it is, or `#` and the
    transcript's id. `answered` is when its model answered next.
    """

    kind: str
    uuid: str
    file: str
    offset: int
    length: int
    session: str
    owner: str
    time: str
    team: str = ""
    number: int = 0
    sender: str = ""
    recipients: tuple[str, ...] = ()
    text: str = ""
    summary: str = ""
    message_id: str = ""
    role: str = ""
    answered: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """Return the identity, which copies in forked and resumed transcripts share."""
        return self.kind, self.uuid, self.number


class _Line(msgspec.Struct, gc=False):
    type: str
    uuid: str = ""
    timestamp: str = ""
    is_sidechain: bool = msgspec.field(default=False, name="isSidechain")
    is_summary: bool = msgspec.field(default=False, name="isCompactSummary")
    is_error: bool = msgspec.field(default=False, name="isApiErrorMessage")
    team: str | None = msgspec.field(default=None, name="teamName")
    agent_name: str | None = msgspec.field(default=None, name="agentName")
    agent: str | None = msgspec.field(default=None, name="agentId")
    permission_mode: msgspec.Raw | None = msgspec.field(default=None, name="permissionMode")
    prompt_source: msgspec.Raw | None = msgspec.field(default=None, name="promptSource")
    typed: bool = msgspec.field(default=False, name="typedByPerson")
    origin: msgspec.Raw | None = None
    message: msgspec.Raw = msgspec.Raw()
    attachment: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="toolUseResult")


DECODER = msgspec.json.Decoder(_Line)
ANY = msgspec.json.Decoder()


class _Answer(msgspec.Struct, gc=False):
    type: str
    timestamp: str = ""
    is_error: bool = msgspec.field(default=False, name="isApiErrorMessage")


ANSWER = msgspec.json.Decoder(_Answer)


def team_name(text: str | None) -> str:
    """Return a team's name; an empty text for what can't be one."""
    return text if text and TEAM.fullmatch(text) else ""


def is_answer(data: bytes) -> str:
    """Return when the model answered, if a line is an answer of it; else an empty text."""
    try:
        line = ANSWER.decode(data)
    except UNREADABLE:
        return ""
    return line.timestamp if line.type == "assistant" and not line.is_error else ""


def fact_in(data: bytes, offset: int, origin: TranscriptOrigin) -> list[Fact]:
    """Return what a line proves. Raises ValueError if it is not a line of a transcript."""
    line = line_of(DECODER, data)
    if not line.uuid or not line.timestamp:
        return []
    base = Fact(
        "",
        line.uuid,
        origin.file,
        offset,
        len(data),
        origin.session,
        _owner(line, origin),
        line.timestamp,
        team_name(line.team) or origin.team,
    )
    try:
        if line.type == "attachment":
            return _attached(_object(line.attachment), base)
        if line.type != "user":
            return []
        if line.is_summary:
            return [_as(base, kind="compacted")]
        if bytes(line.result):
            return _done(_object(line.result), _object(line.message), base)
        return _given(line, base)
    except UNREADABLE as error:
        raise ValueError("invalid JSON") from error


def _owner(line: _Line, origin: TranscriptOrigin) -> str:
    agent = origin.agent or (line.agent or "" if line.is_sidechain else "")
    return origin.owner or line.agent_name or (f"#{agent}" if agent else LEAD)


def _as(base: Fact, **more: Any) -> Fact:
    return msgspec.structs.replace(base, **more)


def _object(raw: msgspec.Raw) -> dict[str, Any]:
    value = ANY.decode(raw) if bytes(raw) else None
    return value if isinstance(value, dict) else {}


def _given(line: _Line, base: Fact) -> list[Fact]:
    """Return the turn that the program made of messages; a user's prompt is none, whatever it says."""
    if line.permission_mode is not None or line.prompt_source is not None or line.typed:
        return []
    origin = _object(line.origin) if line.origin is not None else {}
    if origin:
        return _peer(origin, base)
    content = _object(line.message).get("content")
    if not isinstance(content, str) or not content.startswith(OPENINGS):
        return []
    return [_as(base, kind="turn", text=content)]


def _peer(origin: dict[str, Any], base: Fact) -> list[Fact]:
    """Return the message of an agent of the same session to its main conversation."""
    body = text_in(origin, "body")
    if origin.get("kind") != "peer" or not origin.get("senderTaskId") or not body or not text_in(origin, "from"):
        return []
    return [_as(base, kind="entry", sender=text_in(origin, "from"), text=body)]


def _attached(attachment: dict[str, Any], base: Fact) -> list[Fact]:
    """Return the messages that the program attached to a turn while the model worked."""
    kind = attachment.get("type")
    if kind == "queued_command":
        origin = attachment.get("origin")
        return _peer(origin, base) if isinstance(origin, dict) else []
    messages = attachment.get("messages")
    if kind != "teammate_mailbox" or not isinstance(messages, list):
        return []
    return [
        _as(
            base,
            kind="entry",
            number=number,
            sender=text_in(message, "from"),
            text=text_in(message, "text"),
            summary=text_in(message, "summary"),
            message_id=text_in(message, "msg_id"),
            time=text_in(message, "timestamp") or base.time,
            role="forged" if message.get("provenance") == "forged" else "",
        )
        for number, message in enumerate(messages)
        if isinstance(message, dict) and text_in(message, "from") and text_in(message, "text")
    ]


def _done(result: dict[str, Any], message: dict[str, Any], base: Fact) -> list[Fact]:
    """Return what a tool of the program did: sent, started an agent, deleted the team.

    Other tools' results have other fields, and what they print is text inside one.
    """
    content = message.get("content")
    if not isinstance(content, list) or not any(
        isinstance(it, dict) and it.get("type") == "tool_result" for it in content
    ):
        return []
    if result.get("status") == "teammate_spawned" and text_in(result, "name"):
        named = _as(base, team=team_name(text_in(result, "team_name")) or base.team)
        who = (text_in(result, "name"),)
        return [
            _as(
                named,
                kind="spawned",
                recipients=who,
                text=text_in(result, "prompt"),
                role=text_in(result, "agent_type"),
            )
        ]
    if result.get("success") is not True:
        return []
    routing = result.get("routing")
    if isinstance(routing, dict):
        return _routed(result, routing, base)
    said, request = text_in(result, "message"), text_in(result, "request_id")
    if request:
        return _asked(said, request, text_in(result, "target"), base)
    if said.startswith("Cleaned up directories") and text_in(result, "team_name"):
        return [_as(base, kind="ended", team=text_in(result, "team_name"))]
    return []


def _routed(result: dict[str, Any], routing: dict[str, Any], base: Fact) -> list[Fact]:
    target = text_in(routing, "target").removeprefix("@")
    listed = result.get("recipients")
    names = [it for it in listed if isinstance(it, str)] if isinstance(listed, list) else [target]
    sender, text = text_in(routing, "sender"), text_in(routing, "content")
    if not sender or not text or not all(names):
        return []
    more = {"sender": sender, "text": text, "summary": text_in(routing, "summary")}
    return [_as(base, kind="sent", recipients=tuple(names), message_id=text_in(result, "msg_id"), **more)]


def _asked(said: str, request: str, target: str, base: Fact) -> list[Fact]:
    """Return a request to shut down, or the answer to one, with the text that its inbox had as far as it is known."""
    if target and said.startswith("Shutdown request sent"):
        kind, to = "shutdown_request", target
    elif said.startswith(("Shutdown approved", "Shutdown rejected")):
        kind, to = f"shutdown_{said.split(None, 2)[1].rstrip('.')}", LEAD
    else:
        return []
    text = json.dumps({"type": kind, "requestId": request, "timestamp": base.time})
    return [_as(base, kind="sent", sender=base.owner, recipients=(to,), text=text)]
