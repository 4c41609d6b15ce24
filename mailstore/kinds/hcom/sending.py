"""Send by the program hcom, which alone writes its database (docs/formats/hcom.md#writing)."""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path
from typing import Annotated

import msgspec

from mailstore.errors import DraftRefused, StoreError, reason_of
from mailstore.files.bounded_program import OutOfBounds
from mailstore.files.database import Unreadable
from mailstore.kinds.hcom import tables as ask
from mailstore.kinds.hcom.decode import BIGBOSS, UnreadableEvent, message_of, number_in
from mailstore.kinds.hcom.feed import message_at
from mailstore.kinds.hcom.places import DATABASE
from mailstore.kinds.hcom.roster import full_name
from mailstore.kit.own_program import installed, run
from mailstore.kit.tables import look, look_before_writing, text_of
from mailstore.records.draft import Draft
from mailstore.records.message import Message
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES

PROGRAM = "hcom"
INTENTS = ("request", "inform", "ack")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(?::[A-Za-z0-9]+)?")
LABEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
PERSON = (*USER_NAMES, BIGBOSS)
OWN_IDENTITY = "HCOM_"
"""The beginning of variables by which the program takes its caller for an agent."""


class SentEvent(msgspec.Struct, frozen=True):
    """The program's answer."""

    event_id: Annotated[int, msgspec.Meta(ge=1, le=1 << 62)]


def why_not_sent() -> str:
    """Return why nothing can be sent; empty if the program is installed."""
    return "" if installed(PROGRAM) else "only the program hcom writes there, and it is not installed"


def send(database: Path, draft: Draft) -> Message:
    """Send a message from the user; return it as the log has it. Raises DraftRefused and StoreError."""
    if draft.sender not in PERSON:
        raise DraftRefused("from", f"{draft.sender!r} is not the user", "agents send with hcom themselves", "E532")
    if draft.type and draft.type not in INTENTS:
        raise DraftRefused("type", f"{draft.type!r} is not an intent", f"use one of {', '.join(INTENTS)}", "E479")
    if draft.type == "ack" and draft.thread is None:
        raise DraftRefused("type", "'ack' acknowledges a message", "reply to that message", "E480")
    words = look_before_writing(database, lambda mail: _words(mail, draft), "nothing was sent")
    number = _run(database, words, draft.content)
    try:
        return look(database, lambda mail: message_at(mail, number, database.name))
    except (OSError, Unreadable, UnreadableEvent, LookupError) as error:
        raise StoreError(f"hcom sent message {number}, which can't be read back", reason_of(error), "E484") from error


def _words(mail: sqlite3.Connection, draft: Draft) -> list[str]:
    """Return the arguments for a draft. Names come from the table, so that none can be an option."""
    words = ["send", "-b", "--json"]
    words += [f"@{name}" for name in _recipients(mail, draft)]
    if draft.type:
        words += ["--intent", draft.type]
    if draft.thread is not None:
        number, mark = number_in(draft.thread)
        rows = ask.some_messages(mail, [number]) if mark in ("", ask.mark(mail)) else []
        if not rows:
            raise DraftRefused(
                "thread", f"{draft.thread!r} is not in the log", "reply to a message that is there", "E485"
            )
        words += ["--reply-to", str(number)]
        label = _label(rows[0])
        words += ["--thread", label] if label else []
    return words


def _label(row: ask.EventRow) -> str:
    """Return the label of a message's thread, if the program takes it."""
    try:
        label = message_of(row).label
    except UnreadableEvent:
        return ""
    return label if LABEL.fullmatch(label) else ""


def _recipients(mail: sqlite3.Connection, draft: Draft) -> list[str]:
    """Return the names of connected agents. Raises DraftRefused for any other."""
    known: dict[str, str] = {}
    for row in ask.instances(mail):
        name = text_of(row["name"])
        if NAME.fullmatch(name):
            known.setdefault(full_name(name, text_of(row["tag"])), name)
            known[name] = name
    found: dict[str, None] = {}
    for recipient in draft.recipients:
        if recipient in BROADCAST_NAMES:
            # named one by one, because hcom takes any @name in the text of a broadcast for its recipient
            found.update(dict.fromkeys(known.values()))
        elif recipient in PERSON:
            raise DraftRefused("to", "names yourself", "hcom delivers to agents only", "E486")
        elif recipient.removeprefix("@") in known:
            found[known[recipient.removeprefix("@")]] = None
        else:
            names = ", ".join(dict.fromkeys(known.values())) or "none"
            raise DraftRefused("to", f"{recipient!r} is not connected", f"connected agents: {names}", "E502")
    if not found:
        raise DraftRefused("to", "reaches no agent, as none is connected", "send once one is", "E481")
    return list(found)


def _run(database: Path, words: list[str], content: str) -> int:
    """Run the program with a text as its input; return the number of the message. Raises StoreError."""
    program = installed(PROGRAM)
    if not program:
        raise StoreError("hcom is not installed", "install it to send", "E482")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OWN_IDENTITY)}
    environment["HCOM_DIR"] = str(database.parent)
    try:
        status, answer, complaint = run([program, *words], database.parent, environment, content)
    except OutOfBounds as error:
        raise StoreError(f"hcom {error}", "look whether the message is there", "E500") from error
    except OSError as error:
        raise StoreError(f"{program} can't be run", f"{error.strerror}; nothing was sent", "E501") from error
    if status == 0:
        for line in reversed(answer.splitlines()):
            try:
                return msgspec.json.decode(line, type=SentEvent).event_id
            except (msgspec.DecodeError, RecursionError):
                continue
        raise StoreError(f"hcom did not say which message it sent in {DATABASE}", "look whether it is there", "E483")
    words_of = (complaint or answer).strip().splitlines() or [f"it ended with status {status}"]
    raise StoreError("hcom refused the message", words_of[0].removeprefix("Error: ")[:300], "E478")
