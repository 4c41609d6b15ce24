"""Several mailboxes at once: each means what it means alone, and fails for itself alone."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from mailstore.conformance.following import Follower, following, ids, of, scanned
from mailstore.conformance.samples import ANN, BOB
from mailstore.errors import ContentGone, DraftRefused, MailboxMissing, StoreError, Unsupported
from mailstore.records.draft import draft
from mailstore.records.events import Event, Reset
from mailstore.records.message import Intervention, Message, Problem, Receipt
from mailstore.records.roster import Agent
from mailstore.records.scope import Scope, label_of, parts_of, url_of
from mailstore.registry import open_store
from mailstore.several.store import named_together
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability, Store
from mailstore.writing.archiving import plan_archive
from tests.mailboxes import HOUR, NOW, MailFiles, damaged, every_case, tangled

FIXTURES = Path(__file__).parents[1] / "fixtures"


def folded(url: str, now: float = NOW) -> Mailbox:
    mailbox = Mailbox()
    with open_store(url) as store:
        for batch in store.scan():
            mailbox.fold(batch, now)
    mailbox.advance(now)
    return mailbox


def together(**mails: MailFiles) -> str:
    return url_of({label: mail.url for label, mail in mails.items()})


def store_events(url: str) -> list[Event]:
    with open_store(url) as store:
        return scanned(store)


@pytest.fixture
def two(tmp_path: Path) -> tuple[MailFiles, MailFiles]:
    """Two mailboxes that use the same ids and names for different things."""
    one, other = MailFiles(tmp_path / "one"), MailFiles(tmp_path / "other")
    for mail, role in ((one, "librarian"), (other, "smith")):
        mail.agent(ANN, role=role, tags=["project:ink"])
        mail.agent(BOB, tags=["project:ink"])
        mail.message("m", ANN, "all", f"From the {role}.", ago=HOUR, subject=f"A {role}'s word")
        mail.message("r", BOB, ANN, "An answer.", ago=HOUR / 2, thread="m")
    return one, other


# What is read


def test_each_mailbox_means_what_it_means_alone(tmp_path: Path) -> None:
    cases, _ = every_case(tmp_path / "cases")
    threads, broken = tangled(tmp_path / "threads"), damaged(tmp_path / "broken")
    both = folded(together(cases=cases, threads=threads, broken=broken))
    for label, mail in {"cases": cases, "threads": threads, "broken": broken}.items():
        alone, bare = folded(mail.url), Scope(label).bare
        own = [message for message in both.messages() if label_of(message.id) == label]
        assert [bare(message.id) for message in own] == [message.id for message in alone.messages()]
        for message in own:
            states = {bare(name): found.state for name, found in both.states(message, NOW).items()}
            single = alone.message(bare(message.id))
            assert single is not None
            assert states == {name: found.state for name, found in alone.states(single, NOW).items()}, message.id
            assert bare(both.root_of(message.id)) == alone.root_of(single.id)
        for agent in alone.roster:
            unread = [bare(message.id) for message in both.unread(f"{label}/{agent.session_id}", NOW)]
            assert unread == [message.id for message in alone.unread(agent.session_id, NOW)]
            inbox = [bare(message.id) for message in both.inbox(f"{label}/{agent.session_id}", NOW)]
            assert inbox == [message.id for message in alone.inbox(agent.session_id, NOW)]
        dead = {
            (bare(it.message.id), bare(it.recipient))
            for it in both.dead_letters(NOW)
            if label_of(it.message.id) == label
        }
        assert dead == {(it.message.id, it.recipient) for it in alone.dead_letters(NOW)}
        channels = {bare(it.tag): (it.messages, it.unseen) for it in both.channels() if label_of(it.tag) == label}
        assert channels == {it.tag: (it.messages, it.unseen) for it in alone.channels()}
    alone = [folded(mail.url) for mail in (cases, threads, broken)]
    assert both.counts().messages == sum(it.counts().messages for it in alone)
    assert both.counts().dead == sum(it.counts().dead for it in alone)
    assert both.counts().for_you == sum(it.counts().for_you for it in alone)
    assert both.counts().unreadable == sum(it.counts().unreadable for it in alone)
    assert [message.id for message in both.unread("user", NOW)] == ["cases/user-unread"]


def test_the_same_ids_in_two_mailboxes_are_two_messages(two: tuple[MailFiles, MailFiles]) -> None:
    one, other = two
    url = together(one=one, other=other)
    mailbox = folded(url)
    assert len(mailbox) == 4
    assert not mailbox.duplicates
    assert mailbox.mailboxes() == ["one", "other"]
    with open_store(url) as store:
        found = {message.id: store.content(message) for message in of(Message, scanned(store))}
        [message] = [message for message in mailbox.messages() if message.id == "other/m"]
        assert b"From the smith." in store.raw(message)
    assert (found["one/m"], found["other/m"]) == ("From the librarian.", "From the smith.")
    assert set(mailbox.states(message, NOW)) == {f"other/{BOB}"}
    assert mailbox.states(message, NOW + HOUR) == mailbox.states(message, NOW + HOUR)


def test_a_short_name_stands_for_nobody_however_long_its_label_is(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.message("m", BOB, "ann")
    mail.message("p", BOB, "ann-0000")
    mailbox = folded(together(laboratory=mail))
    states = {message.id: list(mailbox.states(message, NOW)) for message in mailbox.messages()}
    assert states == {"laboratory/m": ["laboratory/ann"], "laboratory/p": [f"laboratory/{ANN}"]}


@pytest.mark.parametrize(
    "kind", ["channels", "agenties", "claude-teams", "neo", "hcom", "omo", "agent-mail", "agentazall"]
)
def test_the_texts_of_other_systems_are_those_that_they_are_alone(kind: str, tmp_path: Path) -> None:
    place = shutil.copytree(FIXTURES / kind, tmp_path / kind)
    with open_store(f"{kind}:{place}") as store:
        found = {message.id: (store.content(message), store.raw(message)) for message in of(Message, scanned(store))}
        agents = {agent.session_id for agent in of(Agent, store_events(f"{kind}:{place}"))}
    with open_store(url_of({"lab": f"{kind}:{place}", "memory": "memory:"})) as store:
        events = scanned(store)
        both = {message.id: (store.content(message), store.raw(message)) for message in of(Message, events)}
    assert both == {f"lab/{message_id}": parts for message_id, parts in found.items()}
    assert {agent.session_id for agent in of(Agent, events)} == {f"lab/{name}" for name in agents}


def test_the_url_opens_the_same_mailboxes_again(two: tuple[MailFiles, MailFiles]) -> None:
    one, other = two
    with open_store(together(one=one, other=other)) as store:
        assert parts_of(store.url) == {
            "one": f"haak:{one.mailbox.resolve()}",
            "other": f"haak:{other.mailbox.resolve()}",
        }
        assert store.title == "one other"
        with open_store(store.url) as again:
            assert again.url == store.url


def test_a_url_names_paths_that_are_not_unicode_too() -> None:
    parts = {"one": "haak:/srv/\udcff%41&+ /x", "other": "haak:/srv/é"}
    assert url_of(parts).isascii()
    assert parts_of(url_of(parts)) == parts


# What fails


def test_a_mailbox_that_is_not_there_is_a_problem_of_its_own(two: tuple[MailFiles, MailFiles], tmp_path: Path) -> None:
    one, _ = two
    with open_store(url_of({"one": one.url, "lost": f"haak:{tmp_path / 'nowhere'}"})) as store:
        events = scanned(store)
        assert ids(events) == {"one/m": 1, "one/r": 1}
        [problem] = of(Problem, events)
        assert problem.file == "lost/mailbox"
        assert "no agent-mailbox.jsonl" in problem.reason
        assert "no agent-mailbox.jsonl" in store.capabilities_for("lost/m").why_not(Capability.SEND)
        with pytest.raises(StoreError):
            store.send(draft(sender="user", recipients=("lost/ann",), content="Hello."))
        with pytest.raises(ContentGone):
            store.content(Message("lost/m", "a", ("b",), "", 0.0, ""))
        with pytest.raises(ContentGone):
            store.content(Message("other/m", "a", ("b",), "", 0.0, ""))


def test_where_none_is_there_that_is_the_error(tmp_path: Path) -> None:
    with pytest.raises(MailboxMissing):
        open_store(url_of({"a": f"haak:{tmp_path / 'a'}", "b": f"haak:{tmp_path / 'b'}"}))
    with pytest.raises(MailboxMissing):
        open_store("several:")
    with pytest.raises(MailboxMissing):
        open_store("several:a/b=haak:x")


def follow(store: Store, story: object) -> list[Event]:
    async def run() -> list[Event]:
        async with following(store) as came:
            await story(came)  # type: ignore[operator]
            return came.events

    return asyncio.run(run())


def test_what_comes_in_any_of_them_comes(two: tuple[MailFiles, MailFiles]) -> None:
    one, other = two

    async def story(came: Follower) -> None:
        await came.until_message("one/m", "other/m")
        for number in range(5):
            one.message(f"n{number}", BOB, ANN)
            other.message(f"n{number}", BOB, ANN)
        await came.until_message(*(f"{label}/n{number}" for label in ("one", "other") for number in range(5)))

    with open_store(together(one=one, other=other)) as store:
        found = ids(follow(store, story))
    assert set(found.values()) == {1}
    assert len(found) == 14


def test_when_one_begins_anew_the_others_are_told_as_they_stand(two: tuple[MailFiles, MailFiles]) -> None:
    one, other = two
    mailbox = Mailbox()

    async def story(came: Follower) -> None:
        new = one.data / "new"
        new.write_bytes(one.mailbox.read_bytes().splitlines(keepends=True)[0])
        new.replace(one.mailbox)
        await came.until(lambda events: bool(of(Reset, events)) and "one/m" in ids(events))
        other.message("late", BOB, ANN)
        await came.until_message("other/late")

    with open_store(together(one=one, other=other)) as store:
        mailbox.fold(scanned(store), NOW)
        assert len(mailbox) == 4
        events = follow(store, story)
    mailbox.fold(events, NOW)
    assert {message.id for message in mailbox.messages()} == {"one/m", "other/m", "other/r", "other/late"}
    assert len(list(mailbox.roster)) == 4
    assert mailbox.mailboxes() == ["one", "other"]
    assert of(Reset, events)[0].reason.startswith("one: ")


# What is written


def test_a_message_goes_where_its_recipients_are(two: tuple[MailFiles, MailFiles]) -> None:
    one, other = two
    before = one.mailbox.read_bytes()
    with open_store(together(one=one, other=other)) as store:
        sent = store.send(
            draft(
                sender="user",
                recipients=(f"other/{ANN}", "project:other/ink", "other/all", "role:other/smith", "user"),
                content="Hello.",
                thread="other/m",
                audience=(f"other/{ANN}",),
            )
        )
        assert store.content(sent) == "Hello."
    assert label_of(sent.id) == "other"
    assert sent.thread == "other/m"
    assert one.mailbox.read_bytes() == before
    alone = folded(other.url)
    message = alone.message(sent.id.removeprefix("other/"))
    assert message is not None
    assert message.recipients == (ANN, "project:ink", "all", "role:smith", "user")
    assert alone.deliveries(message.id) == [ANN]


def test_an_answer_to_the_person_goes_where_the_thread_is(two: tuple[MailFiles, MailFiles]) -> None:
    one, other = two
    with open_store(together(one=one, other=other)) as store:
        sent = store.send(draft(sender="user", recipients=("user",), content="A note.", thread="one/m"))
    assert label_of(sent.id) == "one"


@pytest.mark.parametrize(
    ("recipients", "words"),
    [((f"one/{ANN}", f"other/{ANN}"), "names 2 mailboxes"), (("user",), "doesn't say in which mailbox")],
)
def test_a_message_that_could_go_to_several_is_refused(
    two: tuple[MailFiles, MailFiles], recipients: tuple[str, ...], words: str
) -> None:
    one, other = two
    before = one.mailbox.read_bytes(), other.mailbox.read_bytes()
    with open_store(together(one=one, other=other)) as store, pytest.raises(DraftRefused, match=words):
        store.send(draft(sender="user", recipients=recipients, content="Hello."))
    assert (one.mailbox.read_bytes(), other.mailbox.read_bytes()) == before


def test_marks_agents_and_deeds_go_to_their_mailbox(two: tuple[MailFiles, MailFiles]) -> None:
    one, other = two
    deed = Intervention("i", "user", "redirect", NOW, "other/m", "", {"recipient": f"other/{ANN}", "sent": "other/r"})
    with open_store(together(one=one, other=other)) as store:
        assert store.mark_read("user", ["one/m", "other/m", "other/r"]) == 3
        store.update_agent(Agent(f"one/{ANN}", role="one/steward", tags=("project:one/ink",)))
        store.record(deed)
    alone = [folded(mail.url) for mail in two]
    assert [[receipt.reader for receipt in mailbox.receipts("m")] for mailbox in alone] == [["user"], ["user"]]
    roles = [agent.role for mailbox in alone if (agent := mailbox.roster.get(ANN))]
    assert roles == ["steward", "smith"]
    assert not alone[0].interventions()
    [record] = alone[1].interventions()
    assert (record.message_id, record.details) == ("m", {"recipient": ANN, "sent": "r"})
    again = folded(together(one=one, other=other)).interventions()
    assert [(it.message_id, it.details) for it in again] == [(deed.message_id, deed.details)]


def test_each_archives_its_own_threads(two: tuple[MailFiles, MailFiles]) -> None:
    url = together(one=two[0], other=two[1])
    later = NOW + 90 * 24 * HOUR
    for mail in two:
        mail.read("r", ANN)
    mailbox = folded(url, later)
    with open_store(url) as store:
        report = store.archive(plan_archive(mailbox, later, 1))
    assert (report.archived, len(report.files)) == (2, 1)
    assert folded(url, later).counts().archived == 2


def test_what_only_one_of_them_can_do_can_be_done_there(two: tuple[MailFiles, MailFiles]) -> None:
    one, _ = two
    with open_store(url_of({"one": one.url, "memory": "memory:"})) as store:
        assert Capability.ARCHIVE in store.capabilities
        assert Capability.ARCHIVE in store.capabilities_for("one/m")
        assert Capability.ARCHIVE not in store.capabilities_for("memory/m")
        assert not [it for it in scanned(store) if isinstance(it, Receipt)]
    with open_store(url_of({"a": "memory:", "b": "memory:"})) as store, pytest.raises(Unsupported):
        store.archive(plan_archive(Mailbox(), NOW))


# What they are called


def test_mailboxes_go_by_their_kind_their_title_or_a_number(two: tuple[MailFiles, MailFiles]) -> None:
    one, other = two
    url = named_together([one.url, str(other.data), f"lab={other.url}", f"haak:{other.data}", f"haak:{other.data}"])
    assert list(parts_of(url)) == ["haak", "data", "lab", "agent-mailbox.jsonl", "haak-2"]


def test_two_of_one_label_are_refused(two: tuple[MailFiles, MailFiles]) -> None:
    with pytest.raises(StoreError, match="two mailboxes are called 'a'"):
        named_together([f"a={two[0].url}", f"a={two[1].url}"])


def test_one_that_can_not_be_opened_is_named_as_it_was_given(two: tuple[MailFiles, MailFiles]) -> None:
    assert list(parts_of(named_together([two[0].url, "haak:/nowhere/at-all"]))) == ["haak", "at-all"]
