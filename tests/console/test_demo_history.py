"""The demo's past: the same for the same seed, and with every situation that the console can show."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from console.demo.cast import CAST, MARKER, STRANGER, USER
from console.demo.history import write_history
from mailstore.haak import HaakStore
from mailstore.records.message import Message
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store

NOW = 1_773_671_400.0
HOUR = 3_600.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "data"
    write_history(folder, NOW, 7)
    return folder


@pytest.fixture(scope="module")
def store(folder: Path) -> Store:
    return HaakStore.open(folder)


@pytest.fixture(scope="module")
def mailbox(store: Store) -> Mailbox:
    mailbox = Mailbox()
    for batch in store.scan():
        mailbox.fold(batch, NOW)
    return mailbox


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _live(mailbox: Mailbox) -> list[Message]:
    return [message for message in mailbox.messages() if not message.archived]


def test_the_same_seed_and_moment_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    write_history(tmp_path / "again", NOW, 7)
    assert _files(tmp_path / "again") == _files(folder)


def test_another_seed_gives_other_ids(folder: Path, tmp_path: Path) -> None:
    write_history(tmp_path / "other", NOW, 8)
    assert _files(tmp_path / "other") != _files(folder)


def test_a_mailbox_that_is_there_is_not_overwritten(folder: Path) -> None:
    before = _files(folder)
    with pytest.raises(FileExistsError):
        write_history(folder, NOW, 9)
    assert _files(folder) == before


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4])
def test_nothing_lies_in_the_future_and_answers_follow_questions(tmp_path: Path, seed: int) -> None:
    write_history(tmp_path / "data", NOW, seed)
    mailbox = Mailbox()
    for batch in HaakStore.open(tmp_path / "data").scan():
        mailbox.fold(batch, NOW)
    for message in mailbox.messages():
        assert message.time <= NOW
        assert all(
            receipt.time is None or message.time <= receipt.time <= NOW for receipt in mailbox.receipts(message.id)
        )
        above = mailbox.message(message.thread) if message.thread else None
        assert above is None or above.time <= message.time
    for one in mailbox.roster:
        assert one.last_seen is not None
        assert one.last_seen <= NOW


def test_it_is_three_days_of_mail_and_weeks_of_archive(mailbox: Mailbox) -> None:
    live = _live(mailbox)
    assert 150 <= len(live) <= 250
    assert min(message.time for message in live) > NOW - 73 * HOUR
    assert 50 <= mailbox.counts().archived <= 70


def test_one_line_is_unreadable_and_two_records_share_one(mailbox: Mailbox) -> None:
    assert mailbox.counts().unreadable == 1
    assert len([problem for problem in mailbox.problems if not problem.fatal]) == 1
    assert not mailbox.duplicates
    assert not mailbox.cycles()
    assert not mailbox.orphans()


def test_every_state_occurs(mailbox: Mailbox) -> None:
    states = Counter(standing.state for message in _live(mailbox) for standing in mailbox.states(message, NOW).values())
    assert set(states) == set(State) - {State.UNRECORDED, State.ARCHIVED, State.UNDELIVERED}, (
        "live mail of a protocol that records who has read what"
    )
    assert states[State.READ] > states.total() / 2


def test_the_dead_letters_have_every_cause(mailbox: Mailbox) -> None:
    messages = mailbox.dead_letters(NOW)
    causes = Counter(item.state for item in messages)
    assert causes[State.DEAD] >= 2
    assert causes[State.EXPIRED] >= 2
    assert causes[State.UNKNOWN] >= 2
    assert len(messages) <= 12


def test_mail_waits_for_the_role_that_nobody_holds(mailbox: Mailbox) -> None:
    waiting = dict(mailbox.waiting())
    assert list(waiting) == ["auditor"]
    assert len(waiting["auditor"]) >= 5


def test_a_question_to_the_person_is_a_few_minutes_old_and_unanswered(mailbox: Mailbox) -> None:
    unread = mailbox.unread(USER, NOW)
    newest = [message for message in unread if USER in message.recipients][-1]
    assert newest.type == "question"
    assert NOW - newest.time < 6 * 60
    assert mailbox.summary(newest.id).messages == 1
    assert len(unread) >= 3


def test_threads_are_up_to_fifteen_deep_and_branch(mailbox: Mailbox) -> None:
    trees = [mailbox.tree(root) for root in {mailbox.root_of(message.id) for message in _live(mailbox)}]
    assert {1, 15} <= {max(node.depth for node in tree) + 1 for tree in trees}
    assert any(count > 2 for tree in trees for count in Counter(node.parent for node in tree if node.parent).values())


def test_a_live_thread_hangs_from_an_archived_parent(mailbox: Mailbox) -> None:
    parents = [mailbox.message(message.thread) for message in _live(mailbox) if message.thread]
    assert any(parent is not None and parent.archived for parent in parents)


def test_the_cast_is_living_frozen_and_dead_and_a_stranger_writes(mailbox: Mailbox) -> None:
    assert {one.session_id for one in mailbox.roster} == {one.session_id for one in CAST}
    assert Counter(one.status for one in mailbox.roster) == {"living": 8, "frozen": 1, "dead": 3}
    assert STRANGER in {message.sender for message in _live(mailbox)}
    assert mailbox.roster.get(STRANGER) is None


def test_channels_of_the_seed_have_mail(mailbox: Mailbox) -> None:
    tags = {channel.tag: channel for channel in mailbox.channels()}
    for tag in (
        "project:inscription",
        "concern:governance",
        "concern:ontology",
        "project:face-decoding",
        "domain:scripts",
    ):
        assert tags[tag].messages
        assert tags[tag].agents
    assert "domain:architecture" in tags


def test_text_has_code_tables_wide_characters_and_hostile_escapes(store: Store, mailbox: Mailbox) -> None:
    text = "\n".join(store.content(message) for message in _live(mailbox))
    for sign in (
        "```python",
        "```diff",
        "```json",
        "|---|",
        "記憶",
        "🎉",
        "\x1b[2J",
        "[bold red]",
        "@librarian-7",
    ):
        assert sign in text
    assert max(len(store.content(message)) for message in _live(mailbox)) > 1_500


def test_most_lines_of_the_newest_hundred_have_the_names_of_the_table(folder: Path) -> None:
    lines = (folder / "agent-mailbox.jsonl").read_text("utf-8").splitlines()[-100:]
    names = Counter("sender" in line.split('"timestamp"')[0] for line in lines)
    assert names[True] > 60
    assert names[False] > 5


def test_the_person_settled_one_message_and_stepped_in_once(mailbox: Mailbox) -> None:
    assert sorted(record.action for record in mailbox.interventions()) == ["acknowledge", "intervene"]


def test_it_is_marked_as_a_demo(folder: Path) -> None:
    assert "throw-away" in (folder / MARKER).read_text("utf-8")


def test_each_record_is_plain_json_but_for_the_damage(folder: Path) -> None:
    bad = 0
    for line in (folder / "agent-mailbox.jsonl").read_text("utf-8").splitlines():
        try:
            json.loads(line)
        except ValueError:
            bad += 1
    assert bad == 2
