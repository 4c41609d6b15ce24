"""The parts of a mailbox of teams: the roster, and each team's mail."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mailstore.errors import reason_of
from mailstore.files.folder import Folder, Stamp, path_stamp
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.kinds.claude_teams.copies import identity_of
from mailstore.kinds.claude_teams.facts import LEAD
from mailstore.kinds.claude_teams.mail import TeamMail
from mailstore.kinds.claude_teams.places import Team, TeamsPlace
from mailstore.kinds.claude_teams.roster import agents, named_apart, read_config
from mailstore.kinds.claude_teams.sessions import Projects, projects_beside
from mailstore.kit.team_folders.files import RosterFile, TeamFolder, members, task_stamps
from mailstore.kit.team_folders.seen_source import ROSTER, SeenSource
from mailstore.records.events import Event
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent

TRANSCRIPTS = "/transcripts"
IN_TRANSCRIPTS = "transcripts"
TOLD = re.compile(r"\[to ([^\]\s]+)\] (.*)", re.DOTALL)
ANSWERS = frozenset({"shutdown_approved", "shutdown_rejected", "plan_approval_response"})
REQUESTS = frozenset({"shutdown_request", "plan_approval_request"})


class TeamsSource(SeenSource[TeamMail]):
    """The teams, with the transcripts as the last part, which is later read with the others.

    What transcripts prove is yielded with the teams.
    """

    called = "team"
    late = (TRANSCRIPTS,)

    def __init__(self, place: TeamsPlace, *, is_keeping: bool = True) -> None:
        super().__init__(place, is_keeping=is_keeping)
        self._folders: dict[str, Folder] = {}
        self._closed: dict[str, str] = {}
        """Why the inboxes of a team can't be listed, of those that can't."""
        self._projects: Projects | None = None
        self._named: dict[str, set[str]] | None = None

    def begin(self) -> None:
        super().begin()
        self._folders = {}

    def _begun(self, team: Team) -> TeamMail:
        return TeamMail(team, is_keeping=self._is_keeping)

    def transcript_folders(self) -> list[Path]:
        """Return the folders of the transcripts of teams that run."""
        running = [mail for name, mail in list(self._mail.items()) if name not in self._gone]
        return sorted({file.path.parent for mail in running for file in mail.history.files})

    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        self._find_teams()
        if closely:
            self._find_transcripts()
        if self._named is not None:
            self._read_transcripts()
        parts: dict[str, Hashable] = {ROSTER: ()}
        facts: list[Hashable] = []
        for name, mail in self._mail.items():
            if name not in self._folders:
                self._folders[name] = Folder(mail.team.inboxes, lambda name: name.endswith(".json"))
            stamps: Mapping[str, Stamp] = {}
            self._closed.pop(name, None)
            try:
                if name not in self._gone:
                    stamps = self._folders[name].look(closely=closely or bool(mail.pending))
            except OSError as error:
                self._closed[name] = reason_of(error)
            self._listed(name, stamps)
            torn = next(self._ticks) if mail.pending or mail.is_waiting else 0
            parts[name] = (
                tuple(stamps.items()),
                torn,
                name in self._gone,
                mail.history_version,
                self._closed.get(name),
            )
            facts.append((path_stamp(mail.team.roster), task_stamps(mail.team.tasks), parts[name], mail.version))
        parts[ROSTER] = (*facts, self._named is None, self._unlisted())
        parts[TRANSCRIPTS] = ()
        return parts

    def _find_transcripts(self) -> None:
        """Look which transcripts there are of the teams that run."""
        for name, mail in self._mail.items():
            if name not in self._gone and (projects := self._beside(mail.team)) is not None:
                config = read_config(mail.team).value
                folders = {member["cwd"] for member in members(config).values() if isinstance(member.get("cwd"), str)}
                lead = config.get("leadSessionId")
                mail.history.find(projects, [lead] if isinstance(lead, str) else [], folders)

    def _beside(self, team: TeamFolder) -> Projects | None:
        if self._projects is None and (folder := projects_beside(team.folder)) is not None and folder.is_dir():
            self._projects = Projects(folder)
        return self._projects

    def _read_transcripts(self) -> None:
        """Read what came to the transcripts; the first time, find the teams that are gone by what names them."""
        if self._named is None:
            self._named = {}
            projects = self._beside(self._place.at("any"))
            if projects is not None and (self._place.is_several or self._gone):
                self._named = projects.teams()
                for name in sorted(self._named) if self._place.is_several else ():
                    if name not in self._mail:
                        self._mail[name] = self._begun(self._place.at(name))
                        self._gone.add(name)
                for name in self._gone:
                    self._mail[name].history.find(projects, self._named.get(name, set()), ())
        for mail in self._mail.values():
            mail.look_at_transcripts()

    def read(self, part: str) -> list[Event] | None:
        if part == TRANSCRIPTS:
            self._read_transcripts()
            return []
        if part != ROSTER:
            mail = self._looked(part)
            file, why = f"{mail.team.prefix}{mail.team.inboxes.name}", self._closed.get(part)
            return [*mail.events(), *([] if why is None else [Problem(file, 1, 0, why)])]
        roster = self._roster()
        return None if roster is None else [*named_apart(roster[0]), *roster[1], *self._unlisted()]

    def _roster_of(self, team: Team) -> RosterFile:
        return read_config(team)

    def _kept_roster(self, mail: TeamMail) -> dict[str, Any]:
        return {"members": mail.journal.note().members or mail.history.members()}

    def _agents(self, mail: TeamMail, roster: dict[str, Any], gone_since: float | None) -> list[Agent]:
        return agents(mail, roster, gone_since=gone_since)

    def _gone_team(self, name: str, mail: TeamMail) -> tuple[list[Agent], list[Event]]:
        if self._named is None and self._beside(mail.team) is not None:
            return [], []  # when it ended, and what is missing, is known from its transcripts
        found, problems = super()._gone_team(name, mail)
        return found, [*problems, *missing(mail)]

    def _identity(self, message: Message) -> Hashable:
        return identity_of(message)

    def _unlisted(self) -> tuple[Problem, ...]:
        return self._projects.problems() if self._projects is not None else ()


def missing(mail: TeamMail) -> list[Problem]:
    """Return what is known to be missing of a team whose folder is gone."""
    said = dict.fromkeys([*_transcripts(mail), *_messages(mail)])
    return [Problem(f"{mail.team.prefix}{IN_TRANSCRIPTS}", 1, 0, words, fatal=False) for words in said]


def _transcripts(mail: TeamMail) -> Iterator[str]:
    history = mail.history
    if count := len(history.lost):
        many = f"{count} transcripts that were read are" if count > 1 else f"the transcript {history.lost[0]} is"
        yield f"{many} gone: showing what was kept of {'them' if count > 1 else 'it'}"
    spawned = [member["name"] for member in history.members() if member["name"] != LEAD]
    there = mail.owners()
    for name in dict.fromkeys(spawned):
        if name not in there:
            yield f"no transcript of {name} is left: what reached it is not known"
    if history.facts and LEAD not in there:
        yield "no transcript of the team's lead is left: what reached it is not known"


def _messages(mail: TeamMail) -> Iterator[str]:
    """Yield which messages others refer to that are in no file."""
    asked: set[str] = set()
    answered: dict[str, str] = {}
    sent: set[tuple[str, str]] = set()
    claims: dict[tuple[str, str], str] = {}
    for seen in mail.traffic():
        entry = seen.entry
        sent.add((entry.sender, entry.inbox))
        if seen.notice is None:
            continue
        try:
            value = loads(entry.text.encode("utf-8", "replace"))
        except UNREADABLE:
            continue
        request = value.get("requestId") or value.get("request_id")
        if isinstance(request, str) and seen.notice.type in REQUESTS:
            asked.add(request)
        elif isinstance(request, str) and seen.notice.type in ANSWERS:
            answered[request] = entry.sender
        summary = value.get("summary")
        if isinstance(summary, str) and (match := TOLD.fullmatch(summary)):
            claims[entry.sender, match[1]] = match[2][:60]
    for request in answered.keys() - asked:
        yield f"{answered[request]} answered a request ({request[:60]}) that is in no file"
    for (sender, recipient), summary in claims.items():
        if (sender, recipient) not in sent:
            yield f"{sender} wrote to {recipient} ({summary!r}), and the message is in no file"
