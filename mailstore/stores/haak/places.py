"""Which files make up a HAAK mailbox, and how to tell that one lies somewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Places", "find"]

MAILBOX = "agent-mailbox.jsonl"


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one mailbox; only the first need be there."""

    mailbox: Path

    @property
    def folder(self) -> Path:
        return self.mailbox.parent

    def _beside(self, part: str) -> Path:
        return self.mailbox.with_name(f"{self.mailbox.stem}-{part}")

    @property
    def reads(self) -> Path:
        return self._beside("reads.jsonl")

    @property
    def deliveries(self) -> Path:
        return self._beside("deliveries.jsonl")

    @property
    def journal(self) -> Path:
        return self._beside("oversight.jsonl")

    @property
    def archive(self) -> Path:
        return self._beside("archive")

    @property
    def roster_lines(self) -> Path:
        return self.folder / "agent-roster.jsonl"

    @property
    def roster_document(self) -> Path:
        return self.folder / "agent-roster.json"

    def months(self) -> list[Path]:
        """Return the archive's files, the newest month first."""
        if not self.archive.is_dir():
            return []
        found = [*self.archive.glob("*.jsonl"), *self.archive.glob("*.jsonl.gz")]
        return sorted(found, key=lambda path: path.name, reverse=True)


def find(path: Path) -> Places | None:
    """Return the mailbox at a path: its file, its folder, or the project folder above `data/`."""
    path = path.absolute()
    if path.is_dir():
        for place in (path / MAILBOX, path / "data" / MAILBOX):
            if place.is_file():
                return Places(place)
        return None
    return Places(path) if path.is_file() and path.suffix == ".jsonl" else None
