"""Who may open what: the secret of a link, how it is given, the cookie that it becomes, and the names of the server."""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
import tempfile
from collections.abc import Collection
from enum import Enum
from pathlib import Path
from urllib.parse import urlsplit

from console.browser.place import FULL, READ_ONLY
from console.errors import Refused
from mailstore.errors import reason_of
from mailstore.kit.loopback import is_loopback
from mailstore.kit.secret import SecretMissing, private_text

SECRET_BYTES = 16
"""128 bits: nobody guesses it, however fast they ask."""
TOKEN = re.compile(r"^(full|read-only) \S*\?token=([0-9a-f]{32})$", re.MULTILINE)
EVERY_INTERFACE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - compared with what was asked for


class PageAccess(Enum):
    """What a page may do; the value is passed to its console as an environment variable."""

    FULL = FULL
    READ_ONLY = READ_ONLY


class KeyPair:
    """The token in a link and the value of the cookie for it; neither can be computed from the other."""

    __slots__ = ("_cookie", "_token")

    def __init__(self, token: str = "") -> None:
        self._token = token or new_secret()
        self._cookie = new_secret()

    def token(self) -> str:
        """Return the token, for whoever prints the link."""
        return self._token

    def cookie(self) -> str:
        """Return the cookie's value, for whoever gave the token."""
        return self._cookie

    def opens_with_token(self, given: str) -> bool:
        """Say whether a text is the token; how long it takes tells nothing about the token."""
        return secrets.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    def opens_with_cookie(self, given: str) -> bool:
        """Say whether a text is the cookie's value, in the same way."""
        return secrets.compare_digest(given.encode("utf-8", "replace"), self._cookie.encode())

    def __repr__(self) -> str:
        return "KeyPair(…)"


class Keys:
    """The keys that exist: for reading and writing, and for reading alone."""

    def __init__(self, pairs: dict[PageAccess, KeyPair]) -> None:
        self._pairs = pairs

    def by_token(self, given: str) -> tuple[PageAccess, str] | None:
        """Return what a token opens, and the cookie for it; None if it opens nothing."""
        opened = [(access, pair.cookie()) for access, pair in self._pairs.items() if pair.opens_with_token(given)]
        return opened[0] if opened else None

    def by_cookie(self, given: str) -> PageAccess | None:
        """Return what a cookie's value opens; None if it opens nothing."""
        accesses = [access for access, pair in self._pairs.items() if pair.opens_with_cookie(given)]
        return accesses[0] if accesses else None

    def tokens(self) -> dict[PageAccess, str]:
        """Return the tokens, for whoever prints the links."""
        return {access: pair.token() for access, pair in self._pairs.items()}

    def __repr__(self) -> str:
        return "Keys(…)"


def new_secret() -> str:
    """Return a secret of 128 bits in hexadecimal digits, which no program takes for the end of a link."""
    return secrets.token_hex(SECRET_BYTES)


def link(address: str, token: str) -> str:
    """Return the link with a token."""
    return f"{address}/?token={token}"


def kept_keys(path: Path | None, wanted: list[PageAccess]) -> Keys:
    """Return keys with the tokens of the links in a file, and new ones where it has none. Raises Refused."""
    kept: dict[str, str] = {}
    if path is not None and os.path.lexists(path):
        try:
            kept = dict(TOKEN.findall(private_text(path, is_own=True)))
        except SecretMissing as error:
            raise Refused(error.problem, error.remedy) from error
    return Keys({access: KeyPair(kept.get(access.value, "")) for access in wanted})


def keep_links(path: Path, address: str, keys: Keys) -> None:
    """Write the links to a file that only its owner can read, whole or not at all. Raises Refused."""
    text = "".join(f"{access.value} {link(address, token)}\n" for access, token in keys.tokens().items())
    name = ""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # with mode 600
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True) if name else None
        raise Refused(
            f"{path} can't be written ({reason_of(error)})", "name another file with --links", "E172"
        ) from error


def is_known_host(host: str, names: Collection[str]) -> bool:
    """Say whether a Host header names this server: a loopback address, or one of its names, which are plain.

    A name that somebody else's DNS server gave this machine's address is neither. The port doesn't matter: a tunnel
    has its own. A server that listens on every interface, one of whose names is EVERY_INTERFACE, has any IP address:
    no DNS server gives those away.
    """
    name = name_of(f"http://{host}")
    if name is None:
        return False
    return is_loopback(name) or name in names or (is_address(name) and not EVERY_INTERFACE.isdisjoint(names))


def is_address(name: str) -> bool:
    """Say whether a host is given by its IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_own_origin(origin: str, host: str, *, is_secure: bool) -> bool:
    """Say whether an Origin header names the very server, with its port, that the Host header does."""
    scheme, _, rest = origin.partition("://")
    return scheme in (("https",) if is_secure else ("http", "https")) and rest.lower() == host.lower()


def name_of(url: str) -> str | None:
    """Return the host of a URL, plain; None if it has none."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    has_more = parts.username is not None or parts.netloc != url.partition("://")[2]  # also what a parser leaves out
    return None if has_more or not parts.hostname else plain_name(parts.hostname)


def plain_name(host: str) -> str:
    """Return a host in lower case, without brackets and the dot at its end, and an IP address in its short form."""
    name = host.lower().strip("[]").removesuffix(".")
    return str(ipaddress.ip_address(name)) if is_address(name) else name
