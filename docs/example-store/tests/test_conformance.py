"""Notes are a mailbox as `mailstore/store.py` says: the suite does to them what other programs do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from signalbox_notes.store import NotesStore

from mailstore.conformance import Feature, FileHarness, StoreContract
from mailstore.store import Store

NAMES = {"sender": "From", "timestamp": "Date", "subject": "Subject", "thread": "Answers", "extra_field": "Extra"}


class NotesHarness(FileHarness):
    store: ClassVar[type[Store]] = NotesStore
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NO_ID: "the name of a file is its id",
        Feature.SAME_ID: "the name of a file is its id",
        Feature.NO_TIME: "the time of the file is used",
        Feature.TEAR: "a note appears complete",
        Feature.LOCK: "writers take no lock",
        Feature.AGENT: "there is no roster",
        Feature.RECORDS: "reads are not recorded",
        Feature.TYPE: "notes have no type",
        Feature.TTL: "notes don't expire",
    }

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def path(self) -> Path:
        return self._folder / "team.notes"

    def make(self) -> None:
        self.path.mkdir()

    def message(self, fields: Mapping[str, Any]) -> None:
        to = fields["recipient"]
        head = {"To": to if isinstance(to, str) else ", ".join(to)}
        head |= {NAMES[name]: value for name, value in fields.items() if name in NAMES}
        text = "".join(f"{name}: {value}\n" for name, value in head.items()) + "\n" + fields["content"]
        self._put(fields["id"], text)

    def _put(self, name: str, text: str) -> None:
        hidden = self.path / ".new"
        hidden.write_bytes(text.encode())
        hidden.rename(self.path / f"{name}.md")

    def damage(self) -> None:
        self._put(f"damage-{len(list(self.path.iterdir()))}", "Buy milk.")

    def replace(self, *messages: Mapping[str, Any]) -> None:
        for note in self.path.iterdir():
            note.unlink()
        for fields in messages:
            self.message(fields)

    def remove(self) -> None:
        self.path.rename(self._folder / "away")

    def restore(self) -> None:
        (self._folder / "away").rename(self.path)

    def snapshot(self) -> dict[str, tuple[bytes, int]]:
        return {note.name: (note.read_bytes(), note.stat().st_mtime_ns) for note in self.path.iterdir()}


class TestNotes(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> NotesHarness:
        return NotesHarness(tmp_path)
