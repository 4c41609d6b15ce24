"""A town's database as `gt` and `bd` treat it, for the conformance suite."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from mailstore.conformance import Feature
from mailstore.kinds.beads.store import BeadsStore
from mailstore.store import Store
from tests.kinds.beads.beads_town import Form, Town
from tests.mailstore.folder_harness import FolderHarness

ROWS = "a row of a table is there as a whole or not at all"


def spoken(name: str) -> str:
    """Return an address as Gas Town writes it."""
    kind, _, rest = name.partition(":")
    return f"channel:{rest}" if kind == "project" else "overseer" if name == "user" else name


class BeadsHarness(FolderHarness):
    """A town whose database is an export."""

    store: ClassVar[type[Store]] = BeadsStore
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NO_ID: "an issue has an id",
        Feature.SAME_ID: "an issue has an id of its own",
        Feature.RECORDS: "who has read a message is what became of its issue",
        Feature.FREEZE: "nothing tells that an agent is frozen",
        Feature.TTL: "its messages do not expire",
        Feature.EXTRA: "its agents are not written",
    }

    form: ClassVar[Form] = "export"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._town = Town(folder / "town", self.form)
        self._channels: dict[str, set[str]] = {}

    @property
    def path(self) -> Path:
        return self._town.root

    def make(self) -> None:
        self._town.make()

    def message(self, fields: Mapping[str, Any]) -> None:
        self._message(self._town, fields)

    def _message(self, town: Town, fields: Mapping[str, Any]) -> None:
        to = fields["recipient"]
        first, *copies = [to] if isinstance(to, str) else to
        labels = [f"cc:{spoken(each)}" for each in copies]
        labels += [f"reply-to:{fields['thread']}"] if fields.get("thread") else []
        labels += [f"msg-type:{fields['type']}"] if fields.get("type") else []
        known = {"id", "sender", "recipient", "timestamp", "content", "subject", "thread", "type"}
        more = {name: value for name, value in fields.items() if name not in known}
        town.mail(
            fields["id"],
            spoken(fields["sender"]),
            spoken(first),
            fields["content"],
            *labels,
            title=fields.get("subject") or "",
            created_at=fields.get("timestamp", ""),
            **more,
        )

    def agent(self, fields: Mapping[str, Any]) -> None:
        name = fields["session_id"]
        is_gone = fields.get("status") == "dead"
        more: dict[str, Any] = {"closed_at": fields.get("ended_at")} if is_gone else {}
        more |= {"created_at": fields["started_at"]} if fields.get("started_at") else {}
        status = "closed" if is_gone else "open"
        self._town.agent(f"hq-{name}", name, fields.get("role") or "", status=status, **more)
        for tag in fields.get("tags") or ():
            channel = tag.partition(":")[2]
            self._channels.setdefault(channel, set()).add(name)
            members = ",".join(sorted(self._channels[channel]))
            self._town.told(f"hq-channel-{channel}", "gt:channel", name=channel, subscribers=members)

    def damage(self) -> None:
        self._town.junk.append(b'{"id": "cut", "title": "never\n')
        self._town.flush()

    def tear(self, fields: Mapping[str, Any]) -> None:
        self._message(self._town, {**fields, "flush": False})
        self._town.tear(fields["id"])

    def repair(self) -> None:
        self._town.repair()

    def replace(self, *messages: Mapping[str, Any]) -> None:
        self._town.forget()
        for each in messages:
            self._message(self._town, each)

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        return {
            str(path): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
            for path in (self.path, *self.path.rglob("*"))
        }


class BeadsTablesHarness(BeadsHarness):
    """The same in SQLite."""

    form: ClassVar[Form] = "tables"
    cannot: ClassVar[Mapping[Feature, str]] = {
        **BeadsHarness.cannot,
        Feature.DAMAGE: ROWS,
        Feature.TEAR: ROWS,
        Feature.OTHER: "the table's columns are fixed",
        Feature.VERBATIM: "a row is no text: its JSON is made for whoever looks",
    }
