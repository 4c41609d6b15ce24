"""Rules of `changes`: everything that comes, once and in order, and what follows when a mailbox is replaced."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from time import perf_counter, thread_time

import pytest

from mailstore.conformance.following import Follower, following, ids, of, scanned
from mailstore.conformance.harness import Feature, FileHarness, Harness
from mailstore.conformance.samples import ANN, agent, at, message_record, sent_messages
from mailstore.records.events import Back, Event, Gone, Reset
from mailstore.records.message import Message, Problem, Receipt
from mailstore.records.roster import Agent
from mailstore.store import Capability, Store

BUSY_SECONDS, HELD_UP_SECONDS = 1.0, 5.0
"""What no step of the event loop may take of the processor, and of time: the machine may be busy with other tests."""


def follow(store: Store, story: Callable[[Follower], Coroutine[None, None, None]]) -> list[Event]:
    """Run a story while a store is followed; return everything that `changes` yielded."""

    async def run() -> list[Event]:
        async with following(store) as came:
            await story(came)
            return came.events

    return asyncio.run(run())


def _stats(paths: Iterable[str]) -> list[object]:
    stats = [os.lstat(path) if os.path.lexists(path) else None for path in paths]
    return [stat and (stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]


def _aged(paths: Iterable[str]) -> list[object]:
    """Make files seem old, as the clock of a file system may be coarse; return their stats."""
    for path in filter(os.path.lexists, paths):
        os.utime(path, (1e9, 1e9), follow_symlinks=False)
    return _stats(paths)


class ChangingContract:
    """Tests of `changes`, and that reading changes nothing."""

    def test_changes_yields_what_came_after_the_scan_once_and_in_order(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW)
        harness.make()
        sent_messages(harness, 3)
        names = [f"late{number}" for number in range(20)]

        async def story(came: Follower) -> None:
            for number, name in enumerate(names):
                harness.message(message_record(name, 10 + number))
                if number % 7 == 0:
                    await came.until_message(name)
            await came.until_message(names[-1])

        with harness.open() as store:
            scanned(store)
            events = follow(store, story)
        assert [message.id for message in of(Message, events)] == names

    def test_unread_mail_that_comes_changes_a_path_that_is_watched(self, harness: Harness) -> None:
        harness.make()
        sent_messages(harness, 2)
        with harness.open() as store:
            watched = store.watched()
        paths = watched.mail
        if not paths:
            pytest.skip(f"{store.called()} has no files whose stats tell that mail came")
        before = _aged(paths)
        assert before == _stats(paths)
        harness.message(message_record("late", 9))
        assert before != _stats(paths)

    def test_no_record_comes_without_a_change_of_exact_paths(self, harness: Harness) -> None:
        harness.make()
        sent_messages(harness, 2)
        with harness.open() as store:
            watched = store.watched()
        if not watched.is_exact:
            pytest.skip(f"{store.called()} has records that no stats tell of")
        paths = [*watched.mail, *watched.other]
        if not harness.why_not(Feature.AGENT):
            before = _aged(paths)
            harness.agent(agent("late-00000001"))
            assert before != _stats(paths)
        if not harness.why_not(Feature.RECORDS):
            before = _aged(paths)
            harness.read({"message_id": "m0", "reader": ANN, "timestamp": at(9)})
            assert before != _stats(paths)

    def test_what_comes_between_the_scan_and_the_changes_is_not_lost(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW)
        harness.make()
        sent_messages(harness, 2)
        with harness.open() as store:
            before = scanned(store)
            harness.message(message_record("between", 5))
            events = follow(store, lambda came: _until(came, "between"))
        assert ids([*before, *events]) == {"m0": 1, "m1": 1, "between": 1}

    def test_where_a_scan_was_not_exhausted_nothing_is_lost(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW)
        harness.make()
        names = sent_messages(harness, 1100)
        with harness.open() as store:
            scanning = store.scan()
            before = next(batch for batch in scanning if of(Message, batch))
            assert set(ids(before)) < set(names)
            harness.message(message_record("late", 3000))
            events = follow(store, lambda came: _until(came, *(set(names) - set(ids(before))), "late"))
        assert ids([*before, *events]) == dict.fromkeys([*names, "late"], 1)

    def test_where_there_was_no_scan_nothing_is_lost(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW)
        harness.make()
        names = sent_messages(harness, 3)
        with harness.open() as store:
            events = follow(store, lambda came: _until(came, *names))
        assert ids(events) == dict.fromkeys(names, 1)

    def test_changes_go_on_until_the_iterator_is_closed(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW)
        harness.make()

        async def story(came: Follower) -> None:
            for number in range(3):
                harness.message(message_record(f"m{number}", number))
                await came.until_message(f"m{number}")

        with harness.open() as store:
            assert ids(follow(store, story)) == {"m0": 1, "m1": 1, "m2": 1}
            harness.message(message_record("m3", 3))
            assert set(ids(follow(store, lambda came: _until(came, "m3")))) >= {"m3"}

    def test_changes_can_be_closed_before_they_begin(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW)
        harness.make()

        async def closed(store: Store) -> list[Event]:
            changes = store.changes()
            assert isinstance(changes, AsyncGenerator)
            await changes.aclose()
            return await anext(changes, [])

        with harness.open() as store:
            assert asyncio.run(closed(store)) == []

    def test_an_agent_that_changes_is_yielded_again(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW, Feature.AGENT, Feature.ROLES)
        harness.make()
        harness.agent(agent(ANN))
        status = "living" if Feature.FREEZE in harness.cannot else "frozen"

        async def story(came: Follower) -> None:
            harness.agent(agent(ANN, status=status, role="librarian"))
            await came.until(lambda events: any(one.role == "librarian" for one in of(Agent, events)))

        with harness.open() as store:
            scanned(store)
            assert of(Agent, follow(store, story))[-1].status == status

    def test_a_read_that_comes_is_yielded_once(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW, Feature.RECORDS)
        harness.make()
        sent_messages(harness, 1)

        async def story(came: Follower) -> None:
            harness.read({"message_id": "m0", "reader": ANN, "timestamp": at(9)})
            await came.until(lambda events: bool(of(Receipt, events)))
            harness.message(message_record("last", 20))
            await came.until_message("last")

        with harness.open() as store:
            scanned(store)
            assert [one.reader for one in of(Receipt, follow(store, story))] == [ANN]

    def test_damage_that_comes_is_yielded_as_a_problem(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW, Feature.DAMAGE)
        harness.make()

        async def story(came: Follower) -> None:
            harness.damage()
            harness.message(message_record("after", 5))
            await came.until_message("after")

        with harness.open() as store:
            scanned(store)
            assert [one.fatal for one in of(Problem, follow(store, story))] == [True]

    def test_a_record_is_held_back_until_it_is_complete(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW, Feature.TEAR, Feature.AGENT)
        harness.make()
        sent_messages(harness, 1)

        async def story(came: Follower) -> None:
            harness.tear(message_record("torn", 5))
            harness.agent(agent("dan-00000001"))
            await came.until(lambda events: bool(of(Agent, events)))
            assert not of(Message, came.events)
            harness.repair()
            await came.until_message("torn")

        with harness.open() as store:
            scanned(store)
            events = follow(store, story)
        assert ids(events) == {"torn": 1}
        assert not [one for one in of(Problem, events) if one.fatal]

    # Replaced, gone, and back

    def test_after_reset_everything_follows_from_the_start(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW, Feature.REPLACE)
        harness.make()
        sent_messages(harness, 5)

        async def story(came: Follower) -> None:
            harness.replace(message_record("m1", 1), message_record("new", 2))
            await came.until_message("new")
            harness.message(message_record("later", 30))
            await came.until_message("later")

        with harness.open() as store:
            scanned(store)
            events = follow(store, story)
        reset = max(place for place, event in enumerate(events) if isinstance(event, Reset))
        assert of(Reset, events)[-1].reason
        assert ids(events[reset:]) == {"m1": 1, "new": 1, "later": 1}
        assert not of(Message, events[:reset])

    def test_gone_says_that_the_mailbox_can_not_be_reached_and_reset_that_it_is_back(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW, Feature.REMOVE)
        harness.make()
        names = sent_messages(harness, 3)

        async def story(came: Follower) -> None:
            harness.remove()
            await came.until(lambda events: bool(of(Gone, events)))
            assert of(Gone, came.events)[0].reason
            harness.restore()
            await came.until_message(*names)

        with harness.open() as store:
            scanned(store)
            events = follow(store, story)
        assert len(of(Gone, events)) == 1
        reset = max(place for place, event in enumerate(events) if isinstance(event, Reset))
        assert ids(events[reset:]) == dict.fromkeys(names, 1)

    def test_a_lost_connection_is_gone_and_then_back_with_what_came_meanwhile(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW, Feature.DISCONNECT)
        harness.make()
        sent_messages(harness, 3)

        async def story(came: Follower) -> None:
            harness.disconnect()
            await came.until(lambda events: bool(of(Gone, events)))
            assert of(Gone, came.events)[0].reason
            harness.reconnect()
            harness.message(message_record("later", 30))
            await came.until_message("later")

        with harness.open() as store:
            scanned(store)
            events = follow(store, story)
        assert len(of(Gone, events)) == len(of(Back, events)) == 1
        assert not of(Reset, events)
        assert ids(events) == {"later": 1}

    # The event loop, and the files

    def test_changes_never_hold_up_the_event_loop(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW)
        harness.make()
        names = sent_messages(harness, 1200)
        busy = waiting_long = 0.0

        async def story(came: Follower) -> None:
            nonlocal busy, waiting_long
            waiting = asyncio.create_task(_until(came, *names))
            while not waiting.done():
                start, worked = perf_counter(), thread_time()
                await asyncio.sleep(0)
                busy = max(busy, thread_time() - worked)
                waiting_long = max(waiting_long, perf_counter() - start)
            await waiting

        gc.freeze()  # a collection that goes through all that a test process holds takes as long
        try:
            with harness.open() as store:
                follow(store, story)
        finally:
            gc.unfreeze()
        assert busy < BUSY_SECONDS
        assert waiting_long < HELD_UP_SECONDS

    def test_reading_changes_nothing(self, harness: Harness) -> None:
        harness.need(Feature.SNAPSHOT)
        harness.make()
        names = sent_messages(harness, 3)
        if Feature.AGENT not in harness.cannot:
            harness.agent(agent(ANN))
        if Feature.DAMAGE not in harness.cannot:
            harness.damage()
        if Feature.TEAR not in harness.cannot:
            harness.tear(message_record("torn", 5))
        before = harness.snapshot()
        if isinstance(harness, FileHarness):
            assert harness.store.recognise(harness.path)
        with harness.open() as store:
            for message in of(Message, scanned(store)):
                store.content(message)
                store.raw(message)
        if Capability.FOLLOW in harness.capabilities:
            with harness.open() as store:
                follow(store, lambda came: _until(came, *names))
        assert harness.snapshot() == before


async def _until(came: Follower, *names: str) -> None:
    await came.until_message(*names)
