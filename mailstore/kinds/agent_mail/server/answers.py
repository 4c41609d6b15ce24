"""What the server answers: a tool's record, why it refused, or why it could not be talked to and how to fix that."""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import httpx2
import msgspec

from mailstore.errors import StoreError
from mailstore.kinds.agent_mail.server.access import TABLE, ServerAccess
from mailstore.kit.secure import Remedies, down_by, said

if TYPE_CHECKING:
    from mcp_types import CallToolResult

MOST_BYTES = 8 << 20


class TooMuch(httpx2.ReadError):
    """A server's answer is longer than any that is of use."""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > MOST_BYTES:
                raise TooMuch(f"its answer is over {MOST_BYTES >> 20} MiB")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """Connects as httpx2 does, checks certificates, and ends an answer that is too long."""

    def __init__(self, tls: ssl.SSLContext | None, *, uses_proxies: bool) -> None:
        # without encryption the context is never used; one that trusts nobody is made at once
        super().__init__(verify=tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), trust_env=uses_proxies)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; its answer is read through the bound. No compressed answer is asked for."""
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(response.stream)
        return response


PREAMBLE = re.compile(r"^(Error (calling|executing) tool '?[\w-]*'?: )+")
CONTACT = re.compile(r"CONTACT_|contact approval|not accepting messages", re.IGNORECASE)


class ToolRefused(Exception):
    """The server refused; nothing was written. The text says why, in its own words; it is data."""

    def __init__(self, words: str) -> None:
        super().__init__(PREAMBLE.sub("", words))
        self.is_about_contact = CONTACT.search(words) is not None

    @property
    def quoted(self) -> str:
        """Return the server's words as one short line in quotation marks."""
        return said(str(self))


def answer_of(result: CallToolResult) -> Mapping[str, Any]:
    """Return the record in a tool's answer. Raises ToolRefused, ValueError if it holds none."""
    texts = [text for each in result.content if isinstance(text := getattr(each, "text", None), str)]
    if result.is_error:
        raise ToolRefused("\n".join(texts) or "it gives no reason")
    decoded = result.structured_content
    if not isinstance(decoded, dict):
        decoded = msgspec.json.decode("".join(texts) or "null")
    if isinstance(decoded, dict) and set(decoded) == {"result"}:
        decoded = decoded["result"]  # how some servers wrap what a tool returns
    if not isinstance(decoded, dict):
        raise ValueError("its answer is not a record")
    if isinstance(error := decoded.get("error"), dict):
        raise ToolRefused(f"{error.get('type', '')}: {error.get('message', '')}")
    return decoded


REMEDIES = Remedies(again="", longer="")


class ServerFailed(StoreError):
    """The server can't be talked to; `is_uncertain` if it may have done what it was asked for all the same."""

    is_uncertain = False


def failure(
    error: Exception, access: ServerAccess, statuses: Sequence[int], *, is_uncertain: bool = False
) -> ServerFailed:
    """Return an error as one for a user; `statuses` ends with what HTTP said last."""
    status = statuses[-1] if statuses else 0
    if isinstance(error, httpx2.HTTPStatusError):
        status = error.response.status_code
    refused = _refused(status, access) if not isinstance(error, TimeoutError | httpx2.TransportError) else None
    failed = ServerFailed(*(refused or _words(error, access)))
    failed.is_uncertain = is_uncertain and (refused is None or status >= 500)
    return failed


def _refused(status: int, access: ServerAccess) -> tuple[str, str] | None:
    """Return what an HTTP status of a failed request means; None for one that says nothing."""
    called = f"the server at {access.host}"
    match status:
        case 401 if access.secret is None:
            return f"{called} asks for a token", f"set secret_file in [{TABLE}], or $SIGNALBOX_AGENT_MAIL_TOKEN"
        case 401:
            return f"{called} refuses the token", f"check the secret that [{TABLE}] names"
        case 403:
            return f"{called} lets this token only read", "give it a role that may write (HTTP_RBAC_DEFAULT_ROLE)"
        case 404 | 405 | 406:
            return f"{access.url} is not its MCP endpoint ({status})", "its path is usually /mcp/ or /api/"
        case 429:
            return f"{called} takes no more requests for now", "try again in a minute"
        case _ if 300 <= status < 400:
            return f"{called} sends its visitors elsewhere ({status})", f"set url in [{TABLE}] to that place"
        case _ if status >= 500:
            return f"{called} failed ({status})", "look at its log"
        case _ if status >= 400:
            return f"{called} refuses the request ({status})", "look at its log"
    return None


def _words(error: Exception, access: ServerAccess) -> tuple[str, str]:
    called = f"the server at {access.host}"
    match error:
        case TooMuch():
            return f"{called} sends too much ({error})", f"check url in [{TABLE}]"
        case TimeoutError() | httpx2.TimeoutException():
            return f"{called} does not answer", "check that it runs and is not stuck"
        case httpx2.TransportError():
            down = down_by(_cause(error), called, remedies=REMEDIES)
            return down.problem, down.remedy
        case OSError():
            down = down_by(error, called, remedies=REMEDIES)
            return down.problem, down.remedy
        case _:
            return f"{called} answers what is not MCP", f"check url in [{TABLE}]: its path is usually /mcp/ or /api/"


def _cause(error: BaseException) -> BaseException:
    """Return the system's error below one of the HTTP library's; that one if there is none."""
    seen = [error]
    while seen:
        one = seen.pop()
        if isinstance(one, OSError) and not isinstance(one, TimeoutError) and (one.errno or type(one) is not OSError):
            return one
        if isinstance(one, BaseExceptionGroup):
            seen += one.exceptions
        seen += [below for below in (one.__cause__, one.__context__) if below is not None]
    return ConnectionError() if isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError) else error
