"""What a line of a transcript proves about mail between sessions: the lines that the program writes, no others.

Text that merely quotes a message, a notice or their tags proves nothing (docs/formats/claude-sessions.md, Lines).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec

from mailstore.kit.json_records import text_in
from mailstore.kit.transcripts.transcript import HEAD, UNREADABLE, Reached, Transcript, line_of

NOTICE = "[Cross-session delivery notice] "
OPENING = "<cross-session-message from="
HELD_HERE = "Held peer message "
MARKS = (
    b'"name":"SendMessage"',
    b'"msg_id":"',
    b'"toolUseResult":{"success":false',
    b'"content":"[Cross-session delivery notice] ',
    b'"content":"<cross-session-message from=',
    b'"content":"Held peer message ',
    b'"type":"agent-name"',
)
ARRIVED = re.compile(
    r'<cross-session-message from="([^"\n]*)"(?: from-name="([^"]*)")?[^\n>]*>\n(.*)\n</cross-session-message>',
    re.DOTALL,
)
HELD = re.compile(
    r"Held peer message — from (\S+) \[verified pid (\d+)\] \(peer claims name: (.*?)\); "
    r"preview: «(.*?)…?» — not delivered",
    re.DOTALL,
)
TOLD = re.compile(r"\(recipient: ([^;)]*); msg_id: ([^)]+)\)")
DROPPED_BECAUSE = re.compile(r"and NOT delivered \(([^)\n]{1,200})\)")
GIVEN = re.compile(
    r"\AAnother Claude session sent a message:\n(.*?)(?:\n\nThis came from another Claude session.*)?\Z", re.DOTALL
)
OUTCOMES = (
    (" was held by that session", "held"),
    (" was approved and released to that session", "released"),
    (" was denied by the recipient", "denied"),
    (" was not approved before expiry", "expired"),
    (" was refused ", "refused"),
    (" dropped at that session's inbox", "dropped"),
)
"""What the program says of a message in a notice to its sender, by the words that follow *Your message to …*."""


class ClaudeFact(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What one line proves; `time` as it is written.

    `kind` is `call` (the model asked for a message to be sent), `result` (what became of that: with `message_id` it was
    sent, without it not), `notice` (what the recipient's session did with the messages `ids`, as `outcome`), `read`
    (the message was given to the model of `session`), `arrived` (it is in the inbox of `session`: a hint, without an
    id), `held` (the same, and it waits for the user there), `name` (how the session is called), `began` (where: `name`
    is the folder, `text` the branch, `outcome` the release), or `process` (it ran as `pid`, started at `started`).
    `address` and `pid` are the other side's; `agent` is the subagent whose transcript it is, `origin` the session that
    a copied line comes from.
    """

    kind: str
    file: str
    offset: int
    length: int
    session: str
    time: str
    uuid: str = ""
    agent: str = ""
    origin: str = ""
    message_id: str = ""
    ids: tuple[str, ...] = ()
    tool: str = ""
    name: str = ""
    text: str = ""
    summary: str = ""
    address: str = ""
    pid: int = 0
    started: str = ""
    outcome: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """Return the identity of what the line says."""
        text = self.text if self.kind == "arrived" else str(self.offset) if self.kind == "name" else ""
        return (self.kind, self.session, self.uuid or self.time, self.tool or self.name, text)


class ClaudeFile(NamedTuple):
    """A transcript: of a session, or of one of its subagents."""

    place: str
    name: str
    session: str
    agent: str = ""

    @property
    def path(self) -> Path:
        return Path(self.place)


class _Line(msgspec.Struct, gc=False):
    type: str
    uuid: str = ""
    timestamp: str = ""
    subtype: str = ""
    operation: str = ""
    turn_origin: str = msgspec.field(default="", name="turnOrigin")
    is_meta: bool = msgspec.field(default=False, name="isMeta")
    agent_name: str = msgspec.field(default="", name="agentName")
    copied_from: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="forkedFrom")
    content: msgspec.Raw = msgspec.Raw()
    message: msgspec.Raw = msgspec.Raw()
    attachment: msgspec.Raw = msgspec.Raw()
    origin: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="toolUseResult")


class _Head(msgspec.Struct, gc=False):
    cwd: str = ""
    branch: str = msgspec.field(default="", name="gitBranch")
    version: str = ""
    timestamp: str = ""


DECODER = msgspec.json.Decoder(_Line)
HEADS = msgspec.json.Decoder(_Head)
ANY = msgspec.json.Decoder()


class ClaudeTranscript(Transcript[ClaudeFact]):
    """A transcript, read for mail."""

    marks: ClassVar[tuple[bytes, ...]] = MARKS

    def __init__(self, file: ClaudeFile, reached: Reached | None, known: Iterable[ClaudeFact]) -> None:
        super().__init__(file.path, file.name, reached)
        self._origin = file
        self._is_known = False
        """Whether it is known where the session began."""
        self._called = ""
        """What the session was called last: the program repeats that again and again."""
        for fact in known:
            self._is_known |= fact.kind == "began"
            self._called = fact.name if fact.kind == "name" else self._called

    def begin(self) -> None:
        super().begin()
        self._called = ""

    def facts_in(self, line: bytes, offset: int) -> Iterable[ClaudeFact]:
        facts = facts_in(line, offset, self._origin)
        if facts and facts[0].kind == "name":
            if facts[0].name == self._called:
                return []
            self._called = facts[0].name
        return facts

    def facts_at_end(self, fd: int, offset: int) -> list[ClaudeFact]:
        import os

        if self._is_known or self._origin.agent:
            return []
        facts = list(_began(os.pread(fd, min(HEAD, offset), 0), self._origin))
        self._is_known = bool(facts)
        return facts


def _began(head: bytes, file: ClaudeFile) -> Iterator[ClaudeFact]:
    """Yield where a session began, from the first line that says so."""
    at = 0
    for line in head.split(b"\n")[:-1]:
        if b'"cwd":"' in line:
            try:
                said = HEADS.decode(line)
            except UNREADABLE:
                said = _Head()
            if said.cwd:
                where = (file.name, at, len(line), file.session, said.timestamp)
                yield ClaudeFact("began", *where, name=said.cwd, text=said.branch, outcome=said.version)
                return
        at += len(line) + 1


def facts_in(data: bytes, offset: int, file: ClaudeFile) -> list[ClaudeFact]:
    """Return what a line proves. Raises ValueError if it is not a line of a transcript."""
    line = line_of(DECODER, data)
    where = (file.name, offset, len(data), file.session, line.timestamp, line.uuid, file.agent)
    try:
        base = ClaudeFact(line.type, *where, origin=text_in(_object(line.copied_from), "sessionId"))
        match line.type:
            case "agent-name" if line.agent_name:
                return [_as(base, kind="name", name=line.agent_name)]
            case "assistant":
                return list(_called(_object(line.message), base))
            case "user" if bytes(line.result):
                return _answered(_object(line.result), _object(line.message), base)
            case "user":
                return _given(line, base)
            case "attachment":
                return _attached(_object(line.attachment), base)
            case "queue-operation" if line.operation == "enqueue":
                return _queued(_text(line.content), base)
            case "system" if line.subtype == "informational":
                return _held(_text(line.content), base)
    except UNREADABLE as error:
        raise ValueError("invalid JSON") from error
    return []


def _as(base: ClaudeFact, **more: Any) -> ClaudeFact:
    return msgspec.structs.replace(base, **more)


def _object(raw: msgspec.Raw) -> dict[str, Any]:
    value = ANY.decode(raw) if bytes(raw) else None
    return value if isinstance(value, dict) else {}


def _text(raw: msgspec.Raw) -> str:
    value = ANY.decode(raw) if bytes(raw) else None
    return value if isinstance(value, str) else ""


def _parts(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    content = message.get("content")
    return (
        [it for it in content if isinstance(it, dict) and it.get("type") == kind] if isinstance(content, list) else []
    )


def _called(message: dict[str, Any], base: ClaudeFact) -> Iterator[ClaudeFact]:
    """Yield the messages that the model asked to send; nothing is sent before the result says so."""
    for part in _parts(message, "tool_use"):
        asked = part.get("input")
        if part.get("name") != "SendMessage" or not isinstance(asked, dict):
            continue
        to = text_in(asked, "to") or text_in(asked, "recipient")
        text = text_in(asked, "message") or text_in(asked, "content")
        if to and text_in(part, "id"):
            yield _as(base, kind="call", tool=part["id"], name=to, text=text, summary=text_in(asked, "summary"))


def _answered(result: dict[str, Any], message: dict[str, Any], base: ClaudeFact) -> list[ClaudeFact]:
    """Return what the program says that it did with a message; what other tools print is text inside a field."""
    tools = [tool for part in _parts(message, "tool_result") if (tool := text_in(part, "tool_use_id"))]
    if len(tools) != 1 or "routing" in result or "request_id" in result:
        return []  # a team's message: it is in the team's mailbox
    sent = result.get("success")
    fact = _as(base, kind="result", tool=tools[0])
    if sent is True and (message_id := text_in(result, "msg_id")):
        return [_as(fact, message_id=message_id)]
    if sent is False and not text_in(result, "msg_id"):
        return [_as(fact, text=text_in(result, "message") or text_in(result, "display"))]
    return []


def _given(line: _Line, base: ClaudeFact) -> list[ClaudeFact]:
    """Return the message of a turn, or the notices that the program gave as one."""
    content = _object(line.message).get("content")
    if not isinstance(content, str):
        return []
    if bytes(line.origin):
        return _read(_object(line.origin), content, base, "idle")
    if line.is_meta and line.turn_origin == "system" and content.startswith(NOTICE):
        return list(_notices(content, base))
    return []


def _attached(attachment: dict[str, Any], base: ClaudeFact) -> list[ClaudeFact]:
    """Return the message that the program gave to the model while it worked, or a notice."""
    origin, prompt = attachment.get("origin"), text_in(attachment, "prompt")
    if attachment.get("type") != "queued_command" or not isinstance(origin, dict | None):
        return []
    if origin:
        return _read(origin, prompt, base, "busy")
    return list(_notices(prompt, base)) if attachment.get("isMeta") is True and prompt.startswith(NOTICE) else []


def _read(origin: dict[str, Any], content: str, base: ClaudeFact, how: str) -> list[ClaudeFact]:
    message_id = text_in(origin, "msg_id")
    if origin.get("kind") != "peer" or origin.get("senderTaskId") or not message_id:
        return []
    pid, given = origin.get("verifiedPeerPid"), GIVEN.match(content)
    body = text_in(origin, "body") or (given[1] if given else content)
    return [
        _as(
            base,
            kind="read",
            message_id=message_id,
            name=text_in(origin, "name"),
            text=body,
            address=text_in(origin, "from"),
            pid=pid if isinstance(pid, int) and 0 < pid < 1 << 40 else 0,
            started=text_in(origin, "verifiedPeerProcStart"),
            outcome=how,
        )
    ]


def _notices(content: str, base: ClaudeFact) -> Iterator[ClaudeFact]:
    for text in content.split(NOTICE)[1:]:
        match = TOLD.search(text)
        outcome = next((outcome for words, outcome in OUTCOMES if words in text[: match.start() if match else 0]), "")
        if match and outcome:
            why = DROPPED_BECAUSE.search(text) if outcome == "dropped" else None
            ids = tuple(filter(None, (part.strip() for part in match[2].split(","))))
            yield _as(
                base, kind="notice", ids=ids, outcome=outcome, address=match[1], text=why[1] if why else "", tool=ids[0]
            )


def _queued(content: str, base: ClaudeFact) -> list[ClaudeFact]:
    """Return that something which looks like a message is in the inbox: a hint, as a user may have typed it."""
    match = ARRIVED.fullmatch(content)
    if match is None:
        return []
    text = likeness(match[3].replace("<\\/", "</"))
    return [_as(base, kind="arrived", address=match[1], name=match[2] or "", text=text)]


def _held(content: str, base: ClaudeFact) -> list[ClaudeFact]:
    match = HELD.match(content)
    if match is None:
        return []
    return [_as(base, kind="held", address=match[1], pid=int(match[2][:12]), name=match[3], text=match[4])]


def likeness(text: str) -> str:
    """Return what copies of one text have in common."""
    return blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=12).hexdigest()
