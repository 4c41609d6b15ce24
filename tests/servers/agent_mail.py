"""MCP Agent Mail's server on loopback, made with the official SDK: one server for the databases of many tests.

The token of a request names the database: each test has one of its own.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mailstore.kinds.agent_mail.server.answers import ToolRefused
from tests.servers.agent_mail_tools import STRICT, ServedMail

END_SECONDS = 10.0
Asked = Context[Any, Any]

for name in ("uvicorn", "mcp"):
    logging.getLogger(name).addHandler(logging.NullHandler())


class AgentMailServer:
    """Serves MCP at `url` and the overseer's page beside it, on loopback, until it is closed."""

    def __init__(self, *, is_strict: bool = False, **tls: Any) -> None:
        self._mails: dict[str, ServedMail] = {}
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._socket.getsockname()[1]}/mcp/"
        app = _app(self._mails, is_strict)
        self._server = uvicorn.Server(
            uvicorn.Config(app, log_config=None, lifespan="on", ws="none", timeout_graceful_shutdown=1, **tls)
        )
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()

    @contextmanager
    def serving(self, path: Path) -> Iterator[ServedMail]:
        """Serve a database by a token of its own."""
        mail = ServedMail(path)
        self._mails[mail.token] = mail
        try:
            yield mail
        finally:
            del self._mails[mail.token]
            mail.database.close()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(END_SECONDS)
        self._socket.close()


class Guard:
    """Lets in who has a token, and answers as the mail's server is told to."""

    def __init__(self, app: ASGIApp, mails: dict[str, ServedMail]) -> None:
        self._app = app
        self._mails = mails

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        token = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
        mail = self._mails.get(token)
        if mail is None or mail.status:
            await JSONResponse({"detail": "no"}, 401 if mail is None else mail.status)(scope, receive, send)
            return
        scope["mail"] = mail
        before = len(mail.calls)

        async def answer(message: Message) -> None:
            if mail.loses.intersection(mail.calls[before:]):
                raise ConnectionAbortedError  # the connection ends without an answer
            await send(message)

        with suppress(ConnectionAbortedError):
            await self._app(scope, receive, answer)


def _app(mails: dict[str, ServedMail], is_strict: bool) -> Starlette:
    server = MCPServer("agent-mail", log_level="CRITICAL")

    def run(ctx: Asked, tool: str, **arguments: Any) -> dict[str, Any]:
        assert ctx.headers is not None
        mail = mails[ctx.headers["authorization"].removeprefix("Bearer ")]
        try:
            return mail.run(tool, arguments)
        except ToolRefused as refused:
            raise ToolError(str(refused)) from None

    @server.tool(description=STRICT if is_strict else "Names are unique.")
    async def register_agent(
        ctx: Asked, project_key: str, program: str, model: str, name: str, task_description: str = ""
    ) -> dict[str, Any]:
        return run(ctx, "register_agent", project_key=project_key, program=program, model=model, name=name)

    @server.tool()
    async def whois(
        ctx: Asked, project_key: str, agent_name: str, include_recent_commits: bool = True
    ) -> dict[str, Any]:
        return run(ctx, "whois", project_key=project_key, agent_name=agent_name)

    @server.tool()
    async def send_message(
        ctx: Asked,
        project_key: str,
        sender_name: str,
        to: list[str],
        subject: str,
        body_md: str,
        thread_id: str | None = None,
        attachment_paths: list[str] | None = None,
        convert_images: bool | None = None,
    ) -> dict[str, Any]:
        asked: dict[str, Any] = {"subject": subject, "body_md": body_md, "thread_id": thread_id}
        asked |= {"attachment_paths": attachment_paths, "convert_images": convert_images}
        return run(ctx, "send_message", project_key=project_key, sender_name=sender_name, to=to, **asked)

    @server.tool()
    async def mark_message_read(ctx: Asked, project_key: str, agent_name: str, message_id: int) -> dict[str, Any]:
        asked = {"agent_name": agent_name, "message_id": message_id}
        return run(ctx, "mark_message_read", project_key=project_key, **asked)

    @server.tool()
    async def call_extended_tool(ctx: Asked, tool_name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return run(ctx, tool_name, **arguments)

    async def oversee(request: Request) -> JSONResponse:
        mail: ServedMail = request.scope["mail"]
        return JSONResponse(mail.oversee(request.path_params["project"], await request.json()))

    app = server.streamable_http_app(streamable_http_path="/mcp/", stateless_http=True, json_response=True)
    app.router.routes.append(Route("/mail/{project}/overseer/send", oversee, methods=["POST"]))
    app.user_middleware.append(Middleware(Guard, mails=mails))
    return app
