"""What a draft is for the server: a project, a sender, names of recipients, and what it answers."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from mailstore.errors import DraftRefused
from mailstore.kinds.agent_mail.roster import OVERSEER
from mailstore.kinds.agent_mail.server.lookup import Directory, KnownMessage
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES

if TYPE_CHECKING:
    from mailstore.records.draft import Draft


class Addressed(NamedTuple):
    """The project in which a message goes, its sender, and its recipients by the names in that project."""

    project: str
    sender: str
    to: tuple[str, ...]

    @property
    def is_person(self) -> bool:
        return self.sender == OVERSEER


def addressed(draft: Draft, known: Directory, answered: KnownMessage | None) -> Addressed:
    """Return where a draft goes. Raises DraftRefused for an agent that isn't there: the server would make one up."""
    found = dict.fromkeys(named(text) for text in draft.recipients)
    sender, sent_in = named(draft.sender)
    projects = {project for name, project in found if project} | ({sent_in} if sent_in else set())
    projects |= {answered.project} if answered is not None else set()
    if len(known.projects) == 1 and not projects:
        projects = set(known.projects)
    if len(projects) != 1:
        several = " and ".join(sorted(projects))
        problem = f"names agents of {several}" if projects else "names no project"
        raise DraftRefused("to", problem, "write to the agents of one project, as NAME@PROJECT")
    (project,) = projects
    if project not in known.projects:
        raise DraftRefused("to", f'names an unknown project "{project}"', f"use {' or '.join(known.projects)}", "E432")
    to: dict[str, None] = {}
    for name, _ in found:
        names = _everybody(known, project, sender) if name in BROADCAST_NAMES else [name]
        to.update(dict.fromkeys(names))
    for field, name in (*(("to", name) for name in to), ("from", sender)):
        if name != OVERSEER:
            _check(field, name, project, known)
    if not to:
        raise DraftRefused("to", f"reaches no other agent of {project}", "name an agent", "E433")
    return Addressed(project, sender, tuple(to))


def named(text: str) -> tuple[str, str]:
    """Return the name and the project in an address; the project is empty where none is named."""
    if text in USER_NAMES:
        return OVERSEER, ""
    name, _, project = text.partition("@")
    return name, project


def _everybody(known: Directory, project: str, sender: str) -> list[str]:
    return [
        agent.name
        for agent in known.agents
        if agent.project == project and not agent.is_retired and agent.name not in (sender, OVERSEER)
    ]


def _check(field: str, name: str, project: str, known: Directory) -> None:
    agent = known.find(name, project)
    if agent is not None and not agent.is_retired:
        return
    living = _everybody(known, project, OVERSEER)
    if agent is not None:
        raise DraftRefused(
            field, f"names {name}, which is retired", f"use {' or '.join(living[:5]) or 'another'}", "E434"
        )
    near = get_close_matches(name, living, n=1)
    hint = f"did you mean {near[0]}?" if near else f"use {' or '.join(living[:5]) or 'one that is registered'}"
    raise DraftRefused(field, f'names an unknown agent "{name}"', hint, "E431")
