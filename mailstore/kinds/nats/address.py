"""Where a mailbox on NATS servers is: `//[USER:PASSWORD@]HOST[:PORT][,HOST…]/MAILBOX[?replicas=N]`."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote

import msgspec

from mailstore.errors import StoreError

DEFAULT_PORT = 4222
LONGEST_NAME = 100
HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+)(?::(?P<port>\d{1,5}))?")
AUTHORITY = re.compile(r"//(?P<before>.*@)?(?P<hosts>[^@/?]*)/(?P<path>[^@?]*)(?:\?(?P<query>[^@]*))?", re.DOTALL)
REMEDY = "write it as nats://HOST[:PORT][,HOST…]/MAILBOX"
MOST_REPLICAS = 5


class NatsAddress(msgspec.Struct, frozen=True):
    """The servers of a mailbox as `HOST` or `HOST:PORT`, and its name; holds no secrets."""

    hosts: tuple[str, ...]
    mailbox: str
    is_tls: bool = False

    @property
    def location(self) -> str:
        """Return the location as it may be shown."""
        return f"//{self.shown_hosts}/{quote(self.mailbox)}"

    @property
    def shown_hosts(self) -> str:
        """Return the servers as they are named to the user."""
        return ",".join(self.hosts)

    @property
    def servers(self) -> list[str]:
        """Return the URLs that the client library takes."""
        scheme = "tls" if self.is_tls else "nats"
        return [f"{scheme}://{host}" if _port(host) else f"{scheme}://{host}:{DEFAULT_PORT}" for host in self.hosts]


class NatsLocation(NamedTuple):
    """A location as it was typed; `userinfo` is a user and a password, or a token alone, and is never shown."""

    address: NatsAddress
    userinfo: tuple[str, ...] = ()
    replicas: int | None = None

    def __repr__(self) -> str:
        return f"NatsLocation({self.address!r}, replicas={self.replicas!r})"


def location_of(text: str, *, is_tls: bool = False) -> NatsLocation:
    """Parse a location. Raises StoreError, which tells nothing of what was typed before an @."""
    match = AUTHORITY.fullmatch(text)
    if match is None:
        raise StoreError("the address of the mailbox is not valid", REMEDY, "E399")
    name = unquote(match["path"].rstrip("/"))
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise StoreError("the address names no mailbox", REMEDY, "E400")
    hosts, users = _hosts(match["hosts"], match["before"] or "")
    return NatsLocation(NatsAddress(hosts, name, is_tls), users, _replicas(match["query"] or ""))


def _hosts(text: str, before: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the servers, and what was given to log in; each server may repeat it (`u:p@one,u:p@two`)."""
    users = before[:-1]
    parts = text.split(",")
    if "@" in users:
        *earlier, users = users.split(",")
        parts = [*(each.rpartition("@")[2] for each in [*earlier, users] if "@" in each), *parts]
        users = (earlier or [users])[0].rpartition("@")[0]
    hosts = tuple(dict.fromkeys(_host(part) for part in parts))
    user, colon, password = users.partition(":")
    return hosts, tuple(map(unquote, (user, password) if colon else (user,))) if users else ()


def _host(text: str) -> str:
    match = HOST.fullmatch(text.strip())
    if match is None or not 0 < int(match["port"] or DEFAULT_PORT) < 1 << 16:
        raise StoreError("the address names no valid host", REMEDY, "E401")
    port = int(match["port"] or DEFAULT_PORT)
    name = match["name"].lower()
    return name if port == DEFAULT_PORT else f"{name}:{port}"


def _port(host: str) -> str:
    match = HOST.fullmatch(host)
    return (match["port"] or "") if match else ""


def _replicas(query: str) -> int | None:
    given = dict(parse_qsl(query)).get("replicas")
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and 0 < int(given) <= MOST_REPLICAS):
        raise StoreError(f'"{given[:20]}" is not a number of replicas', f"give 1 to {MOST_REPLICAS}", "E269")
    return int(given)
