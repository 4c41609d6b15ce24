"""What a team's transcripts prove about its messages, kept in the team's journal as transcripts get deleted."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import msgspec

from mailstore.errors import StoreError, reason_of
from mailstore.files.stamp import Stamp, path_stamp
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.claude_teams.facts import LEAD, Fact
from mailstore.kinds.claude_teams.sessions import Projects, TeamFile
from mailstore.kinds.claude_teams.transcript import Reached, Transcript
from mailstore.kit.team_folders.seen_journal import append_privately
from mailstore.kit.timestamps import parse_time
from mailstore.records.message import Problem

LARGEST = 1 << 30
FAR = 8 << 20
"""Bytes read without finding anything after which the place is kept."""


class _Kept(msgspec.Struct, omit_defaults=True):
    fact: Fact | None = None
    reached: Reached | None = None
    problem: Problem | None = None


KEPT = msgspec.json.Decoder(_Kept)


class TeamHistory:
    """The facts of one team's transcripts. Belongs to the thread that reads the mailbox."""

    def __init__(self, team: str, kept: Path, *, is_keeping: bool) -> None:
        self.facts: dict[tuple[str, str, int], Fact] = {}
        self.files: list[TeamFile] = []
        self.lost: list[str] = []
        """Transcripts that were read once and are no longer there."""
        self._team = team
        self._path = kept
        self._is_keeping = is_keeping
        self._reached: dict[str, Reached] = {}
        self._read: dict[str, Transcript] = {}
        self._stamps: dict[str, Stamp | None] = {}
        self._faults: dict[str, Problem] = {}
        """What can't be read or stored, by the name of the file; empty for our own."""
        self._unkept: list[_Kept] = []
        """What could not be stored yet."""
        self._problems: dict[Problem, None] = {}
        self._remember()

    def _remember(self) -> None:
        try:
            data = read_whole(self._path, LARGEST)
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, NotAFile) as error:
            self._tell_own(f"what transcripts held can't be read: {error}")
            return
        for line in filter(None, data.split(b"\n")):
            try:
                kept = KEPT.decode(line)
            except (msgspec.DecodeError, RecursionError):
                self._tell_own("a line of what transcripts held is damaged: messages of deleted ones may be missing")
            else:
                if kept.fact is not None:
                    self.facts[kept.fact.key] = kept.fact
                if kept.reached is not None:
                    self._reached[kept.reached.file] = kept.reached
                if kept.problem is not None:
                    self._problems[kept.problem] = None
        self._note_lost()

    def find(self, projects: Projects, leads: Collection[str], folders: Collection[str]) -> None:
        """Look which transcripts there are."""
        known = {*leads, *(fact.session for fact in self.facts.values())}
        self.files = projects.files(self._team, known, folders)
        self._note_lost()

    def _note_lost(self) -> None:
        there = {file.origin.file for file in self.files}
        self.lost = sorted({*self._reached, *(fact.file for fact in self.facts.values())} - there)

    def stamps(self) -> tuple[tuple[str, Stamp | None], ...]:
        """Return the stamps of the transcripts, which change when one grows."""
        return tuple((file.origin.file, path_stamp(file.path)) for file in self.files)

    def look(self) -> bool:
        """Read what came to the transcripts; return whether it proves anything new."""
        news: list[_Kept] = []
        has_news = False
        for file, (name, stamp) in zip(self.files, self.stamps(), strict=True):
            if stamp is None or self._stamps.get(name) == stamp:
                continue
            transcript = self._transcript(file)
            had = self._faults.pop(name, None)
            try:
                facts = [fact for fact in transcript.read() if self._is_ours(fact) and self._is_new(fact)]
            except (OSError, NotAFile) as error:
                self._faults[name] = Problem(name, 1, 0, reason_of(error))
                has_news = has_news or had != self._faults[name]
                continue
            has_news = has_news or had is not None
            self._stamps[name] = stamp
            damage = [problem for problem in transcript.problems if problem not in self._problems]
            self._problems.update(dict.fromkeys(damage))
            news += (_Kept(problem=problem) for problem in damage)
            self.facts.update((fact.key, fact) for fact in facts)
            news += (_Kept(fact) for fact in facts)
            if facts or damage or abs(transcript.reached.offset - self._reached.get(name, Reached(name)).offset) >= FAR:
                self._reached[name] = transcript.reached
                news.append(_Kept(reached=transcript.reached))
            has_news = has_news or bool(facts or damage)
        if self._is_keeping and (news or self._unkept):
            self._keep(news)
        return has_news

    def _transcript(self, file: TeamFile) -> Transcript:
        name = file.origin.file
        if name not in self._read:
            found = self._read[name] = Transcript(file.path, file.origin, self._reached.get(name))
            found.wait_for_answers([it for it in self.facts.values() if _is_open(it) and it.file == name])
        return self._read[name]

    def _is_ours(self, fact: Fact) -> bool:
        return fact.kind == "spawned" or fact.team in ("", self._team)

    def _is_new(self, fact: Fact) -> bool:
        """Say whether a fact is new, or known from a copy that says less of it."""
        had = self.facts.get(fact.key)
        if had is None or (not had.answered and fact.answered):
            return True
        return (
            had.owner.startswith("#") and not fact.owner.startswith("#") and bool(fact.answered) == bool(had.answered)
        )

    def _tell_own(self, reason: str) -> None:
        self._faults[""] = Problem(str(self._path), 1, 0, reason, False)

    def _keep(self, news: Iterable[_Kept]) -> None:
        self._unkept += news
        try:
            append_privately(self._path, [msgspec.json.encode(each) for each in self._unkept])
        except (OSError, StoreError) as error:
            self._tell_own(f"what transcripts held can't be stored: {error}")
        else:
            self._unkept = []

    def ended_at(self, *, any_sign: bool) -> float | None:
        """Return when the team was ended, in seconds since the epoch; with `any_sign` else its last message's time."""
        ours = [it for it in self.facts.values() if it.team in ("", self._team)]
        ended = [it for it in ours if it.kind == "ended"]
        if not ended and any_sign:
            ended = [it for it in ours if it.kind in ("sent", "spawned", "turn", "entry")]
        return max((time for it in ended if (time := parse_time(it.time)[0]) is not None), default=None)

    def members(self) -> list[dict[str, Any]]:
        """Return the agents that the transcripts show as started, as a roster lists them."""
        spawned = [it for it in self.facts.values() if it.kind == "spawned" and it.team == self._team]
        lead = [{"name": LEAD, "agentType": LEAD}] if spawned else []
        return lead + [
            {"name": it.recipients[0], "agentType": it.role, "joinedAt": it.time}
            for it in sorted(spawned, key=lambda it: it.time)
        ]

    def problems(self) -> list[Problem]:
        return [*self._problems, *self._faults.values()]


def _is_open(fact: Fact) -> bool:
    return fact.kind in ("turn", "entry") and not fact.answered
