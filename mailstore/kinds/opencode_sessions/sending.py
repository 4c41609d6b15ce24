"""Send to a session by a server of the program, as only the program writes its database."""

from __future__ import annotations

import base64
import http.client
import ssl
import time
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import quote, urlsplit

import msgspec

from mailstore.errors import DraftRefused, MailError, StoreError, reason_of
from mailstore.kinds.opencode_sessions.tables import DATABASE, prompt_of
from mailstore.kit.loopback import is_loopback
from mailstore.kit.secret import Secret
from mailstore.kit.sessions.facts import SessionFact
from mailstore.kit.sessions.source import SessionsSource
from mailstore.kit.tables import look
from mailstore.kit.timestamps import isoformat
from mailstore.records.draft import Draft
from mailstore.records.message import Message
from mailstore.server_settings import file_setting, server_settings, variable

TABLE = "opencode"
NO_SERVER = (
    f"a server writes there: set url in [{TABLE}] of config.toml, or write to the agent in its mailbox, from where the "
    "plugin gives it to the session"
)
USER = "opencode"
PATIENCE_SECONDS = 15.0
SEEN_SECONDS = 5.0
"""How long a message is looked for in the database once the server has taken it."""
LONGEST_SAID = 300
CLOCKS = 5_000
"""Milliseconds by which the server's clock may differ from ours."""


class Server(msgspec.Struct, frozen=True):
    """Where a server listens, and the password that it asks for."""

    url: str
    password: Secret | None = None

    @property
    def host(self) -> str:
        """Return the server's host and port, for messages."""
        return urlsplit(self.url).netloc


def server() -> tuple[Server | None, str]:
    """Return the server that the settings name, or why none can be used; nothing is asked of it."""
    settings = server_settings(TABLE, "url", "password", "password_file")
    if "url" not in settings:
        return None, NO_SERVER
    try:
        return _checked(settings), ""
    except StoreError as error:
        return None, str(error)


def _checked(settings: dict[str, object]) -> Server:
    url = str(settings["url"]).strip().rstrip("/")
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        is_url = False
    if not is_url or not url.isprintable() or " " in url or parts.query or parts.fragment or parts.username:
        raise StoreError(f"url of [{TABLE}] is not the URL of a server", "write http://127.0.0.1:4096", "E428")
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise StoreError(f"what is sent to {parts.netloc} would cross the network unencrypted", "use https", "E489")
    password = None
    if "password" in settings:
        password = Secret.in_environment(variable(TABLE, "password"))
    elif "password_file" in settings:
        password = Secret.in_file(file_setting(TABLE, "password_file", settings["password_file"]))
    return Server(url, password)


def send(source: SessionsSource, to: Server, draft: Draft) -> Message:
    """Send a message by a server of the program. Raises DraftRefused and StoreError."""
    [recipient] = draft.recipients
    session = source.session_of(recipient)
    if not session:
        raise DraftRefused("to", f"{recipient!r} is not a session of OpenCode", "signalbox agents lists them", "E487")
    now = time.time()
    post(to, session, draft.content)
    database, at = source.folder / DATABASE, int(now * 1000)
    prompt = prompt_of(session, at - CLOCKS, draft.content)
    message_id = _wait_for(lambda: look(database, prompt, is_text=True))
    line = SessionFact("sent", DATABASE, at, 0, session, isoformat(now), message_id, text=draft.content)
    message = source.message(message_id, draft.sender, recipient, line)
    source.note_sent(message, line)
    return message


def post(to: Server, session: str, text: str) -> None:
    """Give a session a prompt; return once the server has taken it. Raises DraftRefused and StoreError."""
    body = msgspec.json.encode({"parts": [{"type": "text", "text": text}]})
    headers = {"content-type": "application/json"}
    try:
        if to.password is not None:
            given = base64.b64encode(f"{USER}:{to.password.reveal()}".encode()).decode("ascii")
            headers["authorization"] = f"Basic {given}"
    except MailError as error:
        raise StoreError(error.problem, error.remedy) from error
    parts = urlsplit(to.url)
    if parts.scheme == "http":
        link = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE_SECONDS)
    else:
        secure = ssl.create_default_context()
        link = http.client.HTTPSConnection(parts.netloc, timeout=PATIENCE_SECONDS, context=secure)
    try:
        link.request("POST", f"{parts.path}/session/{quote(session, safe='')}/prompt_async", body, headers)
        with link.getresponse() as answer:
            said = answer.read(LONGEST_SAID).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        reason = reason_of(error) if isinstance(error, OSError) else type(error).__name__
        raise StoreError(f"the server {to.host} did not take the message", reason, "E490") from error
    finally:
        link.close()
    if answer.status == HTTPStatus.UNAUTHORIZED:
        raise StoreError(f"the server {to.host} asks for a password", f"set password_file in [{TABLE}]", "E491")
    if answer.status == HTTPStatus.NOT_FOUND:
        raise DraftRefused(
            "to", f"is a session that the server {to.host} does not have", "is it another one's?", "E488"
        )
    if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        words = " ".join(said.split()) or f"status {answer.status}"
        raise StoreError(f"the server {to.host} refused the message", words, "E492")


def _wait_for(look: Callable[[], str]) -> str:
    """Return the id that a message got, as soon as the database has it. Raises StoreError."""
    end = time.monotonic() + SEEN_SECONDS
    while not (result := look()):
        if time.monotonic() > end:
            raise StoreError(
                "the server took the message, which is not in the database yet", "look for it in a moment", "E493"
            )
        time.sleep(0.05)
    return result
