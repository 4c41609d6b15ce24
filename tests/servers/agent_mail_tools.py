"""What the tools of MCP Agent Mail's server do to a database: called directly, or by `tests.servers.agent_mail`."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import threading
from base64 import b64encode
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path
from typing import Any

from mailstore.kinds.agent_mail.server.answers import ToolRefused
from tests.kinds.agent_mail.servers import Server

PREAMBLE = "---\n\nMESSAGE FROM HUMAN OVERSEER\n\n---\n\n"
STRICT = "Agent names MUST be randomly generated adjective+noun combinations."
OVERSEER = "HumanOverseer"
LISTED = ("register_agent", "whois", "send_message", "mark_message_read", "call_extended_tool")


IMAGE = re.compile(r"!\[[^\]]*\]\((/[^)]+)\)")


class ServedMail:
    """One database with its server's ways; `calls` are the tools that were called."""

    def __init__(self, path: Path) -> None:
        self.database = Server(path)
        self.token = secrets.token_hex(8)
        self.calls: list[str] = []
        self.lock = threading.Lock()
        self.closed: set[str] = set()
        """Agents that take mail from their contacts only."""
        self.status = 0
        """What HTTP says to every request instead of an answer, if not 0."""
        self.loses: set[str] = set()
        """Tools after whose work the connection ends instead of an answer."""

    def run(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Do what a tool does. Raises ToolRefused."""
        if tool == "call_extended_tool":
            return self.run(arguments["tool_name"], arguments["arguments"])
        with self.lock:
            self.calls.append(tool)
            done: dict[str, Any] = getattr(self, f"_{tool}")(**arguments)
            return done

    def _rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self.database.at_once() as connection:
            return connection.execute(statement, values).fetchall()

    def _slug(self, key: str) -> str:
        found = self._rows("SELECT slug FROM projects WHERE slug = ? OR human_key = ?", key, key)
        if not found:
            raise ToolRefused(f"Error calling tool 'x': Project '{key}' not found.")
        return str(found[0][0])

    def _known(self, name: str, slug: str) -> tuple[Any, ...]:
        found = self._rows(
            "SELECT agents.id, name, inception_ts FROM agents JOIN projects ON projects.id = project_id "
            "WHERE slug = ? AND name = ?",
            slug,
            name,
        )
        if not found:
            raise ToolRefused(f"Agent '{name}' not registered for project '/srv/{slug}'.")
        return found[0]

    def _register_agent(self, project_key: str, program: str, model: str, name: str, **more: str) -> dict[str, Any]:
        number = self.database.agent(name, self._slug(project_key), program=program, model=model)
        return {"id": number, "name": name}

    def _whois(self, project_key: str, agent_name: str, **more: Any) -> dict[str, Any]:
        number, name, since = self._known(agent_name, self._slug(project_key))
        return {"id": number, "name": name, "inception_ts": f"{since.replace(' ', 'T')}+00:00"}

    def _send_message(
        self,
        project_key: str,
        sender_name: str,
        to: Sequence[str],
        subject: str,
        body_md: str,
        thread_id: Any = None,
        attachment_paths: Sequence[str] | None = None,
        convert_images: bool | None = None,
    ) -> dict[str, Any]:
        slug = self._slug(project_key)
        self._known(sender_name, slug)
        if shut := self.closed & set(to):
            raise ToolRefused(f"CONTACT_REQUIRED: contact approval of {', '.join(shut)} is missing.")
        named = IMAGE.findall(body_md) if convert_images in (None, True) else []
        images = [
            {
                "type": "inline",
                "media_type": "image/webp",
                "sha1": sha1(data).hexdigest(),
                "data_base64": b64encode(data),
            }
            for data in map(_read, [*named, *(attachment_paths or ())])
        ]
        attached = json.dumps(images, default=bytes.decode)
        more = {"subject": subject, "body_md": body_md, "thread_id": thread_id, "attachments": attached}
        number = self._write(slug, sender_name, to, **more)
        return {"deliveries": [{"project": f"/srv/{slug}", "payload": {"id": number}}], "count": 1}

    def _mark_message_read(self, project_key: str, agent_name: str, message_id: int) -> dict[str, Any]:
        self.database.mark(message_id, agent_name, read=_now())
        return {"message_id": message_id, "read": True}

    def _acknowledge_message(self, project_key: str, agent_name: str, message_id: int) -> dict[str, Any]:
        self.database.mark(message_id, agent_name, read=_now(), acknowledged=_now())
        return {"message_id": message_id, "acknowledged": True}

    def oversee(self, project: str, message: Mapping[str, Any]) -> dict[str, Any]:
        """Do what the overseer's page does: it goes past contacts, and adds a preamble."""
        with self.lock:
            self.calls.append("overseer/send")
            number = self._write(
                self._slug(project),
                OVERSEER,
                message["recipients"],
                subject=message["subject"],
                body_md=PREAMBLE + message["body_md"].strip(),
                thread_id=message["thread_id"],
                importance="high",
            )
        return {"success": True, "message_id": number}

    def _write(self, slug: str, sender: str, to: Sequence[str], **fields: Any) -> int:
        return self.database.message(sender, to, project=slug, created_ts=_now(), **fields)


class DirectTools:
    """A connection to the tools without any network; `call` stands for `with_tools`."""

    def __init__(self, mail: ServedMail) -> None:
        self._mail = mail

    def call(self, access: object, work: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
        return asyncio.run(work(self))

    async def described(self, tool: str) -> str | None:
        return tool if tool in LISTED else None

    async def ask(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        return self._mail.run(tool, arguments)

    async def write(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        return self._mail.run(tool, arguments)

    async def oversee(self, project: str, message: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._mail.oversee(project, message)


def _read(path: str) -> bytes:
    return Path(path).read_bytes()


def _now() -> str:
    return f"{datetime.now(UTC).replace(tzinfo=None)}"
