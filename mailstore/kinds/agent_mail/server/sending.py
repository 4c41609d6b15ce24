"""Send a message, or mark one, through the server's tools, and find that in the database that the server writes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from mailstore.errors import DraftRefused, StoreError, reason_of
from mailstore.files.whole import open_regular
from mailstore.kinds.agent_mail import tables as ask
from mailstore.kinds.agent_mail.roster import OVERSEER
from mailstore.kinds.agent_mail.server import lookup
from mailstore.kinds.agent_mail.server.access import TABLE, ServerAccess
from mailstore.kinds.agent_mail.server.answers import ServerFailed, ToolRefused
from mailstore.kinds.agent_mail.server.lookup import Directory, KnownMessage, ServedDatabase
from mailstore.kinds.agent_mail.server.tools import ToolCalls, with_tools
from mailstore.kit.bodies import first_line
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES

if TYPE_CHECKING:
    import sqlite3

    from mailstore.records.draft import Draft
IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
MOST_BYTES = 32 << 20
APPEARS_SECONDS = 5.0
UNKNOWN_SECONDS = 2.0
PERSON = {
    "program": "signalbox",
    "model": "human",
    "task_description": "Human operator providing guidance and oversight to agents",
}
READ, ACKNOWLEDGE = "mark_message_read", "acknowledge_message"
STAYS = {READ: "mail stays unread by its system", ACKNOWLEDGE: "nothing was acknowledged"}


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


class MessageSender:
    """Sends messages by way of the server that has the database."""

    def __init__(self, mail: ServedDatabase, access: ServerAccess) -> None:
        self._mail = mail
        self._access = access

    def send(self, draft: Draft) -> int:
        """Send a draft; return the number of the message once it is in the database. Raises StoreError, DraftRefused.

        If the answer to a message gets lost on the way, the database tells whether it was sent.
        """
        draft = draft.model_copy(update={"attachments": images_to_send(draft.attachments, self._access)})
        answered = self._answered(draft)
        known = self._mail.look(lookup.directory)
        message = addressed(draft, known, answered)
        last = self._mail.look(lookup.last_message)
        try:
            sent = with_tools(self._access, lambda tools: self._send(tools, draft, message, known, answered))
        except ToolRefused as refused:
            raise StoreError(
                f"the server refuses the message ({refused.quoted})", "change it, then send again", "E441"
            ) from None
        except ServerFailed as failed:
            if not failed.is_uncertain:
                raise
            written = self._mail.wait_for(
                lambda mail: lookup.written_since(
                    mail, last, message.sender, message.project, draft.subject, draft.content
                ),
                UNKNOWN_SECONDS,
            )
            if written is None:
                raise StoreError(
                    f"{failed.problem}; whether the message was sent is not known",
                    "look for it before you send it again",
                    "E442",
                ) from None
            return written
        if self._mail.wait_for(lambda mail: _is_there(mail, sent), APPEARS_SECONDS) is None:
            raise StoreError(
                f"the server at {self._access.host} took message {sent}, which is not in {self._mail.name}",
                f"check url in [{TABLE}]: another server's database?",
                "E438",
            )
        return sent

    def _answered(self, draft: Draft) -> KnownMessage | None:
        if draft.thread is None:
            return None
        thread = draft.thread
        message = self._mail.look(lambda mail: lookup.known_message(mail, thread))
        if message is None:
            raise StoreError(f"message {thread} is not in {self._mail.name}", "check whether it was deleted", "E439")
        return message

    async def _send(
        self, tools: ToolCalls, draft: Draft, message: Addressed, known: Directory, answered: KnownMessage | None
    ) -> int:
        await self._mail.check_server(tools, known, message.to[0], message.project)
        if (
            message.is_person
            and message.project not in known.overseen
            and not await self._register(tools, message, known)
        ):
            return await self._oversee(tools, draft, message, answered)
        try:
            return await self._send_by_tool(tools, draft, message, answered)
        except ToolRefused as refused:
            if not (refused.is_about_contact and message.is_person):
                raise
        # whom an agent lets write to it is no matter for the user: the server's own page goes past that too
        return await self._oversee(tools, draft, message, answered)

    async def _send_by_tool(
        self, tools: ToolCalls, draft: Draft, message: Addressed, answered: KnownMessage | None
    ) -> int:
        more: dict[str, Any] = {"attachment_paths": list(draft.attachments)} if draft.attachments else {}
        if "![" in draft.content:
            more["convert_images"] = False  # else the server attaches whatever image of its machine a text names
        if answered is not None:
            more["thread_id"] = answered.label or str(answered.id)
        answer = await tools.write(
            "send_message",
            project_key=message.project,
            sender_name=message.sender,
            to=list(message.to),
            subject=draft.subject or _subject(answered),
            body_md=draft.content,
            **more,
        )
        return _number(answer)

    async def _oversee(self, tools: ToolCalls, draft: Draft, message: Addressed, answered: KnownMessage | None) -> int:
        """Send by the server's page for the overseer, which registers the user and adds a preamble of its own."""
        if draft.attachments:
            raise StoreError(
                "this server takes the user's messages by its own page only, and no files there",
                "send it without files, and name in the text where they are",
                "E448",
            )
        return _number(
            await tools.oversee(
                message.project,
                {
                    "recipients": list(message.to),
                    "subject": draft.subject or first_line(draft.content),
                    "body_md": draft.content,
                    "thread_id": None if answered is None else answered.label or str(answered.id),
                },
            )
        )

    async def _register(self, tools: ToolCalls, message: Addressed, known: Directory) -> bool:
        """Register the user in a project; return False where the server gives agents names of its own choice."""
        if known.overseen and known.has_global_names:
            home = " and ".join(sorted(known.overseen))
            raise StoreError(
                f"{OVERSEER} is registered in {home}, and this server knows each name once",
                f"write to agents of {home}, or to {message.project} on the server's own page",
                "E440",
            )
        if "MUST be" in (await tools.described("register_agent") or ""):
            return False
        answer = await tools.write("register_agent", project_key=message.project, name=OVERSEER, **PERSON)
        return answer.get("name") == OVERSEER


def _is_there(mail: sqlite3.Connection, number: int) -> bool | None:
    return bool(ask.some_messages(mail, [number])) or None


def _subject(answered: KnownMessage | None) -> str:
    """Return the subject of a message that has none of its own: for an answer, the one that the server gives it."""
    if answered is None or answered.subject[:3].lower() == "re:":
        return answered.subject if answered is not None else ""
    return f"Re: {answered.subject}"


def images_to_send(paths: Sequence[str], access: ServerAccess) -> tuple[str, ...]:
    """Return the absolute paths of files that the server is to read. Raises DraftRefused.

    It takes images only, and those of its own machine (docs/formats/agent-mail.md#attachments).
    """
    if paths and not access.is_local:
        raise DraftRefused(
            "attach", f"names files of this machine, and the server is {access.host}", "name them in the text", "E445"
        )
    for path in paths:
        name = os.path.basename(path)  # noqa: PTH119 - any text
        try:
            fd = open_regular(path)
        except (OSError, ValueError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else "no such path"
            raise DraftRefused(
                "attach", f"names {name}, which can't be read ({reason})", f"check {path}", "E452"
            ) from error
        with os.fdopen(fd, "rb") as file:
            size, head = os.fstat(fd).st_size, file.read(12)
        if not head.startswith(IMAGES) and (head[:4], head[8:]) != (b"RIFF", b"WEBP"):
            raise DraftRefused(
                "attach",
                f"names {name}, which is not a PNG, JPEG, GIF or WebP image",
                "this server takes images only",
                "E446",
            )
        if size > MOST_BYTES:
            raise DraftRefused(
                "attach", f"names {name}, of more than {MOST_BYTES >> 20} MiB", "send a smaller one", "E447"
            )
    return tuple(os.path.abspath(path) for path in paths)  # noqa: PTH100 - as it is named, not where it leads


def _number(value: Any) -> int:
    """Return the number of a sent message from what a tool answers. Raises ValueError."""
    for each in (value, *(one.get("payload") for one in value.get("deliveries", ()) if isinstance(one, dict))):
        if isinstance(each, dict) and isinstance(number := each.get("id", each.get("message_id")), int):
            return number
    raise ValueError("its answer names no message")


def mark(mail: ServedDatabase, access: ServerAccess, tool: str, reader: str, message_ids: Sequence[str]) -> int:
    """Mark messages for one of their recipients; return how many were not marked yet. Raises StoreError."""
    name, _ = named(reader)

    def due_in(database: sqlite3.Connection) -> list[KnownMessage]:
        messages = (lookup.known_message(database, each) for each in dict.fromkeys(message_ids))
        return [message for message in messages if message is not None and name in _waits_for(message, tool)]

    due = mail.look(due_in)
    if not due:
        return 0
    known = mail.look(lookup.directory)

    async def mark_all(tools: ToolCalls) -> None:
        await mail.check_server(tools, known, name, due[0].project)
        for known_message in due:
            await tools.write(tool, project_key=known_message.project, agent_name=name, message_id=known_message.id)

    try:
        with_tools(access, mark_all)
    except ToolRefused as refused:
        raise StoreError(f"the server refuses to mark mail ({refused.quoted})", "look at its log", "E436") from None
    except ServerFailed as failed:
        raise StoreError(f"{STAYS[tool]}, as {failed.problem}", failed.remedy, "E437") from None
    if mail.wait_for(lambda database: not due_in(database) or None, APPEARS_SECONDS) is None:
        raise StoreError(f"the server's marks do not appear in {mail.name}", f"check url in [{TABLE}]", "E435")
    return len(due)


def _waits_for(message: KnownMessage, tool: str) -> frozenset[str]:
    return message.unacknowledged_by if tool == ACKNOWLEDGE else message.unread_by
