"""Where the server is, and the token it asks for: what the settings say."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from mailstore.errors import StoreError
from mailstore.installation import remedy
from mailstore.kit.loopback import is_loopback
from mailstore.kit.secret import Secret
from mailstore.server_settings import file_setting, server_settings, variable

TABLE = "agent_mail"
SETTINGS = ("url", "token", "secret_file", "secret_command", "ca_file")
NO_SERVER = f"only its server writes there: set url in [{TABLE}] of config.toml, or ${variable(TABLE, 'url')}"
NO_PACKAGE = "its server is written to with the package mcp"


class ServerAccess(msgspec.Struct, frozen=True):
    """The URL of the server's MCP endpoint, its token, and the file with the authority of its certificate."""

    url: str
    secret: Secret | None = None
    ca_file: Path | None = None

    @property
    def host(self) -> str:
        """Return the server's host and port, for messages."""
        return urlsplit(self.url).netloc

    @property
    def is_local(self) -> bool:
        return is_loopback(urlsplit(self.url).hostname or "")

    def beside(self, path: str) -> str:
        """Return the URL of another path of the server."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{path}"


class Access(NamedTuple):
    """How the server is reached; else why it can't be."""

    server: ServerAccess | None
    why_not: str = ""


def server_access() -> Access:
    """Return what the settings say of the server; nothing is asked of it, and no secret is read."""
    settings = server_settings(TABLE, *SETTINGS)
    if "url" not in settings:
        return Access(None, NO_SERVER)
    try:
        access = _checked(settings)
    except StoreError as error:
        return Access(None, str(error))
    if find_spec("mcp") is None or find_spec("httpx2") is None:
        return Access(None, f"{NO_PACKAGE}: {remedy('mcp')}")
    return Access(access)


def _checked(settings: dict[str, object]) -> ServerAccess:
    url = str(settings["url"]).strip()
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        is_url = False
    if not is_url or not url.isprintable() or " " in url:
        raise StoreError(f"url of [{TABLE}] is not the URL of a server", "write http://127.0.0.1:8765/mcp/", "E428")
    if parts.username is not None or parts.query or parts.fragment:
        raise StoreError(f"url of [{TABLE}] holds more than host and path", "put its token into secret_file", "E429")
    ca_file = file_setting(TABLE, "ca_file", settings["ca_file"]) if "ca_file" in settings else None
    access = ServerAccess(url, _secret(settings), ca_file)
    if access.secret is not None and parts.scheme == "http" and not access.is_local:
        raise StoreError(f"the token would go to {access.host} unencrypted", f"use https in url of [{TABLE}]", "E430")
    return access


def _secret(settings: dict[str, object]) -> Secret | None:
    if "token" in settings:
        return Secret.in_environment(variable(TABLE, "token"))
    if "secret_file" in settings:
        return Secret.in_file(file_setting(TABLE, "secret_file", settings["secret_file"]))
    if "secret_command" in settings:
        given = settings["secret_command"]
        return Secret.from_command(list(map(str, given)) if isinstance(given, list | tuple) else [str(given)])
    return None
