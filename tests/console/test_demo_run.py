"""The demo's mailbox comes and goes as a whole, and needs a terminal."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from console.demo.cast import USER
from console.demo.run import prepared, remember, run_demo, simulated
from console.state.personal_state import PersonalState
from mailstore.errors import StoreError
from mailstore.haak import HaakStore
from mailstore.records.events import Seen
from mailstore.state.mailbox import Mailbox


def test_without_a_terminal_it_says_so_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="needs a terminal"):
        run_demo(seed=1, keep=tmp_path / "demo")
    assert not (tmp_path / "demo").exists()


def test_a_throw_away_mailbox_is_gone_afterwards() -> None:
    with prepared(1) as root:
        assert (root / "data" / "agent-mailbox.jsonl").is_file()
    assert not root.exists()


def test_a_throw_away_mailbox_is_gone_after_an_error_too() -> None:
    with pytest.raises(ZeroDivisionError), prepared(1) as root:
        raise ZeroDivisionError
    assert not root.exists()


def test_a_kept_mailbox_stays_and_is_reopened_as_it_is(tmp_path: Path) -> None:
    mailbox = tmp_path / "kept" / "data" / "agent-mailbox.jsonl"
    with prepared(1, tmp_path / "kept"):
        before = mailbox.read_bytes()
    with prepared(2, tmp_path / "kept"):
        pass
    assert mailbox.read_bytes() == before


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(StoreError, match="not empty"), prepared(1, tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_the_agents_are_gone_with_the_demo(tmp_path: Path) -> None:
    with prepared(1, tmp_path / "demo") as root, simulated(root, 1) as process:
        assert process.poll() is None
    assert process.returncode is not None


def test_the_person_remembers_the_days_before_but_not_mail_that_waits_for_them(tmp_path: Path) -> None:
    with prepared(1, tmp_path / "demo") as root, HaakStore.open(root / "data") as store:
        now = time.time()
        state = PersonalState(root / "state.db")
        remember(store, state, now)
        mailbox = Mailbox()
        for batch in HaakStore.open(root / "data").scan():
            mailbox.fold(batch, now)
        mailbox.fold([Seen(message_id) for message_id in state.seen(store.url)[0]], now)
        state.close()
    unseen = [message for message in mailbox.messages() if mailbox.is_unseen(message)]
    assert 40 < len(unseen) < 130
    waiting = {message.id for message in mailbox.unread(USER, now)}
    assert waiting
    assert waiting <= {message.id for message in unseen}
    assert all(message.time > now - 25 * 3600 or message.id in waiting for message in unseen)


def test_what_the_person_saw_of_a_kept_demo_stays_as_it_is(tmp_path: Path) -> None:
    with prepared(1, tmp_path / "demo") as root, HaakStore.open(root / "data") as store:
        state = PersonalState(root / "state.db")
        state.mark_seen(store.url, ["one"], 0.0)
        remember(store, state, time.time())
        assert state.seen(store.url)[0] == ["one"]
        state.close()
