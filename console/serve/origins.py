"""Which names of this server a browser may use, and which pages may talk to it."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from mailstore.kit.loopback import is_loopback

EVERY_INTERFACE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - compared with what was asked for


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
