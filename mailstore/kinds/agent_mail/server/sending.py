"""Send a message through the server's tools, and find it in the database that the server writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mailstore.errors import StoreError
from mailstore.kinds.agent_mail import tables as ask
from mailstore.kinds.agent_mail.roster import OVERSEER
from mailstore.kinds.agent_mail.server import lookup
from mailstore.kinds.agent_mail.server.access import TABLE, ServerAccess
from mailstore.kinds.agent_mail.server.addressing import Addressed, addressed
from mailstore.kinds.agent_mail.server.answers import ToolRefused
from mailstore.kinds.agent_mail.server.failures import ServerFailed
from mailstore.kinds.agent_mail.server.served import ServedDatabase
from mailstore.kinds.agent_mail.server.tools import ToolCalls, with_tools
from mailstore.kit.bodies import first_line

if TYPE_CHECKING:
    import sqlite3

    from mailstore.kinds.agent_mail.server.lookup import Directory, KnownMessage
    from mailstore.records.draft import Draft

APPEARS_SECONDS = 5.0
UNKNOWN_SECONDS = 2.0
PERSON = {
    "program": "signalbox",
    "model": "human",
    "task_description": "Human operator providing guidance and oversight to agents",
}


class LetterSender:
    """Sends messages by way of the server that has the database."""

    def __init__(self, mail: ServedDatabase, access: ServerAccess) -> None:
        self._mail = mail
        self._access = access

    def send(self, draft: Draft) -> int:
        """Send a draft; return the number of the message once it is in the database. Raises StoreError, DraftRefused.

        If the answer to a letter gets lost on the way, the database tells whether it was sent.
        """
        answered = self._answered(draft)
        known = self._mail.look(lookup.directory)
        letter = addressed(draft, known, answered)
        last = self._mail.look(lookup.last_message)
        try:
            sent = with_tools(self._access, lambda tools: self._send(tools, draft, letter, known, answered))
        except ToolRefused as refused:
            raise StoreError(
                f"the server refuses the message ({refused.quoted})", "change it, then send again"
            ) from None
        except ServerFailed as failed:
            if not failed.is_uncertain:
                raise
            found = self._mail.wait_for(
                lambda mail: lookup.written_since(
                    mail, last, letter.sender, letter.project, draft.subject, draft.content
                ),
                UNKNOWN_SECONDS,
            )
            if found is None:
                raise StoreError(
                    f"{failed.problem}; whether the message was sent is not known",
                    "look for it before you send it again",
                ) from None
            return found
        if self._mail.wait_for(lambda mail: _is_there(mail, sent), APPEARS_SECONDS) is None:
            raise StoreError(
                f"the server at {self._access.host} took message {sent}, which is not in {self._mail.name}",
                f"check url in [{TABLE}]: another server's database?",
            )
        return sent

    def _answered(self, draft: Draft) -> KnownMessage | None:
        if draft.thread is None:
            return None
        thread = draft.thread
        found = self._mail.look(lambda mail: lookup.known_message(mail, thread))
        if found is None:
            raise StoreError(f"message {thread} is not in {self._mail.name}", "check whether it was deleted")
        return found

    async def _send(
        self, tools: ToolCalls, draft: Draft, letter: Addressed, known: Directory, answered: KnownMessage | None
    ) -> int:
        await self._mail.check_server(tools, known, letter.to[0], letter.project)
        if letter.is_person and letter.project not in known.overseen and not await self._register(tools, letter, known):
            return await self._oversee(tools, draft, letter, answered)
        try:
            return await self._send_by_tool(tools, draft, letter, answered)
        except ToolRefused as refused:
            if not (refused.is_about_contact and letter.is_person):
                raise
        # whom an agent lets write to it is no matter for the person: the server's own page goes past that too
        return await self._oversee(tools, draft, letter, answered)

    async def _send_by_tool(
        self, tools: ToolCalls, draft: Draft, letter: Addressed, answered: KnownMessage | None
    ) -> int:
        common: dict[str, Any] = {
            "project_key": letter.project,
            "sender_name": letter.sender,
            "to": list(letter.to),
            "body_md": draft.content,
        }
        if answered is not None and _is_plain_reply(draft.subject, answered.subject):
            return _number(await tools.write("reply_message", message_id=answered.id, **common))
        label = {} if answered is None else {"thread_id": answered.label or str(answered.id)}
        return _number(await tools.write("send_message", subject=draft.subject, **common, **label))

    async def _oversee(self, tools: ToolCalls, draft: Draft, letter: Addressed, answered: KnownMessage | None) -> int:
        """Send by the server's page for the overseer, which registers the person and adds a preamble of its own."""
        return _number(
            await tools.oversee(
                letter.project,
                {
                    "recipients": list(letter.to),
                    "subject": draft.subject or first_line(draft.content),
                    "body_md": draft.content,
                    "thread_id": None if answered is None else answered.label or str(answered.id),
                },
            )
        )

    async def _register(self, tools: ToolCalls, letter: Addressed, known: Directory) -> bool:
        """Register the person in a project; return False where the server gives agents names of its own choice."""
        if known.overseen and known.has_global_names:
            home = " and ".join(sorted(known.overseen))
            raise StoreError(
                f"{OVERSEER} is registered in {home}, and this server knows each name once",
                f"write to agents of {home}, or to {letter.project} on the server's own page",
            )
        if "MUST be" in (await tools.described("register_agent") or ""):
            return False
        found = await tools.write("register_agent", project_key=letter.project, name=OVERSEER, **PERSON)
        return found.get("name") == OVERSEER


def _is_there(mail: sqlite3.Connection, number: int) -> bool | None:
    return bool(ask.some_messages(mail, [number])) or None


def _is_plain_reply(subject: str, answered: str) -> bool:
    """Say whether a subject is the one that the server gives a reply."""
    return not subject or subject in ((answered,) if answered[:3].lower() == "re:" else (f"Re: {answered}",))


def _number(found: Any) -> int:
    """Return the number of a sent message from what a tool answers. Raises ValueError."""
    for each in (found, *(one.get("payload") for one in found.get("deliveries", ()) if isinstance(one, dict))):
        if isinstance(each, dict) and isinstance(number := each.get("id", each.get("message_id")), int):
            return number
    raise ValueError("its answer names no message")
