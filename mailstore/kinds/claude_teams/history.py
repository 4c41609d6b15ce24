"""What a team's transcripts prove about its messages, kept in the team's journal as transcripts get deleted."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from mailstore.kinds.claude_teams.facts import LEAD, MARKS, Fact, TranscriptOrigin, fact_in, is_answer
from mailstore.kinds.claude_teams.sessions import Projects, TeamFile
from mailstore.kit.timestamps import parse_time
from mailstore.kit.transcripts.history import TranscriptHistory
from mailstore.kit.transcripts.transcript import HEAD, Reached, Transcript

ANSWER = b'"type":"assistant"'


class _Link(msgspec.Struct):
    uuid: str = ""
    timestamp: str = ""
    parent: str | None = msgspec.field(default=None, name="parentUuid")


LINK = msgspec.json.Decoder(_Link)


class TeamTranscript(Transcript[Fact]):
    """A transcript of a team's session, and what its model answered."""

    marks: ClassVar[tuple[bytes, ...]] = MARKS

    def __init__(self, path: Path, origin: TranscriptOrigin, reached: Reached | None = None) -> None:
        super().__init__(path, origin.file, reached)
        self.origin = origin
        self._unanswered: list[Fact] = []

    def wait_for_answers(self, facts: Sequence[Fact]) -> None:
        """Take in what was given to the model and not answered when the file was read last."""
        self._unanswered += facts

    def marks_now(self) -> tuple[bytes, ...]:
        return (*MARKS, ANSWER) if self._unanswered else MARKS

    def begin(self) -> None:
        super().begin()
        self._unanswered = []

    def facts_in(self, line: bytes, offset: int) -> Iterable[Fact]:
        """Return what a line proves, and what it answers. Raises ValueError."""
        facts = fact_in(line, offset, self.origin) if any(mark in line for mark in MARKS) else []
        answered: list[Fact] = []
        if self._unanswered and ANSWER in line and (time := is_answer(line)):
            answered = [msgspec.structs.replace(fact, answered=time) for fact in self._unanswered]
            self._unanswered = []
        self._unanswered += (fact for fact in facts if fact.kind in ("turn", "entry"))
        return [*answered, *facts]

    def facts_at_end(self, fd: int, offset: int) -> list[Fact]:
        return link_in(fd, offset, self.origin) if not self.origin.owner and self.origin.agent else []


def link_in(fd: int, end: int, origin: TranscriptOrigin) -> list[Fact]:
    """Return which transcript a nameless one continues: releases that write no names begin a new one for each turn."""
    first = os.pread(fd, HEAD, 0).partition(b"\n")[0]
    last = os.pread(fd, HEAD, max(0, end - HEAD))[: min(HEAD, end)].rstrip(b"\n").rpartition(b"\n")[2]
    try:
        before, after = LINK.decode(first), LINK.decode(last)
    except (msgspec.DecodeError, RecursionError):
        return []
    if not after.uuid:
        return []
    owner = f"#{origin.agent}"
    where = (origin.file, 0, len(first), origin.session, owner, after.timestamp)
    return [Fact("link", after.uuid, *where, text=before.parent or "")]


class TeamHistory(TranscriptHistory[Fact]):
    """The facts of one team's transcripts. Belongs to the thread that reads the mailbox."""

    fact_type: ClassVar[type[Any]] = Fact
    files: list[TeamFile]

    def __init__(self, team: str, kept: Path, *, is_keeping: bool) -> None:
        super().__init__(kept, is_keeping=is_keeping)
        self._team = team

    def find(self, projects: Projects, leads: Collection[str], folders: Collection[str]) -> None:
        """Look which transcripts there are."""
        known = {*leads, *(fact.session for fact in self.facts.values())}
        self.files = projects.files(self._team, known, folders)
        self.note_lost()

    def begun(self, file: TeamFile, reached: Reached | None) -> TeamTranscript:
        team_transcript = TeamTranscript(file.path, file.origin, reached)
        team_transcript.wait_for_answers(
            [fact for fact in self.facts.values() if _is_open(fact) and fact.file == file.name]
        )
        return team_transcript

    def is_news(self, fact: Fact) -> bool:
        """Say whether a fact is the team's, and new or known from a copy that says less of it."""
        if fact.kind != "spawned" and fact.team not in ("", self._team):
            return False
        had = self.facts.get(fact.key)
        if had is None or (not had.answered and fact.answered):
            return True
        return (
            had.owner.startswith("#") and not fact.owner.startswith("#") and bool(fact.answered) == bool(had.answered)
        )

    def ended_at(self, *, any_sign: bool) -> float | None:
        """Return when the team was ended, in seconds since the epoch; with `any_sign` else its last message's time."""
        ours = [fact for fact in self.facts.values() if fact.team in ("", self._team)]
        ended = [fact for fact in ours if fact.kind == "ended"]
        if not ended and any_sign:
            ended = [fact for fact in ours if fact.kind in ("sent", "spawned", "turn", "entry")]
        return max((time for fact in ended if (time := parse_time(fact.time)[0]) is not None), default=None)

    def members(self) -> list[dict[str, Any]]:
        """Return the agents that the transcripts show as started, as a roster lists them."""
        spawned = [fact for fact in self.facts.values() if fact.kind == "spawned" and fact.team == self._team]
        lead = [{"name": LEAD, "agentType": LEAD}] if spawned else []
        return lead + [
            {"name": it.recipients[0], "agentType": it.role, "joinedAt": it.time}
            for it in sorted(spawned, key=lambda fact: fact.time)
        ]


def _is_open(fact: Fact) -> bool:
    return fact.kind in ("turn", "entry") and not fact.answered
