"""Locations: what follows the scheme of a mailbox's URL, as a path, or without its secrets."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from mailstore.errors import MailError, StoreError, reason_of
from mailstore.records.scope import KIND as SEVERAL
from mailstore.records.scope import parts_of, url_of

SERVER = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*:)?//(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL)
HOST = re.compile(r"(\[[^\]]*\]|[^:@]*)(:\d*)?")
SECRET = re.compile(r"pass|pwd|secret|token|auth|key|cred|sig|jwt|seed", re.IGNORECASE)
"""What the name of a query's parameter contains whose value is a secret."""
HIDDEN = "***"


def path_of(location: str | Path) -> Path:
    """Return the path that a location is, with `~` expanded. Raises StoreError for one that can't be a path."""
    try:
        path = Path(re.sub("^//+", "/", str(location))).expanduser()
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()  # not exists(), which takes what can't be read for nothing from Python 3.14 on
    except RuntimeError as error:
        raise StoreError(f"{location} can't be found", "use the full path", "E276") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{str(location)[:200]} can't be read", reason_of(error), "E277") from error
    return path


def path_in(url: str) -> Path | None:
    """Return the path that a mailbox's URL names; None if it names a server or several mailboxes."""
    kind, _, location = url.partition(":")
    return None if location.startswith("//") or kind == SEVERAL else Path(location)


def without_secrets(url: str) -> str:
    """Return a URL as it may be shown: without user, password or token, and without parameters that hold secrets.

    What is not a URL of a server, such as a path, is returned as it is.
    """
    if parts := parts_of(url):
        return url_of({label: without_secrets(part) for label, part in parts.items()})
    return _split(url)[0]


def secrets_in(url: str) -> list[str]:
    """Return the secrets that a URL holds, as they are typed and decoded, the longest first."""
    secrets = [each for part in (parts_of(url).values() or [url]) for each in _split(part)[1]]
    return sorted({secret for each in secrets for secret in (each, unquote(each)) if secret}, key=len, reverse=True)


def hide_secrets(error: MailError, url: str) -> MailError:
    """Return an error without the secrets of a URL: the same one if it tells none."""
    secrets = secrets_in(url)
    if not any(secret in str(error) for secret in secrets):
        return error
    for secret in secrets:
        error.problem = error.problem.replace(secret, HIDDEN)
        error.remedy = error.remedy.replace(secret, HIDDEN)
    error.args = (f"{error.problem}: {error.remedy}" if error.remedy else error.problem,)
    error.__cause__ = error.__context__ = None
    return error


def _split(url: str) -> tuple[str, list[str]]:
    """Return a server's URL without its secrets, and those."""
    match = SERVER.fullmatch(url)
    if match is None:
        return url, []
    scheme, authority, rest = match["scheme"] or "", match["authority"], match["rest"]
    users, hosts = zip(*(part.rpartition("@")[::2] for part in authority.split(",")), strict=True)
    if not all(map(HOST.fullmatch, hosts)) and "@" in authority + rest:
        # a password that is not percent-encoded: all before the last @ is taken for it
        before, _, after = (authority + rest).rpartition("@")
        return f"{scheme}//{_without_parameters(after)[0]}", _users(before)
    shown, values = _without_parameters(rest)
    return f"{scheme}//{','.join(hosts)}{shown}", [*(each for user in users for each in _users(user)), *values]


def _users(text: str) -> list[str]:
    """Return the secrets in what is before the @ of a host: the password, or a token that stands alone."""
    user, colon, password = text.partition(":")
    return [text, password] if colon else [user]


def _without_parameters(rest: str) -> tuple[str, list[str]]:
    """Return the path, query and fragment of a URL without the parameters that hold secrets, and their values."""
    path, mark, query = rest.partition("?")
    if not mark:
        return rest, []
    query, sharp, fragment = query.partition("#")
    parameters = [(part, part.partition("=")) for part in query.split("&")]
    kept = [each for each, (name, _, _) in parameters if not SECRET.search(name)]
    values = [value for _, (name, _, value) in parameters if SECRET.search(name)]
    return path + ("?" + "&".join(kept) if kept else "") + sharp + fragment, values
