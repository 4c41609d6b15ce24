"""A HAAK mailbox as other programs treat it, for the conformance suite."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from mailstore.files import append
from mailstore.haak import HaakStore
from mailstore.store import Store
from tests.mailboxes import AMENDED, STATES, Dialect
from tests.mailstore.folder_harness import FolderHarness


class HaakHarness(FolderHarness):
    """A HAAK mailbox in one of its two dialects; the amendment's with a roster that is one document."""

    store: ClassVar[type[Store]] = HaakStore

    def __init__(self, folder: Path, dialect: Dialect, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._dialect = dialect
        self._monkeypatch = monkeypatch
        self._missing = b""

    @property
    def path(self) -> Path:
        return self._folder / "data"

    @property
    def mailbox(self) -> Path:
        return self.path / "agent-mailbox.jsonl"

    @property
    def roster(self) -> Path:
        return self.path / ("agent-roster.jsonl" if self._dialect == "table" else "agent-roster.json")

    def make(self) -> None:
        self.path.mkdir()
        self.mailbox.touch()
        if self._dialect == "amendment":
            self.roster.write_text("[]")

    def _spoken(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        if self._dialect == "table":
            return dict(fields)
        return {AMENDED.get(name, name): value for name, value in fields.items()}

    def _line(self, fields: Mapping[str, Any]) -> bytes:
        return json.dumps(self._spoken(fields), ensure_ascii=self._dialect == "table").encode() + b"\n"

    def _append(self, data: bytes, name: str = "agent-mailbox.jsonl") -> None:
        with (self.path / name).open("ab") as file:
            file.write(data)

    def message(self, fields: Mapping[str, Any]) -> None:
        self._append(self._line(fields))

    def agent(self, fields: Mapping[str, Any]) -> None:
        if self._dialect == "table":
            self._append(self._line(fields), self.roster.name)
            return
        entry = self._spoken({**fields, "status": STATES[fields["status"]]})
        others = [one for one in json.loads(self.roster.read_text()) if one["session_id"] != fields["session_id"]]
        new = self.roster.with_suffix(".new")
        new.write_text(json.dumps([*others, entry]))
        new.replace(self.roster)

    def agent_fields(self, session_id: str) -> Mapping[str, Any]:
        text = self.roster.read_text()
        entries = [json.loads(line) for line in text.splitlines()] if self._dialect == "table" else json.loads(text)
        return next(dict(entry) for entry in reversed(entries) if entry["session_id"] == session_id)

    def read(self, fields: Mapping[str, Any]) -> None:
        named = {"reader_session_id" if name == "reader" else name: value for name, value in fields.items()}
        self._append(self._line(named), "agent-mailbox-reads.jsonl")

    def delivery(self, fields: Mapping[str, Any]) -> None:
        self._append(json.dumps(fields).encode() + b"\n", "agent-mailbox-deliveries.jsonl")

    def damage(self) -> None:
        self._append(b'{"id": "cut", "sender": "bob\n')

    def tear(self, fields: Mapping[str, Any]) -> None:
        line = self._line(fields)
        self._append(line[:40])
        self._missing = line[40:]

    def repair(self) -> None:
        self._append(self._missing)

    def replace(self, *messages: Mapping[str, Any]) -> None:
        new = self.path / "new"
        new.write_bytes(b"".join(map(self._line, messages)))
        new.replace(self.mailbox)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock every file there is; a clock of which each look takes a second ends all patience."""
        clock = SimpleNamespace(monotonic=count().__next__, sleep=lambda _: None)
        self._monkeypatch.setattr(append, "time", clock)
        files = [path.open("rb") for path in self.path.iterdir() if path.is_file()]
        try:
            for file in files:
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
        finally:
            for file in files:
                file.close()

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        files = (path for path in self.path.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
