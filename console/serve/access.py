"""Who may open what: the secret of a link, and the secret of the cookie that it becomes."""

from __future__ import annotations

import secrets
from enum import Enum

from console.browser.place import FULL, READ_ONLY

SECRET_BYTES = 16
"""128 bits: nobody guesses it, however fast they ask."""


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
