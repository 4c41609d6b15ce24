"""One HTTP exchange with a relay: bounded in size and time, the token for that server only; and what it refuses."""

from __future__ import annotations

import ssl
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from mailstore.errors import MailError
from mailstore.installation import remedy
from mailstore.kinds.agentazall.transports.deadline import Deadline
from mailstore.kinds.agentazall.transports.relay_wire import decode
from mailstore.kinds.agentazall.transports.transport import MessageRefused
from mailstore.kit.loopback import is_loopback
from mailstore.kit.secure import TransportDown, down_by, said, tls_context

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 10.0
PATIENCE_SECONDS, LEAST_PACE = 30.0, 50_000
"""How long an answer may come slower than this many bytes a second."""
MOST_PIECES = 200_000
"""Pieces of one answer: each takes a while, however small it is."""
PLAIN_PORTS = {"http": 80, "https": 443}


class RelayAnswer(NamedTuple):
    """What a relay answered: status, body, and why the body is not whole, if it isn't."""

    status: int
    body: bytes
    fault: str = ""
    retry_after: str = ""


class RelayHttp:
    """The server of a relay, at `http://HOST[:PORT][/PATH]` or with https. Raises MailError for any other URL.

    Without TLS, a server on another machine is refused unless `allow_plain`.
    """

    def __init__(
        self, url: str, *, ca_file: Path | None = None, seconds: float = 30.0, allow_plain: bool = False
    ) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise MailError("the relay's server is not a URL", "write https://HOST:PORT", "E595") from error
        if parts.scheme not in PLAIN_PORTS or not parts.hostname:
            raise MailError("the relay's server is not a URL", "write https://HOST:PORT", "E595")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise MailError(
                "the relay's URL holds more than scheme, host, port and path", "put the token in its place", "E596"
            )
        self.host = parts.hostname
        if parts.scheme == "http" and not (allow_plain or is_loopback(self.host)):
            raise MailError(
                f"{self.host} would get the token and all mail without encryption",
                "use https, or set allow_plain (--allow-plain) for this relay",
                "E597",
            )
        self.place = f"{self.host}:{port or PLAIN_PORTS[parts.scheme]}"
        self._url = url.rstrip("/")
        self._is_tls = parts.scheme == "https"
        self._ca_file = ca_file
        self._seconds = seconds
        self._client: httpx2.Client | None = None

    def prepare(self) -> None:
        """Import what is needed, and make the client; raises TransportDown where the library is missing."""
        self._connected()

    def exchange(
        self, method: str, path: str, *, value: Any = None, token: str = "", most: int, seconds: float
    ) -> RelayAnswer:
        """Return the server's answer, of at most `most` bytes, within `seconds`. Raises TransportDown without one.

        An answer that breaks off, is larger or takes longer is returned as far as it came, with the reason.
        """
        httpx2 = _library()
        if not (token.isascii() and token.isprintable()) or " " in token:
            raise TransportDown("the token holds characters that no token has", "fix the token in the settings", "E598")
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        status, body, fault, retry = 0, bytearray(), "", ""
        with Deadline(seconds) as limit:

            def trace(event: str, info: dict[str, Any]) -> None:
                if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                    limit.watch(info["return_value"].get_extra_info("socket"))

            try:
                with self._connected().stream(
                    method, self._url + path, json=value, headers=headers, extensions={"trace": trace}
                ) as response:
                    status, retry = response.status_code, response.headers.get("retry-after", "")[:40]
                    encoding = response.headers.get("content-encoding", "identity").lower()
                    # others would inflate a small piece without bound
                    is_known = encoding in ("identity", "gzip", "deflate")
                    began = time.monotonic()
                    for number, piece in enumerate(response.iter_bytes() if is_known else response.iter_raw()):
                        body += piece
                        slow = time.monotonic() - began - PATIENCE_SECONDS
                        if len(body) > most:
                            fault = f"it sent more than {most >> 10} KiB"
                        elif number > MOST_PIECES or slow > len(body) / LEAST_PACE:
                            fault = "its answer came in too small pieces"
                        if fault:
                            break
            except httpx2.InvalidURL as error:
                raise TransportDown("the relay's server is not a URL", "write https://HOST:PORT", "E595") from error
            except (httpx2.HTTPError, httpx2.StreamError, OSError, ValueError) as error:
                fault = f"it took longer than {seconds:g} s" if limit.has_passed else "it stopped amid its answer"
                if not status:
                    raise down_by(TimeoutError() if limit.has_passed else _cause(error), self.place, [token]) from None
        return RelayAnswer(status, bytes(body), fault, retry)

    def _connected(self) -> httpx2.Client:
        if self._client is None:
            httpx2 = _library()
            self._client = httpx2.Client(
                verify=tls_context(self._ca_file) if self._is_tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                timeout=httpx2.Timeout(self._seconds, connect=min(CONNECT_SECONDS, self._seconds)),
                # each exchange has a connection of its own: a dead one is never mistaken for a lost message
                limits=httpx2.Limits(max_keepalive_connections=0),
                trust_env=not is_loopback(self.host),
            )
        return self._client

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None


def _cause(error: BaseException) -> BaseException:
    """Return the system's error behind an error of the library."""
    if isinstance(error, _library().TimeoutException):
        return TimeoutError()
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__ or cause.__context__
    return cause or ConnectionError()


def _library() -> Any:
    """Return the HTTP library. Raises TransportDown where it is missing."""
    try:
        import httpx2
    except ImportError:
        raise TransportDown("the package httpx2 for relays is not installed", remedy("agentazall"), "E599") from None
    return httpx2


RefusalKind = Literal["down", "refused"]
REFUSALS: dict[int, tuple[RefusalKind, str, str]] = {
    400: ("refused", "the relay can't read this message", ""),
    401: ("down", "the relay rejects this token", "register again, or fix the token in the settings"),
    403: ("down", "the relay does not allow this", "fix the token in the settings"),
    409: ("refused", "the name is taken on this relay", "choose another, or use the token that you got for it"),
    413: ("refused", "the message is larger than the relay takes", "send less at once"),
    429: ("down", "the relay gets too many requests", "it is tried again later"),
    503: ("down", "the relay is not available", "it is tried again later"),
    507: ("down", "the recipient's inbox on the relay is full", "it is tried again later"),
}


def refusal_of(answer: RelayAnswer, place: str, unknown: str, token: str = "") -> TransportDown | MessageRefused:
    """Return the error for an answer's status; `unknown` is what a 404 means. The server's own words are quoted."""
    value = decode(answer.body)
    quoted = value.get("error") if isinstance(value, dict) else None
    words = said(quoted, [token]) if isinstance(quoted, str) else ""
    kind, problem, remedy = REFUSALS.get(answer.status, ("down", f"the relay answered {answer.status}", ""))
    if answer.status == 404:
        # a wrong URL says 404, too; the relay names the recipient or the agent
        is_relay = any(word in words.lower() for word in ("recipient", "agent", "account", "user"))
        kind, problem = ("refused", unknown) if is_relay else ("down", "this URL is not a relay's")
        remedy = "check the address" if is_relay else "check the server's URL"
    elif 300 <= answer.status < 400:
        problem, remedy = "the relay's URL has moved", "check the server's URL"
    text = f"{problem} ({place} says {words})" if words else f"{problem} ({place})"
    if answer.status in (429, 503) and answer.retry_after.isdecimal():
        remedy = f"it asks to wait {answer.retry_after[:6]} s"
    return (MessageRefused if kind == "refused" else TransportDown)(text, remedy)
