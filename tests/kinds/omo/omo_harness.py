"""A run of a team as oh-my-openagent treats it, for the conformance suite."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from mailstore.conformance import Feature
from mailstore.kinds.omo import writer
from mailstore.kinds.omo.store import OmoStore
from mailstore.kit import lock_files, time_of
from mailstore.store import Store
from tests.mailstore.folder_harness import FolderHarness

RUN = "9044cbb0-89a6-4cbb-96c7-f2711bcefc85"
MEMBERS = ("ann-00000001", "bob-00000001", "cyd-00000001")
NAMES = {"id": "messageId", "sender": "from", "content": "body", "type": "kind", "subject": "summary"}


class RunFolder:
    """Writes what the program writes in the folder of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def inboxes(self) -> Path:
        return self.path / "inboxes"

    def make(self, *names: str, team: str = "ink", status: str = "active") -> None:
        """Begin a run; the first member leads it."""
        self.inboxes.mkdir(parents=True, exist_ok=True)
        listed = [self.member(name, "general-purpose" if number else "leader") for number, name in enumerate(names)]
        self.write({"teamRunId": self.path.name, "teamName": team, "status": status, "members": listed})
        for name in names:
            (self.inboxes / name).mkdir(exist_ok=True)

    def member(self, name: str, kind: str = "general-purpose", **more: Any) -> dict[str, Any]:
        """Return a member's entry in the state."""
        return {"name": name, "agentType": kind, "status": "running", "pendingInjectedMessageIds": [], **more}

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.path / "state.json").read_text())
        return found

    def write(self, state: Mapping[str, Any]) -> None:
        """Replace the state."""
        self._put(self.path / "state.json", {"version": 1, "createdAt": 1_773_662_400_000, **state})

    def change(self, name: str, **more: Any) -> None:
        """Change a member, or add it."""
        state = self.state()
        known = next((each for each in state["members"] if each["name"] == name), self.member(name))
        others = [each for each in state["members"] if each["name"] != name]
        self.write({**state, "members": [*others, {**known, **more}]})

    def send(self, inbox: str, message: Mapping[str, Any], prefix: str = "") -> Path:
        """Put a message into an inbox."""
        path = self.inboxes / inbox / f"{prefix}{str(message['messageId']).replace('/', '_')}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        while path.exists():
            path = path.with_name(f"{path.stem}-again.json")
        self._put(path, message)
        return path

    def _put(self, path: Path, value: Mapping[str, Any]) -> None:
        new = path.with_name(f"{path.name}.tmp.1")
        new.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
        new.replace(path)

    def process(self, path: Path) -> None:
        """Acknowledge a message."""
        (path.parent / "processed").mkdir(exist_ok=True)
        path.rename(path.parent / "processed" / path.name.removeprefix(".delivering-"))


class OmoHarness(FolderHarness):
    """One run with three members."""

    store: ClassVar[type[Store]] = OmoStore
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NO_ID: "its program passes over a message without an id",
        Feature.NO_TIME: "its program passes over a message without a time",
        Feature.REPLACE: "what was in a run stays in what was seen",
        Feature.LOSE: "what was seen is kept in a journal",
        Feature.EXTRA: "its own program alone writes the state",
        Feature.RECORDS: "a receipt is a file that was moved",
        Feature.TAGS: "it knows no tags",
        Feature.ROLES: "the program gives no roles",
        Feature.FREEZE: "its members are not frozen",
        Feature.TTL: "its mail does not expire",
        Feature.BIG: "the program takes no more than 32 KiB",
    }

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._monkeypatch = monkeypatch
        self.run = RunFolder(self.path)
        self._torn = (Path(), b"")
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        monkeypatch.setattr(writer, "KINDS", (*writer.KINDS, "question"))
        monkeypatch.setattr(writer, "_correlation", lambda run, thread: thread)

    writer = "user"

    @property
    def path(self) -> Path:
        return self._folder / "runtime" / RUN

    def make(self) -> None:
        self.run.make(*MEMBERS)

    def message(self, fields: Mapping[str, Any]) -> None:
        for name, message in self._messages(fields):
            self.run.send(name, message)

    def _messages(self, fields: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        known = dict(fields)
        recipient = known.pop("recipient", MEMBERS[0])
        message = {NAMES.get(name, name): value for name, value in known.items()}
        if "timestamp" in message:
            time = time_of(message["timestamp"])
            message["timestamp"] = message["timestamp"] if time is None else int(time * 1000)
        if message.get("thread"):
            message["correlationId"] = message.pop("thread")
        for name in [recipient] if isinstance(recipient, str) else recipient:
            is_all = name == "all"
            yield (
                MEMBERS[0] if is_all else name,
                {"version": 1, "kind": "message", "to": "*" if is_all else name} | message,
            )

    def agent(self, fields: Mapping[str, Any]) -> None:
        self.run.change(fields["session_id"])

    def damage(self) -> None:
        path = self.run.inboxes / MEMBERS[0] / f"damaged-{time.time_ns()}.json"
        path.write_text('{"from": "nobody"}')

    def tear(self, fields: Mapping[str, Any]) -> None:
        [(name, message)] = self._messages(fields)
        data = json.dumps(message).encode()
        path = self.run.inboxes / name / "torn.json"
        path.write_bytes(data[:40])
        self._torn = path, data

    def repair(self) -> None:
        self._torn[0].write_bytes(self._torn[1])

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold every inbox's lock; a clock of which each look takes ten seconds ends all patience."""
        ticks = count(step=10)
        clock = SimpleNamespace(
            monotonic=ticks.__next__, sleep=lambda _: None, time=lambda: 0.0, time_ns=lambda: 1_773_662_400_000_000_000
        )
        self._monkeypatch.setattr(writer, "time", clock)
        self._monkeypatch.setattr(lock_files, "time", clock)
        held = [path.with_name(f"{path.name}.lock") for path in self.run.inboxes.iterdir() if path.is_dir()]
        for path in held:
            path.write_text("team-mailbox:x\n1\n1\n")
        try:
            yield
        finally:
            for path in held:
                path.unlink()

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        files = (path for path in self.path.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
