"""Rules of a kind: how it is recognised, opened, created and named."""

from __future__ import annotations

import asyncio

import pytest

from mailstore.conformance.following import following, ids, scanned
from mailstore.conformance.harness import Feature, FileHarness, Harness, on_files
from mailstore.conformance.samples import message_record, sent_messages
from mailstore.errors import MailboxMissing, MailError, StoreError, Unsupported
from mailstore.records.events import Event, Gone
from mailstore.records.message import Message
from mailstore.registry import KIND, open_store
from mailstore.store import Capability, Store


def created(harness: Harness) -> Store:
    """Create a mailbox; skip the test if only the system's own program can."""
    try:
        return harness.create()
    except Unsupported as refusal:
        pytest.skip(str(refusal))


class OpeningContract:
    """Tests of the class, `url`, `title` and `close`."""

    def test_the_kind_is_a_scheme_that_a_url_can_have(self, harness: Harness) -> None:
        assert KIND.fullmatch(harness.store.kind)

    def test_the_summary_is_one_line(self, harness: Harness) -> None:
        assert harness.store.summary
        assert harness.store.summary.isprintable()

    def test_for_what_it_can_not_do_there_is_a_reason(self, harness: Harness) -> None:
        for capability in Capability:
            is_there = capability in harness.capabilities
            assert is_there is (harness.capabilities.why_not(capability) == "")

    def test_a_mailbox_of_its_kind_is_recognised(self, harness: Harness) -> None:
        harness.need(Feature.MISS)
        on_files(harness).make()
        harness.message(message_record("m"))
        assert harness.store.recognise(on_files(harness).path)

    def test_where_nothing_lies_nothing_is_recognised(self, harness: Harness) -> None:
        assert not harness.store.recognise(on_files(harness).path)

    def test_opening_where_nothing_lies_raises_mailbox_missing(self, harness: Harness) -> None:
        harness.need(Feature.MISS)
        with pytest.raises(MailboxMissing) as caught:
            harness.store.open(harness.location)
        assert caught.value.problem

    def test_opening_reads_nothing_yet(self, harness: Harness) -> None:
        harness.make()
        with harness.open() as store:
            names = sent_messages(harness, 2)
            assert ids(scanned(store)) == dict.fromkeys(names, 1)

    async def _follow_by_polling(self, harness: Harness) -> list[Event]:
        with harness.open(poll=True) as store:
            async with following(store) as came:
                await came.until_message("m0")
                harness.message(message_record("late", 9))
                return await came.until_message("late")

    def test_polling_is_for_file_systems_without_events(self, harness: Harness) -> None:
        harness.need(Capability.FOLLOW)
        harness.make()
        sent_messages(harness, 1)
        assert ids(asyncio.run(self._follow_by_polling(harness))) == {"m0": 1, "late": 1}

    def test_creating_makes_an_empty_mailbox_and_opens_it(self, harness: Harness) -> None:
        with created(harness) as store:
            assert ids(scanned(store)) == {}
            assert isinstance(store, harness.store)
        with harness.open() as again:
            assert ids(scanned(again)) == {}

    def test_creating_where_a_mailbox_is_opens_it_and_leaves_it_as_it_is(self, harness: Harness) -> None:
        harness.need(Feature.MISS, Feature.SNAPSHOT)
        harness.make()
        names = sent_messages(harness, 2)
        before = harness.snapshot()
        with created(harness) as store:
            assert ids(scanned(store)) == dict.fromkeys(names, 1)
        assert harness.snapshot() == before

    def test_the_url_is_the_kind_and_a_location_an_absolute_path_for_a_kind_on_files(self, harness: Harness) -> None:
        harness.make()
        with harness.open() as store:
            kind, _, location = store.url.partition(":")
        assert kind == harness.store.kind
        assert location
        assert store.url.isprintable()
        assert location.startswith("/") or not isinstance(harness, FileHarness)

    def test_the_url_names_this_mailbox_anywhere(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        harness.need(Feature.NAME)
        harness.make()
        names = sent_messages(harness, 2)
        with open_store(f"{harness.store.kind}:{harness.location}") as store:
            url = store.url
        monkeypatch.chdir("/")
        with open_store(url) as again:
            assert ids(scanned(again)) == dict.fromkeys(names, 1)
            assert again.url == url

    def test_the_title_is_short_enough_for_a_header(self, harness: Harness) -> None:
        harness.make()
        with harness.open() as store:
            assert store.title.isprintable()
            name = harness.path.name if isinstance(harness, FileHarness) else ""
            assert 0 < len(store.title) <= max(40, len(name) + 20)

    def test_no_secret_of_its_location_is_shown(self, harness: Harness) -> None:
        if not harness.secrets:
            pytest.skip("its location holds no secrets")
        shown = []
        with pytest.raises(MailError) as caught:
            harness.open()
        shown.append(str(caught.value))
        harness.make()
        names = sent_messages(harness, 2)
        with harness.open() as store:
            events = scanned(store)
            shown += [store.url, store.title, store.notice, *map(str, events)]
            if Capability.FOLLOW in harness.capabilities and not harness.why_not(Feature.REMOVE):
                shown += map(str, asyncio.run(self._follow_until_gone(harness, store)))
                with pytest.raises(MailError) as gone:
                    store.content(next(event for event in events if isinstance(event, Message)))
                shown.append(str(gone.value))
        assert ids(events) == dict.fromkeys(names, 1)
        assert not [text for text in shown for secret in harness.secrets if secret in text]

    async def _follow_until_gone(self, harness: Harness, store: Store) -> list[Event]:
        async with following(store) as came:
            harness.remove()
            return await came.until(lambda events: any(isinstance(event, Gone) for event in events))

    def test_an_opened_mailbox_can_do_no_more_than_its_kind_declares(self, harness: Harness) -> None:
        harness.make()
        with harness.open() as store:
            assert store.capabilities == harness.capabilities
            assert set(harness.store.declared.missing) <= set(store.capabilities.missing)

    def test_closing_twice_does_no_harm(self, harness: Harness) -> None:
        harness.make()
        store = harness.open()
        store.close()
        store.close()

    def test_leaving_its_block_closes_it(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        harness.make()
        closed: list[bool] = []
        with harness.open() as store:
            monkeypatch.setattr(store, "close", lambda: closed.append(True))
        assert closed == [True]

    def test_what_the_file_system_refuses_is_a_store_error(self, harness: Harness) -> None:
        harness.need(Feature.REMOVE, Capability.MARK_READ)
        harness.make()
        sent_messages(harness, 1)
        with harness.open() as store:
            harness.remove()
            with pytest.raises(StoreError) as caught:
                store.mark_read(harness.reader, ["m0"])
            assert caught.value.problem
