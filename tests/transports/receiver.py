"""A receiver for the tests of transports: it keeps letters in memory, and what is spooled in a folder."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from mailstore.transports.transport import IncomingLetter

__all__ = ["KeptLetters"]


class KeptLetters:
    """What a transport has taken in: `kept` by key, `turned` with the reasons; `blocked` are senders to refuse."""

    def __init__(self, folder: Path, *blocked: str) -> None:
        self.folder = folder
        self.blocked = blocked
        self.kept: dict[str, IncomingLetter] = {}
        self.turned: dict[str, str] = {}
        self.excerpts: dict[str, bytes] = {}
        self.every_spool: list[bytes] = []
        self._numbers = count()

    @property
    def letters(self) -> list[IncomingLetter]:
        return list(self.kept.values())

    def knows(self, key: str) -> bool:
        return key in self.kept or key in self.turned

    def admits(self, sender: str) -> bool:
        return sender not in self.blocked

    def keep(self, letter: IncomingLetter) -> None:
        self.kept.setdefault(letter.key, letter)

    def turn_away(self, key: str, reason: str, excerpt: bytes = b"") -> None:
        self.turned[key] = reason
        self.excerpts[key] = excerpt

    def spool(self, data: bytes) -> Path:
        path = self.folder / f"{next(self._numbers):06}.spool"
        path.write_bytes(data)
        if data:
            self.every_spool.append(data)
        return path

    def unspool(self, path: Path) -> None:
        path.unlink()

    def spooled(self) -> list[Path]:
        return sorted(self.folder.glob("*.spool"))
