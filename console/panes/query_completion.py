"""Candidates for the part of a query that is being typed: fields, their values, agents, channels."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from console.session import Session
from console.widgets.offers import Candidate, fitting
from mailstore.queries.language.fields import FIELDS, KNOWN_TYPES, SYNTAX, TIMES, FieldHelp
from mailstore.records.roster import Agent

BREAK = re.compile(r"""[\s()"]""")
SEPARATOR = " · "
HELP = "?"
"""What is typed to read what can be written, as in an empty search bar."""


class Completing(Struct, frozen=True):
    """What can be written at the end of a query: candidates for its last part, which begins at `start`.

    The values of candidates are what that part becomes. `is_help` says that they explain the language, one by one.
    """

    start: int
    candidates: Sequence[Candidate] = ()
    is_help: bool = False


def completing(text: str, session: Session) -> Completing:
    """Return the candidates for the last part of a query, the nearest first."""
    if text.strip() in ("", HELP):
        return Completing(0, _language(session), is_help=True)
    start = max((match.end() for match in BREAK.finditer(text)), default=0)
    part = text[start:]
    if (text.count('"') % 2) == 1 or not part.lstrip("-"):
        return Completing(start)
    start += len(part) - len(part.lstrip("-"))
    part = part.lstrip("-")
    name, colon, typed = part.partition(":")
    if colon:
        field = next((field for field in FIELDS if field.name == name.casefold()), None)
        candidates = _fitting(_values(field, session), typed) if field is not None else []
        return Completing(start + len(name) + 1, candidates)
    if part[0] in "#@" and part[1:]:
        candidates = _channels(session) if part[0] == "#" else [_mention(agent) for agent in _agents(session)]
        return Completing(start, _fitting(candidates, part))
    names = [_field(field) for field in FIELDS if _is_there(field, session) and field.name.startswith(part.casefold())]
    return Completing(start, names if part[0].isalpha() else ())


def _fitting(candidates: list[Candidate], typed: str) -> list[Candidate]:
    """Return the values that fit, all of them before anything is typed; none where it is written already."""
    word = typed.casefold()
    near = (
        [
            candidate
            for candidate in fitting(candidates, typed)
            if word in f"{candidate.value}{_told(candidate)}".casefold()
        ]
        if typed
        else candidates
    )
    return [] if [candidate.value for candidate in near] == [typed] else near


def _told(candidate: Candidate) -> str:
    """Return the part of a hint by which a candidate is found too: an agent's role, not its state."""
    return candidate.hint.partition(SEPARATOR)[2]


def _language(session: Session) -> list[Candidate]:
    syntax = [Candidate(entry.text, entry.meaning) for entry in SYNTAX]
    fields = [Candidate(field.example, field.meaning) for field in FIELDS if _is_there(field, session)]
    return [*fields, *syntax]


def _is_there(field: FieldHelp, session: Session) -> bool:
    return field.name != "store" or bool(session.mailbox.mailboxes())


def _field(field: FieldHelp) -> Candidate:
    return Candidate(f"{field.name}:", f"{field.example} · {field.meaning}")


def _values(field: FieldHelp, session: Session) -> list[Candidate]:
    mailbox = session.mailbox
    if field.values:
        return [Candidate(value.text, value.meaning) for value in field.values]
    match field.name:
        case "from":
            return [Candidate(mailbox.user, "you"), *_roles(session), *_agents(session)]
        case "to":
            every = Candidate("all", "every living agent")
            return [Candidate(mailbox.user, "you"), *_channels(session), *_roles(session), *_agents(session), every]
        case "tag":
            return _channels(session)
        case "role":
            return _roles(session)
        case "type":
            return [Candidate(kind) for kind in KNOWN_TYPES]
        case "store":
            return [Candidate(label) for label in mailbox.mailboxes()]
    if field.value in ("TIME", "DAY"):
        return [
            Candidate(value_help.text, value_help.meaning)
            for value_help in TIMES
            if field.value == "TIME" or value_help.text[0] in "yl"
        ]
    return []


def _agents(session: Session) -> list[Candidate]:
    roster = session.mailbox.roster
    return [Candidate(_quoted(agent.session_id), _about(agent)) for agent in roster]


def _about(agent: Agent) -> str:
    return f"{agent.status.value}{SEPARATOR}{agent.role}" if agent.role else agent.status.value


def _roles(session: Session) -> list[Candidate]:
    return [Candidate(_quoted(role), "role") for role in session.mailbox.roster.roles()]


def _channels(session: Session) -> list[Candidate]:
    mailbox = session.mailbox
    return [
        Candidate(_quoted(mailbox.label(channel.tag)), f"{channel.tag}{SEPARATOR}{channel.messages}")
        for channel in mailbox.channels()
    ]


def _mention(agent: Candidate) -> Candidate:
    return Candidate(f"@{agent.value}", agent.hint)


def _quoted(name: str) -> str:
    return f'"{name}"' if BREAK.search(name) else name
