"""Rules of `archive`: messages move, none is lost or duplicated, and followers get them all."""

from __future__ import annotations

import asyncio

from mailstore.conformance.following import following, ids, of, scanned
from mailstore.conformance.harness import Feature, Harness
from mailstore.conformance.samples import message_record, sent_messages
from mailstore.records.events import Event, Reset
from mailstore.records.message import Message
from mailstore.rules.archive_plan import ArchivePlan
from mailstore.store import Capability, Store


def leaving(*message_ids: str) -> ArchivePlan:
    """Return a plan that archives some messages, each a thread of its own."""
    return ArchivePlan(tuple((each,) for each in message_ids), (), {"2026-03": len(message_ids)}, 0)


def archived(events: list[Event]) -> set[str]:
    return {message.id for message in of(Message, events) if message.archived}


class ArchivingContract:
    """Tests of `archive`."""

    def test_archived_messages_are_read_as_archived_and_the_others_as_they_were(self, harness: Harness) -> None:
        harness.need(Capability.ARCHIVE)
        harness.make()
        names = sent_messages(harness, 5)
        with harness.open() as store:
            before = {message.id: store.content(message) for message in of(Message, scanned(store))}
            report = store.archive(leaving("m0", "m1", "m3"))
        assert (report.archived, report.kept, len(report.files)) == (3, 2, 1)
        with harness.open() as store:
            events = scanned(store)
            assert ids(events) == dict.fromkeys(names, 1)
            assert archived(events) == {"m0", "m1", "m3"}
            assert {message.id: store.content(message) for message in of(Message, events)} == before

    def test_a_thread_that_got_mail_after_the_plan_was_made_stays(self, harness: Harness) -> None:
        harness.need(Capability.ARCHIVE)
        harness.make()
        sent_messages(harness, 3)
        harness.message(message_record("answer", 20, thread="m1"))
        with harness.open() as store:
            report = store.archive(leaving("m0", "m1"))
        assert (report.archived, report.kept) == (1, 3)
        with harness.open() as store:
            assert archived(scanned(store)) == {"m0"}

    def test_archiving_that_is_cancelled_changes_nothing(self, harness: Harness) -> None:
        harness.need(Capability.ARCHIVE, Feature.SNAPSHOT)
        harness.make()
        sent_messages(harness, 3)
        before = harness.snapshot()
        with harness.open() as store:
            report = store.archive(leaving("m0", "m1"), is_cancelled=lambda: True)
        assert (report.archived, report.is_cancelled) == (0, True)
        assert harness.snapshot() == before

    def test_followers_get_every_message_once_after_the_last_reset(self, harness: Harness) -> None:
        harness.need(Capability.ARCHIVE, Capability.FOLLOW)
        harness.make()
        names = sent_messages(harness, 200)

        async def story(store: Store) -> list[Event]:
            async with following(store) as came:
                await asyncio.to_thread(store.archive, leaving(*names[:150]))
                harness.message(message_record("later", 900))
                return await came.until(lambda events: is_whole(events))

        def is_whole(events: list[Event]) -> bool:
            since = max((at for at, event in enumerate(events) if isinstance(event, Reset)), default=0)
            return archived(events[since:]) == set(names[:150]) and set(ids(events[since:])) == {*names, "later"}

        with harness.open() as store:
            scanned(store)
            events = asyncio.run(story(store))
        since = max(at for at, event in enumerate(events) if isinstance(event, Reset))
        assert ids(events[since:]) == dict.fromkeys([*names, "later"], 1)
