"""AgentAZAll mailboxes as the system's own program treats them, for the conformance suite."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from mailstore.conformance import Feature
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.store import Store
from tests.mailstore.folder_harness import FolderHarness

NAMED = {
    "From": "sender",
    "To": "recipient",
    "Subject": "subject",
    "Date": "timestamp",
    "Message-ID": "id",
    "In-Reply-To": "thread",
}


def local(timestamp: str) -> str:
    """Return a moment as the program writes it: local, without its zone."""
    return datetime.fromisoformat(timestamp).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def message_file(header: Mapping[str, str], body: str) -> bytes:
    """Return the bytes of a message file."""
    return ("".join(f"{name}: {value}\n" for name, value in header.items()) + f"\n---\n{body}").encode()


class AgentAZAllHarness(FolderHarness):
    """A folder of mailboxes; every message lies in its recipients' inboxes and its sender's sent folder."""

    store: ClassVar[type[Store]] = AgentAZAllStore
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NO_TIME: "the file's own time stands in",
        Feature.SAME_ID: "files of one id are copies of one message, and what is none gets an id of its own",
        Feature.LOCK: "its own program knows no locks",
        Feature.EXTRA: "an agent is a folder",
        Feature.RECORDS: "a copy in an inbox tells that it was delivered, and that it was read, and not when",
        Feature.TAGS: "it has no channels",
        Feature.ROLES: "it has no roles",
        Feature.MARK_OTHERS: "a message is marked in the inbox of an agent that has a copy, and none is to all",
        Feature.FREEZE: "an agent is there or is not",
        Feature.TYPE: "a message has no type",
        Feature.TTL: "mail does not expire",
        Feature.CONTROLS: "its own program reads every line end as a newline",
    }

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count()
        self._torn = b""

    @property
    def writer(self) -> str:
        return "user"

    @property
    def path(self) -> Path:
        return self._folder / "data" / "mailboxes"

    def make(self) -> None:
        self.path.mkdir(parents=True)
        for name in ("ann-00000001", "bob-00000001", "cyd-00000001"):
            self._put(f"{name}/.agent_key", json.dumps({"agent": name}).encode())

    def _put(self, place: str, data: bytes) -> Path:
        path = self.path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".tmp")
        draft.write_bytes(data)
        draft.replace(path)
        return path

    def message(self, fields: Mapping[str, Any]) -> None:
        data, day, stem = self._file(fields)
        recipient = fields["recipient"]
        recipients = [recipient] if isinstance(recipient, str) else recipient
        for name in recipients:
            self._put(f"{name}/{day}/inbox/{stem}.txt", data)
        self._put(f"{fields['sender']}/{day}/sent/{stem}.txt", data)

    def _file(self, fields: Mapping[str, Any]) -> tuple[bytes, str, str]:
        known = dict(fields)
        if not isinstance(known["recipient"], str):
            known["recipient"] = ", ".join(known["recipient"])
        date = known["timestamp"] = local(known["timestamp"])
        content = known.pop("content")
        header = {name: str(known.pop(field)) for name, field in NAMED.items() if field in known}
        header = {**header, "Status": "new", **{name: str(value) for name, value in known.items()}}
        stem = str(fields.get("id") or f"{next(self._numbers):012x}")
        return message_file(header, content), date[:10], stem

    def agent(self, fields: Mapping[str, Any]) -> None:
        self._put(f"{fields['session_id']}/2026-03-16/what_am_i_doing/tasks.txt", b"CURRENT: reading mail")

    def damage(self) -> None:
        path = self._put(f"ann-00000001/2026-03-16/inbox/cut{next(self._numbers)}.txt", b"no header\n\n---\nA body.")
        settled = time.time() - 60
        os.utime(path, (settled, settled))

    def tear(self, fields: Mapping[str, Any]) -> None:
        data, day, stem = self._file(fields)
        self._torn = data
        self._place = f"{fields['recipient']}/{day}/inbox/{stem}.txt"
        self._put(self._place, data[:40])

    def repair(self) -> None:
        self._put(self._place, self._torn)

    def replace(self, *messages: Mapping[str, Any]) -> None:
        self.path.replace(self._folder / "old")
        self.make()
        for fields in messages:
            self.message(fields)

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        files = (path for path in self.path.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
