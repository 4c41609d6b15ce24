"""The person's own state survives a kill, two consoles, damage, and a place that can't be written."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier, Event
from typing import Any
from unittest.mock import Mock

import pytest

from console.personal import PersonalData
from console.sending.held_messages import HeldMessage, HeldMessages
from console.settings.config import Config
from console.state.composer_draft import ComposerDraft
from console.state.database import StateDatabase
from console.state.personal_state import PersonalState
from mailstore.errors import StoreError
from mailstore.records.events import Seen
from tests.console.screen_text import opened
from tests.mailboxes import damage_page, every_case
from tests.patience import PATIENCE

BOX = "haak:/somewhere"
KEPT = ComposerDraft("thread:m", "ann, #ink", "A subject", "Half a thought — 日本\n[/]", "m", "intervene", 1e9)
SAVER = """
import os, signal, sys
from pathlib import Path
from console.state.personal_state import PersonalState
from console.state.composer_draft import ComposerDraft
state = PersonalState(Path(sys.argv[1]))
state.save_draft("haak:/somewhere", ComposerDraft("thread:m", "ann", "", "Half a thought"))
os.kill(os.getpid(), signal.SIGKILL)
"""
MARKER = """
import sys
from pathlib import Path
from console.state.composer_draft import ComposerDraft
from console.state.personal_state import PersonalState
state = PersonalState(Path(sys.argv[1]))
for number in range(200):
    state.mark_seen("haak:/somewhere", [f"{sys.argv[2]}-{number}"])
    state.save_draft("haak:/somewhere", ComposerDraft(sys.argv[2], body=str(number)))
assert not state.problem, state.problem
"""


def run(script: str, *words: object) -> subprocess.Popen[bytes]:
    here = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen([sys.executable, "-c", script, *map(str, words)], env=environment)


def test_a_draft_is_there_again_to_the_message(tmp_path: Path) -> None:
    state = PersonalState(tmp_path / "state.db")
    state.save_draft(BOX, KEPT)
    state.close()
    again = PersonalState(tmp_path / "state.db")
    assert again.drafts(BOX) == {KEPT.key: KEPT}
    assert again.drafts("haak:/elsewhere") == {}
    again.drop_draft(BOX, KEPT.key)
    assert again.drafts(BOX) == {}
    again.close()


def test_a_draft_survives_a_kill_right_after_it_was_saved(tmp_path: Path) -> None:
    killed = run(SAVER, tmp_path / "state.db")
    assert killed.wait(timeout=PATIENCE) == -signal.SIGKILL
    state = PersonalState(tmp_path / "state.db")
    assert state.drafts(BOX)["thread:m"].body == "Half a thought"
    assert not state.problem
    state.close()


def test_two_consoles_write_at_once_and_lose_nothing(tmp_path: Path) -> None:
    both = [run(MARKER, tmp_path / "state.db", name) for name in ("one", "two")]
    assert [process.wait(timeout=PATIENCE) for process in both] == [0, 0]
    state = PersonalState(tmp_path / "state.db")
    assert len(state.seen(BOX)[0]) == 400
    assert {key: writing.body for key, writing in state.drafts(BOX).items()} == {"one": "199", "two": "199"}
    state.close()


def test_consoles_that_are_opened_at_once_share_a_new_file(tmp_path: Path) -> None:
    for number in range(20):
        together = Barrier(4)

        def open_it(path: Path, together: Barrier = together) -> str:
            together.wait()
            state = PersonalState(path)
            state.close()
            return state.problem

        with ThreadPoolExecutor(4) as pool:
            assert set(pool.map(open_it, [tmp_path / f"{number}.db"] * 4)) == {""}


def test_many_threads_may_use_one_state(tmp_path: Path) -> None:
    state = PersonalState(tmp_path / "state.db")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: state.mark_seen(BOX, [str(number)]), range(100)))
    assert len(state.seen(BOX)[0]) == 100
    state.close()


def test_what_another_console_writes_leaves_another_stamp(tmp_path: Path) -> None:
    one, two = PersonalState(tmp_path / "state.db"), PersonalState(tmp_path / "state.db")
    stamps = [two.stamp()]
    for number in range(3):
        one.mark_seen(BOX, [str(number)])
        stamps.append(two.stamp())
    assert len(set(stamps)) == 4
    two.seen(BOX)
    assert two.stamp() == stamps[-1]
    one.close()
    two.close()


def test_what_another_console_marked_is_told_once(tmp_path: Path) -> None:
    one, two = PersonalState(tmp_path / "state.db"), PersonalState(tmp_path / "state.db")
    one.mark_seen(BOX, ["a"])
    seen, newest = two.seen(BOX)
    assert seen == ["a"]
    one.mark_seen(BOX, ["a", "b"])
    seen, newest = two.seen(BOX, newest)
    assert seen == ["b"]
    assert two.seen(BOX, newest) == ([], newest)
    one.unmark_seen(BOX, ["a"])
    assert two.seen(BOX)[0] == ["b"]
    one.close()
    two.close()


def test_a_thread_that_is_late_saves_no_mark_that_was_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, begun, goes_on, mark_seen = PersonalState(tmp_path / "state.db"), Event(), Event(), PersonalState.mark_seen

    def slow(*given: Any) -> None:
        begun.set()
        assert goes_on.wait(PATIENCE)
        mark_seen(*given)

    monkeypatch.setattr(PersonalState, "mark_seen", slow)
    personal = PersonalData(state, BOX, Config(), time.time)
    personal.set_seen(["a", "b"], is_seen=True)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(personal.save_seen)
        assert begun.wait(PATIENCE)
        personal.set_seen(["a"], is_seen=False)
        second = pool.submit(personal.save_seen)
        goes_on.set()
        first.result()
        second.result()
    assert state.seen(BOX)[0] == ["b"]
    state.close()


def test_marks_that_could_not_be_saved_are_saved_by_who_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = PersonalState(tmp_path / "state.db")
    personal = PersonalData(state, BOX, Config(), time.time)
    state.mark_seen(BOX, ["b"])
    assert personal.newly_seen() == [Seen("b")]
    personal.set_seen(["a", "b"], is_seen=True)
    with monkeypatch.context() as full:
        full.setattr(PersonalState, "mark_seen", Mock(side_effect=StoreError("the disk is full", "free some space")))
        with pytest.raises(StoreError):
            personal.save_seen()
    personal.set_seen(["b"], is_seen=False)
    state.unmark_seen(BOX, ["a"])
    assert personal.newly_seen() == [], "what another console did before is not told of what was marked since"
    personal.leave({})
    assert state.seen(BOX)[0] == ["a"]
    state.close()


@pytest.mark.parametrize("damage", [b"this is no database, but it is long enough to be one" * 40, b"\x00" * 8192])
def test_a_damaged_file_is_moved_aside_and_told(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(damage)
    state = PersonalState(path)
    assert "renamed" in state.problem
    (aside,) = tmp_path.glob("state.db.damaged-*")
    assert aside.read_bytes() == damage
    state.save_draft(BOX, KEPT)
    state.close()
    again = PersonalState(path)
    assert not again.problem
    assert again.drafts(BOX)
    again.close()


def test_a_file_damaged_twice_is_moved_aside_twice(tmp_path: Path) -> None:
    for _ in range(2):
        (tmp_path / "state.db").write_bytes(b"no database at all " * 100)
        PersonalState(tmp_path / "state.db").close()
    assert len(list(tmp_path.glob("state.db.damaged-*"))) == 2


@pytest.mark.parametrize("table", ["seen", "shown"])
def test_of_a_file_that_is_damaged_in_part_the_rest_is_kept(table: str, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state, other = PersonalState(path), PersonalState(path)
    ids = [f"message {number}" for number in range(2000)]
    state.mark_seen(BOX, ids)
    state.mark_shown(BOX, "ann", "read", ids, 1.0)
    state.save_draft(BOX, KEPT)
    damage_page(path, *([b"message", BOX.encode()] if table == "shown" else [BOX.encode()]))
    seen, shown = {*state.seen(BOX)[0]}, state.shown(BOX, "ann", "read").ids
    assert seen == {*ids}
    if table == "shown":
        assert 1500 < len(shown) < 2000
        assert {min(ids), max(ids)} <= shown <= seen
    else:
        assert shown == seen
    assert "what could be read" in state.problem
    assert state.drafts(BOX) == {KEPT.key: KEPT}
    other.mark_seen(BOX, ["one more"])  # it sees that another has replaced the file
    assert other.shown(BOX, "ann", "read").ids == shown
    assert not other.problem
    assert "one more" in state.seen(BOX)[0]
    state.close()
    other.close()
    assert len([each for each in tmp_path.iterdir() if each.name.endswith(".damaged-1")]) == 1


def test_a_file_that_is_deleted_is_created_again(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = PersonalState(path)
    state.mark_seen(BOX, ["one"])
    for each in tmp_path.iterdir():
        each.unlink()
    state.mark_seen(BOX, ["two"])
    other = PersonalState(path)
    assert other.seen(BOX)[0] == ["two"]
    state.close()
    other.close()


def test_any_path_and_any_name_can_be_stored(tmp_path: Path) -> None:
    box, name = "haak:/no/utf-8/\udcff", "odd \ud800"
    draft = ComposerDraft("thread:" + name, thread=name, body="Words.", attachments=("/tmp/\udcff",))
    state = PersonalState(tmp_path / "state.db")
    state.mark_seen(box, [name, "plain"])
    state.mark_shown(box, name, "read", [name], 1.0)
    state.save_draft(box, draft)
    state.join(box, name, True)
    held = HeldMessages(state.database, box, "one")
    held.hold(HeldMessage("h", draft, 9.0))
    state.close()
    again = PersonalState(tmp_path / "state.db")
    assert {*again.seen(box)[0]} == {name, "plain"}
    assert again.shown(box, name, "read").holds(name)
    assert again.joined(box) == {name}
    (message,) = HeldMessages(again.database, box, "two").take_over(9.0, lambda process: True)
    assert message.writing == draft
    again.save_draft(box, draft)
    assert again.drafts(box) == {draft.key: draft}
    again.close()


def test_a_place_that_can_not_be_written_is_told_and_memory_takes_its_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    state = PersonalState(tmp_path / "file" / "state.db")
    assert "not saved" in state.problem
    state.save_draft(BOX, KEPT)
    assert state.drafts(BOX) == {KEPT.key: KEPT}
    state.close()


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "state.db").mkdir()
    state = PersonalState(tmp_path / "state.db")
    assert "not saved" in state.problem
    state.close()


def test_a_state_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "state.db")
    db.execute("PRAGMA user_version = 99")
    db.commit()
    db.close()
    before = (tmp_path / "state.db").read_bytes()
    state = PersonalState(tmp_path / "state.db")
    assert "newer" in state.problem
    state.close()
    assert (tmp_path / "state.db").read_bytes() == before


def test_an_odd_session_is_no_session(tmp_path: Path) -> None:
    state = PersonalState(tmp_path / "state.db")
    assert state.session(BOX) == {}
    state.save_session(BOX, {"view": {"kind": "dead"}})
    assert state.session(BOX) == {"view": {"kind": "dead"}}
    state.close()


def test_values_are_remembered_by_mailbox_and_survive_damage(tmp_path: Path) -> None:
    state = PersonalState(tmp_path / "state.db")
    here, there = (PersonalData(state, url, Config(), time.time) for url in (BOX, "haak:/elsewhere"))
    here.remember("panes", {"sidebar": 31, "names": ["日本", "[/]"]})
    here.remember("gone", 1)
    for name in ("panes", "gone"):
        here.save_remembered(name)
    here.remember("gone", None)
    here.save_remembered("gone")
    there.remember("panes", 5)  # before what was saved is loaded: the newer value stays
    there.save_remembered("panes")
    state.database.write("INSERT INTO remembered VALUES (?, 'odd', '{', 0)", [(BOX,)])
    again = PersonalData(state, BOX, Config(), time.time)
    again.remember("new", True)
    again.load()
    assert again.recall("panes") == {"sidebar": 31, "names": ["日本", "[/]"]}
    assert (again.recall("gone"), again.recall("odd", "none"), again.recall("new")) == (None, "none", True)
    there.load()
    assert there.recall("panes") == 5
    state.close()


async def test_the_console_tells_when_nothing_is_kept(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    (tmp_path / "file").write_text("no folder")
    async with opened(mail.data, state=tmp_path / "file" / "s.db") as seat:
        assert "not saved" in seat.text
        await seat.press("enter", "j", "r", *"Yes.", "escape")
        assert seat.notice == "Draft kept"


async def test_the_console_comes_back_as_it_was_left(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.press("1", "g", "j", "j", "2", "j", "j")
        chosen = seat.screen.threads.cursor_key
        await seat.pilot.press("q")
        await seat.until(lambda: seat.app.return_code is not None)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        assert "New to you" in seat.lines[1]
        assert seat.screen.threads.cursor_key == chosen


def test_what_can_not_be_written_leaves_the_file_as_it_was_and_usable(tmp_path: Path) -> None:
    database = StateDatabase(tmp_path / "state.db")
    words = "INSERT INTO remembered (mailbox, name, value, updated) VALUES (?, ?, ?, 0)"
    database.rows("PRAGMA max_page_count = 1", ())
    with pytest.raises(StoreError, match=r"state.db can't be used \(database or disk is full\): check the file"):
        database.write_all([(words, [(BOX, "small", "1"), (BOX, "large", "2" * 1_000_000)])])
    database.write(words, [(BOX, "other", "3")])
    assert database.rows("SELECT name FROM remembered", ()) == [("other",)]
    database.close()


async def test_who_quits_where_a_draft_can_not_be_saved_is_asked_once(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data) as seat:
        seat.app.session.personal.state.database.rows("PRAGMA max_page_count = 1", ())
        await seat.press("c", "tab", "tab")
        await seat.paste("Many words. " * 5000)
        await seat.sees("disk is full")
        await seat.press("ctrl+q")
        await seat.sees("Quit and lose your draft?")
        await seat.press("escape")
        assert "Many words. " in seat.text
        await seat.press("escape", "q")
        await seat.sees("Quit and lose your draft?")
        assert seat.app.return_code is None
        await seat.pilot.press("ctrl+q")
        await seat.until(lambda: seat.app.return_code == 0)


async def test_a_draft_is_not_said_to_be_kept_where_nothing_is(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    (tmp_path / "file").touch()
    async with opened(mail.data, state=tmp_path / "file" / "state.db") as seat:
        await seat.sees("changes to your state are not saved")
        await seat.press("escape", "c", "tab", "tab", "x", "escape", "q")
        await seat.sees("Quit and lose your draft?")
        await seat.press("y")
        assert seat.app.return_code == 0


@pytest.mark.parametrize("how", ["q", "ctrl+q", "signal"])
async def test_a_state_that_can_not_be_written_keeps_nobody_from_quitting(how: str, tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data) as seat:
        seat.app.session.personal.state.close()
        if how == "signal":
            seat.app.end(143)
        else:
            await seat.pilot.press(how)
        await seat.until(lambda: seat.app.return_code == (143 if how == "signal" else 0))


async def test_a_signal_does_not_wait_for_a_state_that_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.app.LEAVING_SECONDS", 0.1)
    mail, _ = every_case(tmp_path)
    async with opened(mail.data) as seat:
        state = seat.app.session.personal.state
        state.database.rows("PRAGMA busy_timeout = 600000", ())
        with closing(sqlite3.connect(state.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            seat.app.end(143)
            await seat.until(lambda: seat.app.return_code == 143)


def test_two_consoles_keep_what_each_adds_to_a_list_and_removes(tmp_path: Path) -> None:
    state = PersonalState(tmp_path / "state.db")
    here, there = (PersonalData(state, BOX, Config(), time.time) for _ in "ab")
    here.remember("searches", ["old", "gone"])
    here.save_remembered("searches")
    there.load()
    here.remember("searches", ["gone", "old"])  # used again
    here.save_remembered("searches")
    there.remember("searches", ["old", "theirs"])
    there.save_remembered("searches")
    here.remember("searches", [*here.recall("searches"), "ours"])
    here.save_remembered("searches")
    assert here.recall("searches") == ["theirs", "old", "ours"]
    there.remember("searches", None)
    there.save_remembered("searches")
    again = PersonalData(state, BOX, Config(), time.time)
    again.load()
    assert again.recall("searches") == ["ours"]
    again.remember("searches", None)
    again.save_remembered("searches")
    assert not state.database.rows("SELECT * FROM remembered", ())
    state.close()


def test_drafts_that_change_while_all_is_loaded_are_kept(tmp_path: Path) -> None:
    state = PersonalState(tmp_path / "state.db")
    for key in ("left", "discarded", "changed"):
        state.save_draft("haak:/one", ComposerDraft(key, "ann", "", "Before."))
    personal = PersonalData(state, "haak:/one", Config(), lambda: 1.0)
    personal.left_off()
    personal.set_draft(ComposerDraft("discarded"))
    personal.set_draft(ComposerDraft("changed", "ann", "", "After."))
    personal.set_draft(ComposerDraft("new", "ann", "", "Typed meanwhile."))
    personal.load()
    for key in ("discarded", "changed", "new"):
        personal.save_draft(key)
    texts = {"left": "Before.", "changed": "After.", "new": "Typed meanwhile."}
    assert {key: draft.body for key, draft in state.drafts("haak:/one").items()} == texts
    assert {draft.key: draft.body for draft in personal.drafts} == texts
    state.close()


async def test_the_console_opens_where_its_state_is_damaged_in_part(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    state = tmp_path / "state.db"
    async with opened(mail.data, state=state) as seat:
        await seat.press("E")
        await seat.until(lambda: not seat.app.session.live.counts().unseen)
        seat.app.session.personal.set_seen([f"message {number}" for number in range(2000)], is_seen=True)
        seat.app.session.personal.save_seen()
    damage_page(state, b"haak:")
    async with opened(mail.data, state=state) as seat:
        await seat.sees("was damaged: renamed to state.db.damaged-1")
        await seat.press("escape")
        assert "● live" in seat.lines[0]
        assert not seat.app.session.live.counts().unseen


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode")
async def test_a_mailbox_whose_path_is_not_unicode_is_kept_like_any_other(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path / "odd \udcff")
    for key in ("E", ""):
        async with opened(mail.data, state=tmp_path / "state.db") as seat:
            assert "● live" in seat.lines[0]
            await seat.press(*key)
            await seat.until(lambda: not seat.app.session.live.counts().unseen)
            await seat.pilot.press("q")
            await seat.until(lambda: seat.app.return_code == 0)


async def test_where_the_state_can_not_be_read_that_is_said_and_the_mail_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StoreError("state.db can't be used (disk I/O error)", "check the file and the free space", "E211")

    mail, _ = every_case(tmp_path)
    monkeypatch.setattr(PersonalState, "seen", fail)
    monkeypatch.setattr(PersonalState, "seen_of", fail)
    async with opened(mail.data) as seat:
        await seat.sees("disk I/O error")
        await seat.press("escape")
        assert "● live  37 messages" in seat.lines[0]


async def test_whatever_goes_wrong_while_all_is_saved_the_console_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    mail, _ = every_case(tmp_path)
    async with opened(mail.data) as seat:
        monkeypatch.setattr(PersonalData, "leave", fail)
        await seat.pilot.press("q")
        await seat.until(lambda: seat.app.return_code == 0)
