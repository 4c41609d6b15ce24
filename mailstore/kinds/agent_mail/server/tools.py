"""Call the tools of the server: one connection for each command, every wait bounded."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from mailstore.errors import MailError, log_unexpected
from mailstore.kinds.agent_mail.server.access import ServerAccess
from mailstore.kinds.agent_mail.server.answers import BoundedTransport, ToolRefused, answer_of, failure
from mailstore.kit.secure import tls_context

CONNECT_SECONDS = 5.0
SECONDS = 20.0
"""For how long one command may take, whatever the server does."""
Found = TypeVar("Found")

for name in ("mcp", "httpx2", "httpcore2"):
    logging.getLogger(name).addHandler(logging.NullHandler())  # else their warnings are printed over the console


class ToolCalls:
    """A connection to the server."""

    def __init__(self, access: ServerAccess, client: Client, http: httpx2.AsyncClient) -> None:
        self._access = access
        self._client = client
        self._http = http
        self._tools: dict[str, str] = {}
        self.has_written = False
        """Whether a tool that writes was called and has not refused: if it fails now, what it did is not known."""

    async def described(self, tool: str) -> str | None:
        """Return what the server says of a tool; None if it doesn't list that tool."""
        if not self._tools:
            listed = await self._client.list_tools()
            self._tools = {each.name: each.description or "" for each in listed.tools}
        return self._tools.get(tool)

    async def ask(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        """Return the answer of a tool that changes nothing. Raises ToolRefused."""
        return answer_of(await self._client.call_tool(tool, arguments))

    async def write(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        """Return the answer of a tool that writes. Raises ToolRefused: then nothing was written.

        A server with few tools on its list runs the others by `call_extended_tool`.
        """
        if await self.described(tool) is None and await self.described("call_extended_tool") is not None:
            tool, arguments = "call_extended_tool", {"tool_name": tool, "arguments": arguments}
        self.has_written = True
        try:
            return answer_of(await self._client.call_tool(tool, arguments))
        except ToolRefused:
            self.has_written = False
            raise

    async def oversee(self, project: str, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a message as the server's own page for the overseer does. Raises ToolRefused."""
        self.has_written = True
        response = await self._http.post(self._access.beside(f"/mail/{project}/overseer/send"), json=message)
        if response.status_code in (400, 422, 500):
            self.has_written = False
            raise ToolRefused(str(_json(response).get("detail") or f"it answers {response.status_code}"))
        response.raise_for_status()
        return _json(response)


def with_tools(access: ServerAccess, work: Callable[[ToolCalls], Awaitable[Found]]) -> Found:
    """Return what `work` returns that is given a connection. Blocks for 20 s at most.

    Raises ServerFailed, ToolRefused, and what `work` raises.
    """
    headers = {} if access.secret is None else {"Authorization": f"Bearer {access.secret.reveal()}"}
    with ThreadPoolExecutor(1, "agent-mail") as thread:  # a loop of its own, even where another one runs
        return thread.submit(asyncio.run, _connected(access, headers, work)).result()


async def _connected(
    access: ServerAccess, headers: dict[str, str], work: Callable[[ToolCalls], Awaitable[Found]]
) -> Found:
    statuses: list[int] = []
    calls: ToolCalls | None = None

    async def note(response: httpx2.Response) -> None:
        statuses.append(response.status_code)

    tls = tls_context(access.ca_file) if access.url.startswith("https:") else None
    try:
        async with (
            asyncio.timeout(SECONDS),
            httpx2.AsyncClient(
                headers=headers,
                timeout=httpx2.Timeout(SECONDS, connect=CONNECT_SECONDS),
                transport=BoundedTransport(tls, uses_proxies=not access.is_local),
                event_hooks={"response": [note]},
            ) as http,
            Client(streamable_http_client(access.url, http_client=http), mode="legacy", cache=None) as client,
        ):
            calls = ToolCalls(access, client, http)
            return await work(calls)
    except BaseExceptionGroup as group:
        error = _first(group)
    except Exception as raised:  # whatever the library makes of what a server sends
        error = raised
    if isinstance(error, ToolRefused | MailError):
        raise error
    log_unexpected(error, "asking an Agent Mail server")
    is_uncertain = calls is not None and calls.has_written
    raise failure(error, access, statuses[-1:], is_uncertain=is_uncertain)


def _first(group: BaseExceptionGroup[Any]) -> Exception:
    """Return one error of those that ended a connection, the one that was raised first; re-raises an interruption."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            return _first(error)
        if not isinstance(error, Exception):
            raise error
        return error
    raise RuntimeError("a group of errors is never empty")


def _json(response: httpx2.Response) -> Mapping[str, Any]:
    try:
        answer = response.json()
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}
