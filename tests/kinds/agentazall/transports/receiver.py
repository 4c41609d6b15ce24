"""A receiver for the tests of transports: it keeps messages in memory, and what is spooled in a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from mailstore.kinds.agentazall.transports.transport import IncomingMessage

SPOOL = "not unicode \udcff" if sys.platform == "linux" else "spool"


class KeptMessages:
    """What a transport has taken in: `kept` by key, `turned` with the reasons; `blocked` are senders to refuse."""

    def __init__(self, folder: Path, *blocked: str) -> None:
        self.folder = folder / SPOOL
        self.blocked = blocked
        self.kept: dict[str, IncomingMessage] = {}
        self.turned: dict[str, str] = {}
        self.senders: dict[str, str] = {}
        self.excerpts: dict[str, bytes] = {}
        (self.folder / "every").mkdir(parents=True)

    @property
    def messages(self) -> list[IncomingMessage]:
        return list(self.kept.values())

    def knows(self, key: str) -> bool:
        return key in self.kept or key in self.turned

    def admits(self, sender: str) -> bool:
        return sender not in self.blocked

    def keep(self, message: IncomingMessage) -> None:
        self.kept.setdefault(message.key, message)

    def turn_away(self, key: str, reason: str, excerpt: bytes = b"", sender: str = "") -> None:
        self.turned[key] = reason
        self.senders[key] = sender
        self.excerpts[key] = excerpt

    def spool(self, data: bytes) -> Path:
        number = len(list((self.folder / "every").iterdir()))
        path = self.folder / f"{number:06}.spool"
        for place in (self.folder / "every" / path.name, path):
            place.write_bytes(data)
        return path

    @property
    def every_spool(self) -> list[bytes]:
        """Everything that was ever spooled, by a process of its own too."""
        return [data for path in (self.folder / "every").iterdir() if (data := path.read_bytes())]

    def unspool(self, path: Path) -> None:
        path.unlink()

    def spooled(self) -> list[Path]:
        return sorted(self.folder.glob("*.spool"))

    def strays(self) -> list[tuple[Path, bool]]:
        return []
