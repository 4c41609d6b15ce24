"""Stores that stand for others, for the conformance suite: a read-only one, and several mailboxes as one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing
from pathlib import Path
from typing import Any, ClassVar

import pytest
from msgspec.structs import replace

from mailstore.conformance import Feature, Harness
from mailstore.conformance.harness import Snapshot
from mailstore.delegating import COMMANDS, ReadOnly
from mailstore.haak import HaakStore
from mailstore.records.draft import Draft
from mailstore.records.events import Event, Mailboxes
from mailstore.records.message import Delivery, Intervention, Message, Problem, Receipt
from mailstore.records.roster import Agent
from mailstore.records.scope import Scope, url_of
from mailstore.several import SeveralStore
from mailstore.store import Capabilities, Store
from tests.mailstore.haak_harness import HaakHarness

REASON = "the past can't be changed"


class ReadOnlyHarness(HaakHarness):
    """A mailbox that other programs write to, behind a read-only store."""

    @property
    def capabilities(self) -> Capabilities:
        return self.store.declared.without(REASON, *COMMANDS)

    def open(self, *, poll: bool = False) -> Store:
        return ReadOnly(super().open(poll=poll), REASON)


class Unlabelled(SeveralStore):
    """Several mailboxes, of which the suite sees one by the names that it has there."""

    scope: ClassVar[Scope] = Scope("lab")

    def scan(self) -> Iterator[list[Event]]:
        yield from map(self._bare_events, super().scan())

    async def changes(self) -> AsyncGenerator[list[Event], None]:
        async with aclosing(super().changes()) as changes:
            async for batch in changes:
                if events := self._bare_events(batch):
                    yield events

    def _bare_events(self, batch: list[Event]) -> list[Event]:
        return [self._bare_event(event) for event in batch if not isinstance(event, Mailboxes)]

    def _bare_event(self, event: Event) -> Event:
        bare = self.scope.bare
        match event:
            case Message():
                return self.scope.bare_message(event)
            case Agent():
                return self.scope.bare_agent(event)
            case Receipt():
                return replace(event, message_id=bare(event.message_id), reader=bare(event.reader))
            case Delivery():
                return replace(event, message_id=bare(event.message_id), recipient=bare(event.recipient))
            case Intervention():
                return replace(self.scope.bare_intervention(event), id=bare(event.id))
            case Problem():
                return replace(event, file=bare(event.file))
            case _:
                return event

    def content(self, message: Message) -> str:
        return super().content(self.scope.message(message))

    def raw(self, message: Message) -> bytes:
        return super().raw(self.scope.message(message))

    def write_message(self, draft: Draft) -> Message:
        names = self.scope.names
        update = {"recipients": names(draft.recipients), "audience": names(draft.audience)}
        thread = self.scope.id(draft.thread) if draft.thread else None
        return self.scope.bare_message(super().write_message(draft.model_copy(update={**update, "thread": thread})))

    def write_reads(self, reader: str, message_ids: Sequence[str]) -> int:
        return super().write_reads(reader, [self.scope.id(each) for each in message_ids])

    def write_agent(self, agent: Agent) -> None:
        super().write_agent(self.scope.agent(agent))

    def write_intervention(self, intervention: Intervention) -> None:
        labelled = self.scope.event(intervention)
        assert isinstance(labelled, Intervention)
        super().write_intervention(replace(labelled, id=intervention.id))

    def write_archive(self, plan: Any, **more: Any) -> Any:
        threads = tuple(tuple(map(self.scope.id, ids)) for ids in plan.threads)
        return super().write_archive(replace(plan, threads=threads), **more)


class SeveralHarness(Harness):
    """Two mailboxes as one; the suite's mail is in the first."""

    store: ClassVar[type[Store]] = Unlabelled
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.REMOVE: "the other mailbox is still there: that one is gone is a problem",
        Feature.DISCONNECT: "its mailboxes are files",
    }

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._spare = folder / "spare"
        self._lab = HaakHarness(folder / "lab", "table", patch)

    @property
    def location(self) -> str:
        parts = {"lab": f"haak:{self._lab.location}", "spare": f"haak:{self._spare}"}
        return url_of(parts).partition(":")[2]

    def make(self) -> None:
        self._lab.path.parent.mkdir()
        self._lab.make()
        HaakStore.create(str(self._spare)).close()

    def message(self, fields: Mapping[str, Any]) -> None:
        self._lab.message(fields)

    def agent(self, fields: Mapping[str, Any]) -> None:
        self._lab.agent(fields)

    def agent_fields(self, session_id: str) -> Mapping[str, Any]:
        return self._lab.agent_fields(session_id)

    def read(self, fields: Mapping[str, Any]) -> None:
        self._lab.read(fields)

    def delivery(self, fields: Mapping[str, Any]) -> None:
        self._lab.delivery(fields)

    def damage(self) -> None:
        self._lab.damage()

    def tear(self, fields: Mapping[str, Any]) -> None:
        self._lab.tear(fields)

    def repair(self) -> None:
        self._lab.repair()

    def replace(self, *messages: Mapping[str, Any]) -> None:
        self._lab.replace(*messages)

    def lock(self) -> AbstractContextManager[object]:
        return self._lab.lock()

    def snapshot(self) -> Snapshot:
        return self._lab.snapshot()
