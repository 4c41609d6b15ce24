"""The files of a HAAK mailbox, and how to find one (docs/formats/haak.md#files)."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from mailstore.files.folder import names_in
from mailstore.files.owned import look_of
from mailstore.files.whole import NotAFile

MAILBOX = "agent-mailbox.jsonl"
DATA = "data"
ASIDE = ".archiving-"
"""Separates the mailbox file's name and the run's id while an archival has set the file aside."""


class MailboxFiles(Struct, frozen=True):
    """The files of one mailbox; only the mailbox file must exist."""

    mailbox: Path

    @property
    def folder(self) -> Path:
        """Return the folder of the mailbox."""
        return self.mailbox.parent

    def _beside(self, part: str) -> Path:
        return self.mailbox.with_name(f"{self.mailbox.stem}-{part}")

    @property
    def reads(self) -> Path:
        """Return the file of read records."""
        return self._beside("reads.jsonl")

    @property
    def deliveries(self) -> Path:
        """Return the file of delivery records."""
        return self._beside("deliveries.jsonl")

    @property
    def journal(self) -> Path:
        """Return the file of the oversight journal."""
        return self._beside("oversight.jsonl")

    @property
    def archive(self) -> Path:
        """Return the folder of archived months."""
        return self._beside("archive")

    @property
    def retired(self) -> Path:
        """Return the folder of retired mailbox files and of notes on runs."""
        return self.archive / "retired"

    def look(self) -> os.stat_result | None:
        """Return the owner and mode of the mailbox, for new files beside it; None if there is no mailbox."""
        return look_of(self.mailbox, *self.set_aside().values())

    def retired_files(self) -> list[Path]:
        """Return the retired mailbox files that still exist. Raises OSError."""
        return [self.retired / name for name in names_in(self.retired) if name.endswith(".jsonl")]

    def aside(self, run: str) -> Path:
        """Return the path to which a run sets the mailbox file aside."""
        return self.mailbox.with_name(f"{self.mailbox.name}{ASIDE}{run}")

    def set_aside(self) -> dict[str, Path]:
        """Return the files that archivals have set aside and not retired yet, by run. Raises OSError."""
        prefix = f"{self.mailbox.name}{ASIDE}"
        names = (name for name in names_in(self.folder) if name.startswith(prefix))
        return {name.removeprefix(prefix): self.folder / name for name in names}

    @property
    def roster_lines(self) -> Path:
        """Return the roster that is a file of lines."""
        return self.folder / "agent-roster.jsonl"

    @property
    def roster_document(self) -> Path:
        """Return the roster that is one JSON document."""
        return self.folder / "agent-roster.json"

    def months(self) -> list[Path]:
        """Return the archive's files, newest month first. Raises OSError."""
        names = (name for name in names_in(self.archive) if name.endswith((".jsonl", ".jsonl.gz")))
        return [self.archive / name for name in names][::-1]

    def all(self) -> list[Path]:
        """Return every existing file of the mailbox."""
        single = (
            self.mailbox,
            self.reads,
            self.deliveries,
            self.journal,
            self.roster_lines,
            self.roster_document,
        )
        return [*(path for path in single if path.exists()), *self.set_aside().values(), *self.months()]


def find(path: Path) -> MailboxFiles | None:
    """Return the mailbox for a path: its file, its folder, or the project folder above `data/`. Raises OSError."""
    path = path.absolute()
    if path.is_dir():
        for place in (path / MAILBOX, path / DATA / MAILBOX):
            if _is_there(MailboxFiles(place)):
                return MailboxFiles(place)
        return None
    return MailboxFiles(path) if path.suffix == ".jsonl" and _is_there(MailboxFiles(path)) else None


def _is_there(places: MailboxFiles) -> bool:
    """Return whether the mailbox file exists, or one set aside by an interrupted archival. Raises NotAFile."""
    if places.mailbox.is_file() or places.set_aside():
        return True
    if places.mailbox.exists() and not places.mailbox.is_dir():
        raise NotAFile(f"{places.mailbox.name} is not a regular file")
    return False


def new(path: Path) -> MailboxFiles:
    """Return the location of a new mailbox for a path.

    A path that ends in .jsonl is the mailbox file; a folder named `data`, or one with agent-*.json* files, contains it
    directly; any other folder contains it in `data`.
    """
    path = path.absolute()
    if path.suffix == ".jsonl":
        return MailboxFiles(path)
    holds_agents = path.is_dir() and any(path.glob("agent-*.json*"))
    return MailboxFiles((path if path.name == DATA or holds_agents else path / DATA) / MAILBOX)
