"""A HAAK mailbox is followed while others write: every record once, whatever they do to the files."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Coroutine
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.conformance import Follower, following
from mailstore.conformance.following import ids, of, scanned
from mailstore.haak import HaakStore
from mailstore.haak.places import MailboxFiles
from mailstore.haak.read.roster import RosterReader
from mailstore.haak.reader import Reader
from mailstore.records.events import Event, Gone, Reset
from mailstore.records.message import Delivery, Message, Problem, Receipt
from mailstore.records.roster import Agent
from tests.mailboxes import MailFiles, damaged

ANN, BOB = "ann-00000001", "bob-00000001"
OPEN_FILES = Path("/proc/self/fd")

WRITER = """
import json, sys
path, count = sys.argv[1], int(sys.argv[2])
with open(path, "ab", buffering=0) as file:
    for number in range(count):
        record = {"id": f"other{number}", "sender": "a", "recipient": "b", "content": "x" * (number % 7 * 999)}
        line = json.dumps(record).encode() + b"\\n"
        half = len(line) // 2
        file.write(line[:half])
        file.write(line[half:])
"""


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    return MailFiles(tmp_path)


def follow(
    mail: MailFiles, story: Callable[[Follower], Coroutine[None, None, None]], *, poll: bool = False
) -> tuple[list[Event], list[Event]]:
    """Scan a mailbox and follow it through a story; return what the one and the other yielded."""

    async def run(store: HaakStore) -> list[Event]:
        async with following(store) as came:
            await story(came)
            return came.events

    with HaakStore.open(mail.data, poll=poll) as store:
        before = scanned(store)
        return before, asyncio.run(run(store))


def more_than(count: int, kind: type[Event]) -> Callable[[list[Event]], bool]:
    return lambda events: len(of(kind, events)) > count


def after_reset(events: list[Event]) -> list[Event]:
    place = max(place for place, event in enumerate(events) if isinstance(event, Reset))
    return events[place + 1 :]


@pytest.mark.parametrize("poll", [False, True])
def test_what_another_process_writes_in_pieces_comes_once_and_in_order(mail: MailFiles, poll: bool) -> None:
    count = 300

    async def story(came: Follower) -> None:
        writer = await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, str(mail.mailbox), str(count))
        await came.until_message(f"other{count - 1}")
        assert await writer.wait() == 0

    _, events = follow(mail, story, poll=poll)
    assert [message.id for message in of(Message, events)] == [f"other{number}" for number in range(count)]
    assert not [one for one in of(Problem, events) if one.fatal]


@pytest.mark.parametrize("poll", [False, True])
def test_every_file_is_followed(mail: MailFiles, poll: bool) -> None:
    async def story(came: Follower) -> None:
        mail.message("m", BOB, ANN)
        await came.until_message("m")
        mail.read("m", ANN)
        await came.until(lambda events: bool(of(Receipt, events)))
        mail.agent(ANN)
        await came.until(lambda events: bool(of(Agent, events)))
        mail.delivery("m", ANN)
        await came.until(lambda events: bool(of(Delivery, events)))
        mail.message("old", BOB, ANN, archived=True)
        await came.until_message("old")
        (mail.data / "agent-roster.json").write_text(json.dumps([{"session_id": BOB, "status": "dead"}]))
        await came.until(lambda events: len(of(Agent, events)) == 2)

    _, events = follow(mail, story, poll=poll)
    assert ids(events) == {"m": 1, "old": 1}
    assert not of(Reset, events)


def test_problems_that_come_have_the_line_and_offset_of_the_file(mail: MailFiles) -> None:
    mail.message("m", BOB, ANN)
    mail.line(b"no record\n")
    offset = mail.mailbox.stat().st_size

    async def story(came: Follower) -> None:
        mail.line(b"none either\n")
        await came.until(lambda events: bool(of(Problem, events)))

    _, events = follow(mail, story)
    assert [(one.line, one.offset) for one in of(Problem, events)] == [(3, offset)]


# Replaced, truncated, gone


def cut_in_place(mail: MailFiles) -> None:
    data = mail.mailbox.read_bytes()
    mail.mailbox.write_bytes(data[: data.index(b"\n") + 1])


def replace_with_a_longer_one(mail: MailFiles) -> None:
    first, _, _ = mail.mailbox.read_bytes().partition(b"\n")
    other = mail.data / "other"
    other.write_bytes(first + b"\n")
    other.replace(mail.mailbox)
    for number in range(20):
        mail.message(f"new{number}", BOB, ANN)


def rewrite_in_place_to_the_same_size(mail: MailFiles) -> None:
    data = mail.mailbox.read_bytes()
    with mail.mailbox.open("r+b") as file:
        file.write(data.replace(b"message.", b"massage."))


def unlink_and_write_anew(mail: MailFiles) -> None:
    mail.mailbox.unlink()
    mail.message("fresh", BOB, ANN)


@pytest.mark.parametrize(
    "change", [cut_in_place, replace_with_a_longer_one, rewrite_in_place_to_the_same_size, unlink_and_write_anew]
)
@pytest.mark.parametrize("poll", [False, True])
def test_a_file_that_is_another_one_is_read_anew(
    mail: MailFiles, change: Callable[[MailFiles], None], poll: bool
) -> None:
    for number in range(5):
        mail.message(f"m{number}", BOB, ANN)

    async def story(came: Follower) -> None:
        change(mail)
        mail.message("last", BOB, ANN)
        await came.until_message("last")

    _, events = follow(mail, story, poll=poll)
    assert of(Reset, events)[-1].reason
    now = [json.loads(line)["id"] for line in mail.mailbox.read_bytes().splitlines()]
    assert ids(after_reset(events)) == dict.fromkeys(now, 1)


@pytest.mark.parametrize("poll", [False, True])
def test_a_folder_that_goes_is_told_once_and_read_anew_when_it_is_back(mail: MailFiles, poll: bool) -> None:
    mail.message("m", BOB, ANN)
    mail.agent(ANN)
    away = mail.data.with_name("away")

    async def story(came: Follower) -> None:
        for number in range(2):
            mail.data.replace(away)
            await came.until(more_than(number, Gone))
            away.replace(mail.data)
            await came.until(more_than(number, Reset))
            mail.message(f"later{number}", BOB, ANN)
            await came.until_message(f"later{number}")

    _, events = follow(mail, story, poll=poll)
    assert [type(event) for event in events if isinstance(event, (Gone, Reset))] == [Gone, Reset, Gone, Reset]
    assert ids(after_reset(events)) == {"m": 1, "later0": 1, "later1": 1}


def test_a_folder_that_is_removed_and_made_anew_is_read_anew(mail: MailFiles) -> None:
    mail.message("m", BOB, ANN)

    async def story(came: Follower) -> None:
        shutil.rmtree(mail.data)
        await came.until(lambda events: bool(of(Gone, events)))
        MailFiles(mail.data.parent).message("other", BOB, ANN)
        await came.until_message("other")

    _, events = follow(mail, story)
    assert ids(events) == {"other": 1}


def test_archiving_moves_messages_without_losing_one(mail: MailFiles) -> None:
    for number in range(5):
        mail.message(f"m{number}", BOB, ANN)

    async def story(came: Follower) -> None:
        lines = mail.mailbox.read_bytes().splitlines(keepends=True)
        archive = mail.data / "agent-mailbox-archive"
        archive.mkdir()
        (archive / "2026-03.jsonl").write_bytes(b"".join(lines[:3]))
        kept = mail.data / "kept"
        kept.write_bytes(b"".join(lines[3:]))
        kept.replace(mail.mailbox)
        mail.message("last", BOB, ANN)
        await came.until(lambda events: bool(of(Reset, events)) and len(ids(after_reset(events))) == 6)

    _, events = follow(mail, story)
    found = of(Message, after_reset(events))
    assert {message.id for message in found if message.archived} == {"m0", "m1", "m2"}
    assert {message.id for message in found if not message.archived} == {"m3", "m4", "last"}


# A file that grows, cut anywhere


def told(events: list[Event]) -> set[Event]:
    kinds = (Message, Problem, Receipt)
    return {
        event for event in events if isinstance(event, kinds) and "unterminated" not in getattr(event, "reason", "")
    }


@given(cuts=st.lists(st.floats(0, 1), max_size=5))
def test_a_file_that_grows_by_any_pieces_gives_the_same_as_the_whole(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[float]
) -> None:
    folder = tmp_path_factory.mktemp("growing")
    mail = damaged(folder / "whole")
    mail.line(b'ient": "ann-00000001", "content": "Mended."}\n')
    data = mail.mailbox.read_bytes()
    whole = [event for batch in Reader(MailboxFiles(mail.mailbox)).scan() for event in batch]

    growing = MailFiles(folder / "growing")
    growing.roster.write_bytes(mail.roster.read_bytes())
    reader = Reader(MailboxFiles(growing.mailbox))
    places = sorted({0, len(data), *(round(cut * len(data)) for cut in cuts)})
    came: list[Event] = []
    for number, (start, stop) in enumerate(pairwise(places)):
        growing.line(data[start:stop])
        came += [event for batch in (reader.changes() if number else reader.scan()) for event in batch]
    assert told(came) == told(whole)
    assert ids(came) == ids(whole) == dict.fromkeys(["good-1", "good-2", "good-3", "good-4", "torn"], 1)


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="the system does not tell which files are open")
def test_a_store_that_is_closed_holds_no_file_open(mail: MailFiles) -> None:
    mail.message("m", BOB, ANN, "x" * (3 << 20))
    with HaakStore.open(mail.data) as store:
        scan = store.scan()
        next(scan)  # the end of the files, as far as it goes: none of this one
        next(scan)
        assert files_open_in(mail.data)
    assert not files_open_in(mail.data)
    store.close()


def files_open_in(folder: Path) -> list[str]:
    found = [str(path.readlink()) for path in OPEN_FILES.iterdir() if path.is_symlink()]
    return [name for name in found if name.startswith(str(folder))]


def test_a_mailbox_on_which_a_reader_dies_is_read_by_the_next(mail: MailFiles) -> None:
    mail.message("m", BOB, ANN)
    before = mail.mailbox.stat().st_mtime_ns
    script = "import sys; from pathlib import Path; from mailstore.haak import HaakStore\n"
    script += "next(HaakStore.open(Path(sys.argv[1])).scan()); import os; os._exit(9)"
    assert subprocess.run([sys.executable, "-c", script, str(mail.data)]).returncode == 9
    with HaakStore.open(mail.data) as store:
        assert ids(scanned(store)) == {"m": 1}
    assert mail.mailbox.stat().st_mtime_ns == before


@pytest.mark.parametrize("poll", [False, True])
def test_following_changes_no_byte_and_no_time(mail: MailFiles, poll: bool) -> None:
    mail.message("m", BOB, ANN)
    mail.agent(ANN)

    def facts() -> dict[str, tuple[bytes, int]]:
        return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in mail.data.iterdir()}

    async def story(came: Follower) -> None:
        mail.message("late", BOB, ANN)
        now = facts()
        await came.until_message("late")
        assert facts() == now

    folder = mail.data.stat().st_mtime_ns
    follow(mail, story, poll=poll)
    assert mail.data.stat().st_mtime_ns == folder


def test_a_folder_that_is_taken_away_during_a_look_takes_no_mail_off_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = MailFiles(tmp_path)
    mail.message("m", "bob-00000001", "ann-00000001")
    reader = Reader(MailboxFiles(mail.mailbox))
    assert [event.id for batch in reader.scan() for event in batch if isinstance(event, Message)] == ["m"]
    read, away = RosterReader.read, mail.data.with_name("away")

    def read_and_lose(roster: RosterReader) -> list[Event]:
        found = read(roster)  # the folder was there when the look began
        mail.data.rename(away)
        return found

    monkeypatch.setattr(RosterReader, "read", read_and_lose)
    assert list(map(list, reader.changes()))[-1] == [Gone(f"{mail.data} is gone")]
    monkeypatch.setattr(RosterReader, "read", read)
    assert list(reader.changes()) == []
    away.rename(mail.data)
    assert [type(event) for batch in reader.changes() for event in batch][:1] == [Reset]
