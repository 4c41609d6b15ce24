"""The usual lines of a HAAK mailbox, decoded at once; any other is decoded with care (`decode`).

A message is usual if it gives each field once, under one of the accepted names, and as what it usually is. Both ways of
folding read these: record by record, and as columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from mailstore.files.salvage import UNREADABLE, is_text
from mailstore.haak_records.values import MESSAGE, MESSAGE_FIELDS

MOST_FORMS = 8
"""In how many forms the messages of one file may be usual: its programs write a few."""
MOST_FOREIGN = 16
Names = tuple[str, ...]


class UsualMessage(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A message with the protocol's own names of fields."""

    id: str
    sender: str
    recipient: str | Names
    timestamp: str
    content: str
    subject: str | None = None
    thread: str | None = None
    ttl_hours: float | None = None
    type: str | None = None
    tags: Names | None = None
    read_by: Names | None = None
    metadata: msgspec.Raw = msgspec.Raw()


class UsualRead(msgspec.Struct, gc=False):
    """A read record as nearly every program writes it."""

    message_id: str
    reader_session_id: str
    timestamp: str


class UsualAgent(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """An agent's line in a roster with the protocol's own names of fields; most are heartbeats."""

    session_id: str
    status: str
    name: str = ""
    role: str = ""
    tags: Names = ()
    activity: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    last_seen: str | None = None
    updated: str | None = None


READ = msgspec.json.Decoder(UsualRead)
AGENT = msgspec.json.Decoder(UsualAgent)
KEYS = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Form(NamedTuple):
    """How some programs write messages: the name of each field, foreign fields, and the decoder for both."""

    names: tuple[str, ...]
    """In the order of `MESSAGE`."""
    foreign: frozenset[str]
    decoder: msgspec.json.Decoder[UsualMessage]


OWN = Form(tuple(MESSAGE), frozenset(), msgspec.json.Decoder(UsualMessage))


@lru_cache(maxsize=64)
def _form(names: tuple[str, ...], foreign: frozenset[str]) -> Form:
    own = [
        (field.name, field.type, *(() if field.required else (field.default,)))
        for field in msgspec.structs.fields(UsualMessage)
    ]
    others = {f"foreign_{at}": name for at, name in enumerate(sorted(foreign))}
    kind = msgspec.defstruct(
        "UsualForm",
        [*own, *((each, msgspec.Raw, msgspec.Raw()) for each in others)],
        bases=(UsualMessage,),
        rename={**dict(zip(MESSAGE, names, strict=True)), **others},
        gc=False,
        forbid_unknown_fields=True,
    )
    return Form(names, foreign, msgspec.json.Decoder(kind))


def form_of(given: Iterable[str], like: Form) -> Form | None:
    """Return a form that has fields of some names, otherwise like another; None if one field is given twice."""
    given, names = frozenset(given), []
    for name, accepted in zip(like.names, MESSAGE.values(), strict=True):
        used = given.intersection(accepted)
        if len(used) > 1:
            return None
        names.append(next(iter(used), name))
    foreign = like.foreign | (given - MESSAGE_FIELDS)
    return _form(tuple(names), foreign) if len(foreign) <= MOST_FOREIGN else None


class UsualMessages:
    """Decodes the usual messages of a file, whose forms it learns; that of the last one is tried first."""

    def __init__(self) -> None:
        self._forms = [OWN]
        self._decode = OWN.decoder.decode

    def one(self, line: bytes) -> UsualMessage | None:
        """Return the message on a line, None unless it is usual."""
        if not (line.isascii() or is_text(line)) or line.endswith(b"\r"):
            return None
        try:
            return self._decode(line)
        except msgspec.ValidationError:
            pass
        except UNREADABLE:
            return None
        for form in self._others(line):
            try:
                message = form.decoder.decode(line)
            except UNREADABLE:
                continue
            self._prefer(form)
            return message
        return None

    def all(self, lines: memoryview, first: int) -> list[UsualMessage]:
        """Return the messages on some lines, the first of which has so many bytes.

        Raises ValueError and RecursionError unless all are usual, and in one form.
        """
        try:
            return self._forms[0].decoder.decode_lines(lines)
        except msgspec.ValidationError as error:
            reason = error
        for form in self._others(bytes(lines[:first])):
            try:
                messages = form.decoder.decode_lines(lines)
            except msgspec.ValidationError:
                continue
            self._prefer(form)
            return messages
        raise reason

    def _prefer(self, form: Form) -> None:
        self._forms = [form, *(it for it in self._forms if it is not form)]
        self._decode = form.decoder.decode

    def _others(self, line: bytes) -> Iterator[Form]:
        """Yield the forms other than the first, and at last that of a line if it is a new one."""
        known = self._forms
        yield from known[1:]
        if len(known) >= MOST_FORMS:
            return
        try:
            form = form_of(KEYS.decode(line), known[0])
        except UNREADABLE:
            return
        if form is not None and form not in known:
            yield form


def thread_in(line: bytes) -> str:
    """Return the id of the message that a usual message answers; empty for none."""
    message = UsualMessages().one(line)
    return (message.thread or "") if message is not None else ""


def read_id_in(line: bytes) -> str:
    """Return the id of the message that a usual read record is about."""
    return READ.decode(line).message_id
