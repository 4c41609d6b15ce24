"""Rules of `scan`, `content` and `raw`: order, identity and damage."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mailstore.conformance.following import ids, of, scanned
from mailstore.conformance.harness import Feature, Harness
from mailstore.conformance.samples import ANN, BOB, agent, at, message_record, sent_messages
from mailstore.errors import ContentGone
from mailstore.records.events import Progress
from mailstore.records.message import NEVER, Delivery, Message, Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.state.mailbox import Mailbox

MANY = 1100
"""More messages than a store reads at once."""
ODD = 'Grüße, 日本 🙂\n\n\ttabbed "quoted" \\ back\\slash\r\nzero\u200bwidth, next\u2028line, \x07 bell, \x1b[31mred\n'


def one(harness: Harness, message_id: str) -> Message:
    """Return a message as a scan yields it."""
    with harness.open() as store:
        [message] = [message for message in of(Message, scanned(store)) if message.id == message_id]
    return message


def agents(harness: Harness) -> dict[str, Agent]:
    """Return the agents as a scan yields them, by session."""
    with harness.open() as store:
        return {found.session_id: found for found in of(Agent, scanned(store))}


class ReadingContract:
    """Tests of `scan`, `content` and `raw`."""

    def test_a_scan_yields_all_records_in_batches(self, harness: Harness) -> None:
        harness.make()
        names = sent_messages(harness, MANY)
        with harness.open() as store:
            batches = list(store.scan())
        assert all(isinstance(batch, list) for batch in batches)
        assert len(batches) > 1
        assert ids(event for batch in batches for event in batch) == dict.fromkeys(names, 1)

    def test_an_empty_mailbox_is_scanned_without_a_record_or_a_problem(self, harness: Harness) -> None:
        harness.make()
        with harness.open() as store:
            assert not of(Message, events := scanned(store))
            assert not of(Problem, events)

    def test_a_message_has_the_fields_of_its_record(self, harness: Harness) -> None:
        harness.make()
        harness.message(message_record("m", 5, content="Is @ann-00000001 there?"))
        message = one(harness, "m")
        assert message.sender == BOB
        assert ANN in message.recipients
        assert message.timestamp
        assert message.time == 1_773_662_405.0
        assert message.mentions == (ANN,)
        assert message.timed
        assert not message.archived

    def test_a_message_has_the_subject_of_its_record(self, harness: Harness) -> None:
        harness.need(Feature.SUBJECT)
        harness.make()
        harness.message(message_record("m"))
        assert one(harness, "m").subject == "About m"

    def test_a_message_has_all_recipients_of_its_record(self, harness: Harness) -> None:
        harness.need(Feature.SEVERAL)
        harness.make()
        harness.message(message_record("m", recipient=[ANN, "cyd-00000001"]))
        assert set(one(harness, "m").recipients) >= {ANN, "cyd-00000001"}

    def test_a_message_has_the_tags_that_its_record_addresses(self, harness: Harness) -> None:
        harness.need(Feature.TAGS)
        harness.make()
        harness.message(message_record("m", recipient="project:ink"))
        assert one(harness, "m").recipients == ("project:ink",)

    def test_an_answer_has_the_id_of_what_it_answers(self, harness: Harness) -> None:
        harness.need(Feature.THREAD)
        harness.make()
        harness.message(message_record("root"))
        harness.message(message_record("m", 1, thread="root"))
        assert one(harness, "m").thread == "root"
        assert one(harness, "root").thread is None

    def test_a_message_has_the_type_of_its_record(self, harness: Harness) -> None:
        harness.need(Feature.TYPE)
        harness.make()
        harness.message(message_record("m", type="question"))
        assert one(harness, "m").type == "question"

    def test_a_message_has_the_ttl_of_its_record(self, harness: Harness) -> None:
        harness.make()
        harness.message(message_record("none"))
        if Feature.TTL in harness.cannot:
            assert one(harness, "none").ttl_hours == NEVER
            return
        harness.message(message_record("m", ttl_hours=3))
        assert one(harness, "m").ttl_hours == 3
        assert one(harness, "none").ttl_hours is None

    def test_without_a_subject_it_is_the_first_line_of_the_body_that_is_not_empty(self, harness: Harness) -> None:
        harness.need(Feature.NO_SUBJECT)
        harness.make()
        harness.message(message_record("m", subject=None, content="\n  \n The first words. \nThe second."))
        harness.message(message_record("long", 1, subject=None, content="x" * 200))
        with harness.open() as store:
            subjects = {message.id: message.subject for message in of(Message, scanned(store))}
        assert subjects == {"m": "The first words.", "long": "x" * 80}

    def test_without_a_time_a_message_has_that_of_the_record_before_it(self, harness: Harness) -> None:
        harness.need(Feature.NO_TIME)
        harness.make()
        harness.message(message_record("before", 7))
        harness.message(message_record("m", timestamp=None))
        with harness.open() as store:
            messages = {message.id: message for message in of(Message, scanned(store))}
        assert (messages["m"].time, messages["m"].timed) == (messages["before"].time, False)

    def test_the_roster_comes_first(self, harness: Harness) -> None:
        harness.need(Feature.AGENT)
        harness.make()
        sent_messages(harness, 3)
        harness.agent(agent(ANN))
        harness.agent(agent(BOB))
        with harness.open() as store:
            events = scanned(store)
        first = next(place for place, event in enumerate(events) if isinstance(event, Message))
        assert {found.session_id for found in of(Agent, events[:first])} >= {ANN, BOB}
        assert not {found.session_id for found in of(Agent, events[first:])} & {ANN, BOB}

    def test_an_agent_has_the_role_of_its_record(self, harness: Harness) -> None:
        harness.need(Feature.AGENT, Feature.ROLES)
        harness.make()
        harness.agent(agent(ANN, role="librarian"))
        assert agents(harness)[ANN].role == "librarian"

    def test_an_agent_has_the_tags_of_its_record(self, harness: Harness) -> None:
        harness.need(Feature.AGENT, Feature.TAGS)
        harness.make()
        harness.agent(agent(ANN, tags=["project:ink"]))
        assert agents(harness)[ANN].tags == ("project:ink",)

    def test_an_agent_has_the_status_of_its_record(self, harness: Harness) -> None:
        harness.need(Feature.AGENT)
        harness.make()
        harness.agent(agent(ANN))
        if Feature.FREEZE not in harness.cannot:
            harness.agent(agent(BOB, status="frozen"))
            assert agents(harness)[BOB].status is Status.FROZEN
        assert agents(harness)[ANN].status is Status.LIVING

    def test_the_newest_messages_come_before_the_rest(self, harness: Harness) -> None:
        harness.make()
        names = sent_messages(harness, MANY)
        with harness.open() as store:
            first = next(batch for batch in store.scan() if of(Message, batch))
        assert names[-1] in ids(first)

    def test_the_first_progress_comes_after_the_roster_and_the_newest_messages(self, harness: Harness) -> None:
        harness.make()
        names = sent_messages(harness, MANY)
        if Feature.AGENT not in harness.cannot:
            harness.agent(agent(ANN))
        with harness.open() as store:
            batches = list(store.scan())
        done = [at for at, batch in enumerate(batches) if of(Progress, batch)] or [len(batches)]
        first = [event for batch in batches[: done[0] + 1] for event in batch]
        assert names[-1] in ids(first)
        if Feature.AGENT not in harness.cannot:
            assert ANN in {found.session_id for found in of(Agent, first)}
        told = [event.done for batch in batches for event in of(Progress, batch)]
        assert told == sorted(told)

    def test_a_second_scan_repeats_nothing(self, harness: Harness) -> None:
        harness.make()
        names = sent_messages(harness, 3)
        with harness.open() as store:
            assert ids([*scanned(store), *scanned(store)]) == dict.fromkeys(names, 1)

    def test_a_fold_does_not_depend_on_the_order(self, harness: Harness) -> None:
        harness.need(Feature.AGENT)
        harness.make()
        has_tags, has_roles = Feature.TAGS not in harness.cannot, Feature.ROLES not in harness.cannot
        harness.agent(agent(ANN, tags=["project:ink"] if has_tags else []))
        harness.agent(agent(BOB, role="architect" if has_roles else ""))
        sent_messages(harness, 10, recipient="project:ink" if has_tags else ANN)
        for number in range(10, 20):
            harness.message(message_record(f"m{number}", number, recipient="architect" if has_roles else ANN))
        thread = {} if Feature.THREAD in harness.cannot else {"thread": "m3"}
        harness.message(message_record("answer", 50, sender=ANN, recipient=BOB, **thread))
        with harness.open() as store:
            events = scanned(store)
        now = 1_773_662_500.0
        forth, back = Mailbox(), Mailbox()
        forth.fold(events, now)
        back.fold(reversed(events), now)
        assert forth.messages() == back.messages()
        assert forth.counts() == back.counts()
        assert [message.id for message in forth.unread(ANN, now)] == [message.id for message in back.unread(ANN, now)]

    def test_reads_and_deliveries_are_yielded(self, harness: Harness) -> None:
        harness.need(Feature.RECORDS)
        harness.make()
        sent_messages(harness, 1)
        harness.read({"message_id": "m0", "reader": ANN, "timestamp": at(3)})
        harness.delivery({"message_id": "m0", "recipient": ANN, "timestamp": at(1)})
        with harness.open() as store:
            events = scanned(store)
        assert of(Receipt, events) == [Receipt("m0", ANN, 1_773_662_403.0)]
        assert of(Delivery, events) == [Delivery("m0", ANN, 1_773_662_401.0)]

    # Identity

    def test_an_id_is_never_empty_and_the_same_at_every_reading(self, harness: Harness) -> None:
        harness.need(Feature.NO_ID)
        harness.make()
        for number in range(3):
            harness.message(message_record("", number, id=None, content=f"Number {number}."))
        with harness.open() as store, harness.open() as again:
            first, second = ids(scanned(store)), ids(scanned(again))
        assert len(first) == 3
        assert "" not in first
        assert first == second

    def test_a_derived_id_stays_when_other_records_come(self, harness: Harness) -> None:
        harness.need(Feature.NO_ID)
        harness.make()
        harness.message(message_record("", id=None))
        with harness.open() as store:
            [derived] = ids(scanned(store))
        sent_messages(harness, 2)
        with harness.open() as again:
            assert set(ids(scanned(again))) == {derived, "m0", "m1"}

    def test_records_that_claim_the_same_id_are_all_yielded(self, harness: Harness) -> None:
        harness.need(Feature.SAME_ID)
        harness.make()
        for number in range(3):
            harness.message(message_record("twin", number, content=f"Number {number}."))
        with harness.open() as store:
            messages = of(Message, scanned(store))
            assert ids(messages) == {"twin": 3}
            assert {store.content(one) for one in messages} == {"Number 0.", "Number 1.", "Number 2."}
            assert len({one.position for one in messages}) == 3

    # Damage

    def test_what_is_not_a_record_is_yielded_as_a_problem(self, harness: Harness) -> None:
        harness.need(Feature.DAMAGE)
        harness.make()
        sent_messages(harness, 1)
        harness.damage()
        with harness.open() as store:
            [problem] = of(Problem, scanned(store))
        assert problem.fatal
        assert problem.file
        assert problem.reason
        assert problem.line >= 1
        assert problem.offset >= 0

    def test_the_records_around_damage_are_all_yielded(self, harness: Harness) -> None:
        harness.need(Feature.DAMAGE)
        harness.make()
        harness.damage()
        for number in range(5):
            harness.message(message_record(f"m{number}", number))
            harness.damage()
        with harness.open() as store:
            events = scanned(store)
        assert ids(events) == dict.fromkeys(("m0", "m1", "m2", "m3", "m4"), 1)
        assert len([one for one in of(Problem, events) if one.fatal]) == 6

    def test_an_unterminated_record_is_held_back(self, harness: Harness) -> None:
        harness.need(Feature.TEAR)
        harness.make()
        sent_messages(harness, 1)
        harness.tear(message_record("torn", 5))
        with harness.open() as store:
            events = scanned(store)
        assert ids(events) == {"m0": 1}
        assert not [one for one in of(Problem, events) if one.fatal]

    # One message

    def test_content_is_the_body_as_it_was_written(self, harness: Harness) -> None:
        harness.make()
        bodies = {"plain": "Plain.", "wide": 'Grüße, 日本 🙂\n\n\ttabbed "quoted" \\ back\\slash, zero\u200bwidth'}
        if Feature.CONTROLS not in harness.cannot:
            bodies["odd"] = ODD
        if Feature.BIG not in harness.cannot:
            bodies["long"] = "word " * 50_000 + "end"
        for number, (name, body) in enumerate(bodies.items()):
            harness.message(message_record(name, number, content=body))
        with harness.open() as store:
            messages = of(Message, scanned(store))
            assert {message.id: store.content(message) for message in messages} == bodies
            assert list(store.contents(messages)) == [bodies[message.id] for message in messages]

    def test_raw_is_the_record_as_it_stands_in_the_store(self, harness: Harness) -> None:
        harness.make()
        has_others = Feature.OTHER not in harness.cannot
        more: dict[str, Any] = {"extra_field": "kept"} if has_others else {}
        harness.message(message_record("m", content="Marked 4711.", **more))
        with harness.open() as store:
            [message] = of(Message, scanned(store))
            raw = store.raw(message)
        assert isinstance(raw, bytes)
        assert b"Marked 4711." in raw
        assert (b"kept" in raw) is has_others
        if Feature.SNAPSHOT not in harness.cannot and Feature.VERBATIM not in harness.cannot:
            assert any(raw in data for data, _ in harness.snapshot().values())

    def test_a_body_that_is_no_longer_where_it_was_raises_content_gone(self, harness: Harness) -> None:
        harness.need(Feature.REPLACE)
        harness.make()
        sent_messages(harness, 3)
        with harness.open() as store:
            messages = of(Message, scanned(store))
            harness.replace(message_record("other", content="Quite another text, and a longer one."))
            assert {type(text) for text in store.contents(messages)} == {ContentGone}
            for message in messages:
                with pytest.raises(ContentGone):
                    store.content(message)
                with pytest.raises(ContentGone):
                    store.raw(message)

    def test_a_body_of_a_mailbox_that_was_taken_away_raises_content_gone(self, harness: Harness) -> None:
        harness.need(Feature.REMOVE, Feature.LOSE)
        harness.make()
        sent_messages(harness, 1)
        with harness.open() as store:
            [message] = of(Message, scanned(store))
            harness.remove()
            with pytest.raises(ContentGone):
                store.content(message)

    def test_bodies_may_be_read_from_several_threads_at_a_time(self, harness: Harness) -> None:
        harness.make()
        names = sent_messages(harness, 40)
        with harness.open() as store, ThreadPoolExecutor(4) as threads:
            messages = of(Message, scanned(store))
            bodies = dict(zip(ids(messages), threads.map(store.content, messages), strict=True))
        assert bodies == {name: f"The text of {name}." for name in names}
