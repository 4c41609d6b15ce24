"""Rules of the commands: they append, return what they wrote, and one that raises has written nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mailstore.conformance.archiving import leaving
from mailstore.conformance.following import following, ids, of, scanned
from mailstore.conformance.harness import Feature, Harness
from mailstore.conformance.reading import ODD
from mailstore.conformance.samples import ANN, BOB, agent, hello, message_record, sent_messages
from mailstore.errors import DraftRefused, MailboxBusy, StoreError, Unsupported
from mailstore.records.events import Event
from mailstore.records.message import Delivery, Intervention, Message, Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.store import Capability, Store

STEPPED_IN = Intervention("i1", "user", "intervene", 1_773_662_400.0, "m0", "a note", {"to": [ANN], "n": 3})

COMMANDS: dict[Capability, Callable[[Harness, Store], object]] = {
    Capability.SEND: lambda harness, store: store.send(hello(harness)),
    Capability.MARK_READ: lambda harness, store: store.mark_read(harness.reader, ["m0"]),
    Capability.UPDATE_ROSTER: lambda harness, store: store.update_agent(Agent(ANN, role="librarian")),
    Capability.RECORD: lambda harness, store: store.record(STEPPED_IN),
    Capability.ARCHIVE: lambda harness, store: store.archive(leaving("m0")),
}


CARRIED: dict[str, tuple[Capability, Any]] = {
    "subject": (Capability.SUBJECT, "A word"),
    "thread": (Capability.REPLY, "m1"),
    "ttl_hours": (Capability.TTL, 5),
    "type": (Capability.TYPE, "question"),
}
every_field = pytest.mark.parametrize("name", [*CARRIED, "recipients"])
every_command = pytest.mark.parametrize("capability", list(COMMANDS), ids=lambda capability: str(capability.value))


def fresh(harness: Harness) -> list[Event]:
    """Return all events of the mailbox as it is now."""
    with harness.open() as store:
        return scanned(store)


class WritingContract:
    """Tests of `send`, `mark_read`, `update_agent` and `record`."""

    def test_send_appends_a_message_and_returns_it_as_it_was_written(self, harness: Harness) -> None:
        harness.need(Capability.SEND)
        harness.make()
        sent_messages(harness, 2)
        fields = {name: value for name, (need, value) in CARRIED.items() if need in harness.capabilities}
        with harness.open() as store:
            sent = store.send(harness.draft(recipients=(BOB,), content="Hello, @bob-00000001.", **fields))
            assert store.content(sent) == "Hello, @bob-00000001."
            assert b"Hello, @bob-00000001." in store.raw(sent)
        assert sent.sender == harness.writer
        assert BOB in sent.recipients
        assert sent.mentions == (BOB,)
        assert {name: getattr(sent, name) for name in fields} == fields
        events = fresh(harness)
        messages = {message.id: message for message in of(Message, events)}
        assert set(messages) == {"m0", "m1", sent.id}
        assert messages[sent.id] == sent
        assert not of(Problem, events)

    @every_field
    def test_a_draft_with_what_a_mailbox_can_not_hold_is_refused_and_nothing_written(
        self, harness: Harness, name: str
    ) -> None:
        harness.need(Capability.SEND)
        need, value = {**CARRIED, "recipients": (Capability.SEVERAL, (BOB, ANN))}[name]
        if need in harness.capabilities:
            pytest.skip("it can be held")
        harness.make()
        sent_messages(harness, 1)
        with harness.open() as store, pytest.raises(Unsupported) as caught:
            store.send(harness.draft(**{"recipients": (BOB,), "content": "Hello.", name: value}))
        assert caught.value.remedy == harness.capabilities.why_not(need)
        assert ids(fresh(harness)) == {"m0": 1}

    def test_files_are_sent_whole_or_refused(self, harness: Harness, tmp_path: Path) -> None:
        harness.need(Capability.SEND)
        harness.make()
        sent_messages(harness, 1)
        file = tmp_path / "a report.csv"
        file.write_bytes(b"1,2\n\0\xff")
        draft = harness.draft(recipients=(BOB,), content="See the file.", attachments=(str(file),))
        with harness.open() as store:
            try:
                sent = store.send(draft)
            except (Unsupported, DraftRefused):  # a kind may take some files only, as images
                assert ids(fresh(harness)) == {"m0": 1}
                return
            assert store.sends_files
        with harness.open() as store:
            [attached_file] = store.attachments(sent)
            with store.open_attachment(sent, attached_file.name) as there:
                assert (attached_file.name, there.read()) == (file.name, file.read_bytes())
            with pytest.raises(DraftRefused, match="can't be read"):
                store.send(harness.draft(recipients=(BOB,), content="No.", attachments=(str(tmp_path / "none"),)))
        assert ids(fresh(harness)) == {"m0": 1, sent.id: 1}

    def test_send_to_several_reaches_them_all(self, harness: Harness) -> None:
        harness.need(Capability.SEND, Capability.SEVERAL)
        harness.make()
        with harness.open() as store:
            sent = store.send(harness.draft(recipients=(BOB, "cyd-00000001"), content="Hello."))
        assert set(sent.recipients) >= {BOB, "cyd-00000001"}

    def test_send_keeps_metadata_in_the_record(self, harness: Harness) -> None:
        harness.need(Capability.SEND, Capability.METADATA)
        harness.make()
        metadata = {"branch": "ink-“4”", "to": "nobody", "n": 3, "parts": [True, None, {"x": 0.5}]}
        with harness.open() as store:
            sent = store.send(harness.draft(recipients=(BOB,), content="Hello.", metadata=metadata))
            assert metadata.items() <= json.loads(store.raw(sent))["metadata"].items()
            assert BOB in sent.recipients
            assert "nobody" not in sent.recipients

    def test_send_keeps_any_text(self, harness: Harness) -> None:
        harness.need(Capability.SEND)
        harness.make()
        with harness.open() as store:
            bodies = ["日本 🙂 Grüße", '{"id": "no record"}\n{"id": "none"}', "  . ."]
            bodies += [] if Feature.CONTROLS in harness.cannot else [ODD, " . "]
            bodies += [] if Feature.BIG in harness.cannot else ["x" * 300_000]
            for body in bodies:
                assert store.content(store.send(hello(harness, body))) == body
        assert sum(ids(events := fresh(harness)).values()) == len(bodies)
        assert not of(Problem, events)

    def test_send_appends_the_audience_as_deliveries(self, harness: Harness) -> None:
        harness.need(Capability.SEND, Capability.AUDIENCE)
        harness.make()
        with harness.open() as store:
            sent = store.send(harness.draft(recipients=("all",), content="Hello.", audience=(BOB, "user")))
        deliveries = of(Delivery, fresh(harness))
        assert {(one.message_id, one.recipient) for one in deliveries} == {(sent.id, BOB), (sent.id, "user")}

    def test_what_is_sent_comes_through_the_changes_like_any_other(self, harness: Harness) -> None:
        harness.need(Capability.SEND, Capability.FOLLOW)
        harness.make()
        sent_messages(harness, 1)

        async def story() -> tuple[Message, list[Event]]:
            with harness.open() as store:
                scanned(store)
                async with following(store) as came:
                    sent = await asyncio.to_thread(
                        store.send, harness.draft(recipients=(BOB,), content="Hello.", audience=(BOB,))
                    )
                    await came.until_message(sent.id)
                    if Capability.AUDIENCE in harness.capabilities:
                        await came.until(lambda events: bool(of(Delivery, events)))
                    return sent, came.events

        sent, events = asyncio.run(story())
        assert of(Message, events) == [sent]

    def test_what_another_program_sends_comes_as_a_new_reader_finds_it(self, harness: Harness) -> None:
        harness.need(Capability.SEND, Capability.FOLLOW)
        harness.make()
        sent_messages(harness, 1)

        async def story() -> tuple[Message, list[Event]]:
            with harness.open() as store, harness.open() as other:
                scanned(store)
                async with following(store) as came:
                    sent = await asyncio.to_thread(other.send, hello(harness))
                    return sent, await came.until_message(sent.id)

        sent, events = asyncio.run(story())
        came, found = (
            [(one.sender, one.recipients, one.subject, one.time) for one in of(Message, each) if one.id == sent.id]
            for each in (events, fresh(harness))
        )
        assert came == found
        assert came[0][:2] == (sent.sender, sent.recipients)

    def test_send_to_a_mailbox_with_a_torn_end_spoils_neither(self, harness: Harness) -> None:
        harness.need(Capability.SEND, Feature.TEAR)
        harness.make()
        sent_messages(harness, 1)
        harness.tear(message_record("torn", 5))
        with harness.open() as store:
            sent = store.send(harness.draft(recipients=(BOB,), content="Hello."))
            assert store.content(sent) == "Hello."
        assert ids(fresh(harness)) == {"m0": 1, sent.id: 1}

    def test_mark_read_records_just_these_messages_and_says_how_many(self, harness: Harness) -> None:
        harness.need(Capability.MARK_READ)
        harness.make()
        sent_messages(harness, 4, recipient=harness.reader)
        with harness.open() as store:
            count = store.mark_read(harness.reader, ["m1", "m3"])
        receipts = of(Receipt, fresh(harness))
        assert {(one.message_id, one.reader) for one in receipts} == {("m1", harness.reader), ("m3", harness.reader)}
        assert count == len(receipts) == 2

    def test_one_reader_s_mark_changes_nothing_for_another(self, harness: Harness) -> None:
        harness.need(Capability.MARK_READ, Feature.MARK_OTHERS)
        harness.make()
        sent_messages(harness, 2, recipient="all")
        with harness.open() as store:
            store.mark_read(ANN, ["m0"])
            store.mark_read(BOB, ["m0", "m1"])
        readers = {(one.message_id, one.reader) for one in of(Receipt, fresh(harness))}
        assert readers == {("m0", ANN), ("m0", BOB), ("m1", BOB)}

    def test_marking_nothing_writes_nothing(self, harness: Harness) -> None:
        harness.need(Capability.MARK_READ)
        harness.make()
        with harness.open() as store:
            assert store.mark_read(harness.reader, []) == 0
        assert not of(Receipt, fresh(harness))

    def test_update_agent_registers_an_agent(self, harness: Harness) -> None:
        harness.need(Capability.UPDATE_ROSTER)
        harness.make()
        new = Agent(ANN, "Ann", "librarian", ("project:ink",), Status.FROZEN, "reading", 1_773_662_400.0)
        with harness.open() as store:
            store.update_agent(new)
        registered = of(Agent, fresh(harness))[-1]
        assert (registered.session_id, registered.name, registered.role, registered.tags) == (
            ANN,
            "Ann",
            "librarian",
            ("project:ink",),
        )
        assert (registered.status, registered.activity, registered.started_at) == (
            Status.FROZEN,
            "reading",
            1_773_662_400.0,
        )

    def test_update_agent_replaces_what_the_roster_says(self, harness: Harness) -> None:
        harness.need(Capability.UPDATE_ROSTER, Feature.AGENT)
        harness.make()
        harness.agent(agent(ANN, role="librarian", tags=["project:ink"]))
        harness.agent(agent(BOB, role="architect"))
        with harness.open() as store:
            store.update_agent(Agent(ANN, role="steward", status=Status.DEAD, ended_at=1_773_662_400.0))
        last = {one.session_id: one for one in of(Agent, fresh(harness))}
        assert (last[ANN].role, last[ANN].tags, last[ANN].status) == ("steward", (), Status.DEAD)
        assert last[ANN].ended_at == 1_773_662_400.0
        assert (last[BOB].role, last[BOB].status) == ("architect", Status.LIVING)

    def test_update_agent_keeps_fields_unknown_to_us(self, harness: Harness) -> None:
        harness.need(Capability.UPDATE_ROSTER, Feature.AGENT, Feature.EXTRA)
        harness.make()
        harness.agent(agent(ANN, colour="blue", nested={"deep": [1, 2]}))
        with harness.open() as store:
            store.update_agent(Agent(ANN, role="steward"))
        fields = harness.agent_fields(ANN)
        assert (fields["role"], fields["colour"], fields["nested"]) == ("steward", "blue", {"deep": [1, 2]})

    def test_record_appends_to_the_journal(self, harness: Harness) -> None:
        harness.need(Capability.RECORD)
        harness.make()
        sent_messages(harness, 1)
        with harness.open() as store:
            store.record(STEPPED_IN)
        assert of(Intervention, fresh(harness)) == [STEPPED_IN]

    # Threads, and what goes wrong

    def test_commands_may_come_from_several_threads_at_a_time(self, harness: Harness) -> None:
        harness.need(Capability.SEND, Capability.MARK_READ)
        harness.make()
        names = sent_messages(harness, 8, recipient=harness.reader)
        with harness.open() as store, ThreadPoolExecutor(8) as threads:
            drafts = [hello(harness, f"{n} " * 999 + ".") for n in range(32)]
            sent = threads.map(store.send, drafts)
            marked = threads.map(lambda name: store.mark_read(harness.reader, [name]), names)
            bodies = {store.content(message) for message in sent}
            assert sum(marked) == 8
        events = fresh(harness)
        assert bodies == {one.content for one in drafts}
        assert sum(ids(events).values()) == 40
        if Capability.AUDIENCE in harness.capabilities:
            assert len(of(Delivery, events)) == 32
        assert {one.message_id for one in of(Receipt, events)} == set(names)
        assert not of(Problem, events)

    @every_command
    def test_what_is_missing_raises_unsupported_and_writes_nothing(
        self, harness: Harness, capability: Capability
    ) -> None:
        if capability in harness.capabilities:
            pytest.skip("it is there")
        harness.make()
        sent_messages(harness, 1)
        before = None if Feature.SNAPSHOT in harness.cannot else harness.snapshot()
        with harness.open() as store, pytest.raises(Unsupported) as caught:
            COMMANDS[capability](harness, store)
        assert caught.value.remedy == harness.capabilities.why_not(capability)
        assert before is None or harness.snapshot() == before

    @every_command
    def test_where_the_lock_can_not_be_had_mailbox_busy_is_raised_and_nothing_written(
        self, harness: Harness, capability: Capability
    ) -> None:
        harness.need(capability, Feature.LOCK)
        harness.make()
        sent_messages(harness, 2, recipient=harness.reader)
        with harness.open() as store:
            COMMANDS[capability](harness, store)
            before = harness.snapshot()
            command = COMMANDS[capability]
            if capability is Capability.MARK_READ:
                command = lambda harness, store: store.mark_read(harness.reader, ["m1"])  # noqa: E731 - it must be one not marked yet
            with harness.lock(), pytest.raises(MailboxBusy) as caught:
                command(harness, store)
            assert caught.value.remedy
            assert harness.snapshot() == before

    @every_command
    def test_a_command_on_a_mailbox_that_is_gone_raises_and_writes_nothing(
        self, harness: Harness, capability: Capability
    ) -> None:
        harness.need(capability, Feature.REMOVE)
        harness.make()
        sent_messages(harness, 1)
        agents = of(Agent, fresh(harness))
        with harness.open() as store:
            harness.remove()
            with pytest.raises(StoreError):
                COMMANDS[capability](harness, store)
        harness.restore()
        assert ids(events := fresh(harness)) == {"m0": 1}
        assert not of(Receipt, events)
        assert not of(Intervention, events)
        assert of(Agent, events) == agents
