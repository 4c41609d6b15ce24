"""What of an ended team's history is provably missing, said and never filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mailstore.files.salvage import UNREADABLE, loads
from mailstore.kinds.claude_teams.facts import LEAD
from mailstore.kinds.claude_teams.mail import TeamMail
from mailstore.records.message import Problem

WHERE = "transcripts"
TOLD = re.compile(r"\[to ([^\]\s]+)\] (.*)", re.DOTALL)
ANSWERS = frozenset({"shutdown_approved", "shutdown_rejected", "plan_approval_response"})
REQUESTS = frozenset({"shutdown_request", "plan_approval_request"})


def missing(mail: TeamMail) -> list[Problem]:
    """Return what is known to be missing of a team whose folder is gone."""
    said = dict.fromkeys([*_transcripts(mail), *_letters(mail)])
    return [Problem(f"{mail.team.prefix}{WHERE}", 1, 0, words, fatal=False) for words in said]


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


def _letters(mail: TeamMail) -> Iterator[str]:
    """Yield which letters others refer to that are in no file."""
    asked: set[str] = set()
    answered: dict[str, str] = {}
    told: set[tuple[str, str]] = set()
    claims: dict[tuple[str, str], str] = {}
    for seen in mail.traffic():
        entry = seen.entry
        told.add((entry.sender, entry.inbox))
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
        if (sender, recipient) not in told:
            yield f"{sender} wrote to {recipient} ({summary!r}), and the letter is in no file"
