"""What a line of a session's transcript, or a row of its program's database, proves about agents and messages."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec

from mailstore.kit.transcripts.transcript import Reached, Transcript


class SessionFact(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What is proven, about one session; `time` as it is written.

    `kind` is
        `began`     there is the session: `name` is what it is called, `other` the session that started it
        `call`      it called a tool that may write to another: `id` of the call, its `text`, `name` of the tool
        `told`      it wrote to `other`
        `refused`   it wrote to `other`, and the program refused that: `name` says why
        `given`     the session was given a text by another: with the `id` of the row, if it was queued
        `answered`  the session was given what the subagent `other` answered, or will be
        `took`      the session was given all that the subagent `other` had answered before
        `queued`    a text waits for the session
        `turn`      a turn began that took what was queued
        `sending`   a text for the session is about to come from here: `name` is who wrote it
        `sent`      it has come, and its message is `id`
    """

    kind: str
    file: str
    offset: int
    length: int
    session: str
    time: str
    id: str = ""
    name: str = ""
    other: str = ""
    text: str = ""
    folder: str = ""
    branch: str = ""
    version: str = ""
    reply: str = ""
    """Of an answer, the `id` of what its subagent had been given, or of the call that it ends; empty if unknown."""

    @property
    def key(self) -> tuple[str, ...]:
        """Return the identity of what the line says."""
        return self.kind, self.session, self.id or self.time, self.other

    def but(self, **changes: Any) -> SessionFact:
        """Return the same with other fields."""
        return msgspec.structs.replace(self, **changes)


class SessionFile(NamedTuple):
    """A transcript of a session, and its name as it is shown."""

    place: str
    name: str
    session: str
    parent: str = ""

    @property
    def path(self) -> Path:
        return Path(self.place)


class SessionTranscript(Transcript[SessionFact]):
    """A transcript that is read for what its session told others; `known` are the facts that it had proved before."""

    marks: ClassVar[tuple[bytes, ...]] = ()

    def __init__(self, file: SessionFile, reached: Reached | None, known: Iterable[SessionFact]) -> None:
        super().__init__(file.path, file.name, reached)
        self.session = file.session
        self.parent = file.parent
        self.restart()
        for fact in known:
            self.remember(fact)

    def begin(self) -> None:
        super().begin()
        self.restart()

    def facts_in(self, line: bytes, offset: int) -> Iterable[SessionFact]:
        return ()

    def restart(self) -> None:
        """Forget what later lines refer to."""

    def remember(self, fact: SessionFact) -> None:
        """Keep what later lines refer to."""

    def fact(self, kind: str, offset: int, line: bytes, time: str, **more: Any) -> SessionFact:
        """Return a fact that a line of this transcript proves."""
        return SessionFact(kind, self.file, offset, len(line), time=time, **{"session": self.session, **more})
