"""How the files of a HAAK mailbox are gone through: in order, in batches, and while they change."""

from __future__ import annotations

import asyncio
import errno
import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mailstore.conformance.following import Follower, following, ids, of, scanned
from mailstore.errors import ContentGone, StoreError
from mailstore.files.lines import Line, LineFile
from mailstore.haak import HaakStore
from mailstore.haak.reader import BATCH, TAIL_BYTES
from mailstore.records.events import Event, Gone, Progress, Reset
from mailstore.records.message import Delivery, Intervention, Message, Problem, Receipt
from mailstore.records.roster import Agent
from tests.mailboxes import HOUR, NOW, MailFiles, iso
from tests.mailstore.haak_reading import events

ANN, BOB = "ann-00000001", "bob-00000001"
MONTH = 30 * 24 * HOUR
OPEN_FILES = Path("/proc/self/fd")


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    return MailFiles(tmp_path)


def fill(mail: MailFiles, count: int, *, size: int = 9) -> list[str]:
    """Append messages, and a read of each; return their ids."""
    names = [f"m{number}" for number in range(count)]
    for name in names:
        mail.message(name, BOB, ANN, "x" * size)
        mail.read(name, ANN)
    return names


def batches(mail: MailFiles) -> list[list[Event]]:
    with HaakStore.open(mail.data) as store:
        return list(store.scan())


# Order, batches, progress


def test_the_files_come_in_the_order_in_which_they_are_needed(mail: MailFiles) -> None:
    fill(mail, 3000, size=300)
    mail.message("old", BOB, ANN, ago=MONTH, archived=True)
    mail.delivery("m1", ANN)
    mail.intervention("note", "m1")
    mail.agent(ANN)
    kinds = [
        "archived" if isinstance(event, Message) and event.archived else type(event)
        for event in events(mail)
        if not isinstance(event, Progress)
    ]
    parts = [kind for at, kind in enumerate(kinds) if at == 0 or kind != kinds[at - 1]]
    assert parts == [Agent, Delivery, Intervention, Message, Receipt, Message, Receipt, "archived"]


def test_batches_are_small_and_never_empty(mail: MailFiles) -> None:
    fill(mail, 3000)
    sizes = [len(batch) for batch in batches(mail)]
    assert min(sizes) > 0
    assert max(sizes) <= BATCH + 1


def test_progress_grows_up_to_all_there_is(mail: MailFiles) -> None:
    fill(mail, 3000, size=900)
    found = of(Progress, [event for batch in batches(mail) for event in batch])
    total = mail.mailbox.stat().st_size + mail.reads.stat().st_size
    assert {each.total for each in found} == {total}
    done = [each.done for each in found]
    assert len(done) > 3
    assert done == sorted(done)
    assert (done[0] > TAIL_BYTES, done[-1]) == (True, total)


def test_a_message_without_a_time_in_the_end_of_a_big_file_has_that_of_the_one_before_it(mail: MailFiles) -> None:
    mail.message("dated", BOB, ANN, ago=5 * HOUR)
    for number in range(900):
        mail.message(f"m{number}", BOB, ANN, "x" * 900, timestamp=None)
    untimed = [message for message in of(Message, events(mail)) if not message.timed]
    assert len(untimed) == 900
    assert {message.time for message in untimed} == {NOW - 5 * HOUR}


async def test_a_message_without_a_time_that_comes_later_has_that_of_the_one_before_it(mail: MailFiles) -> None:
    mail.message("dated", BOB, ANN, ago=5 * HOUR)
    mail.message("big", BOB, ANN, "x" * 2 * TAIL_BYTES, timestamp=None)
    with HaakStore.open(mail.data) as store:
        scanned(store)
        async with following(store) as came:
            mail.message("late", BOB, ANN, timestamp=None)
            await came.until_message("late")
    assert [message.time for message in of(Message, came.events)] == [NOW - 5 * HOUR]


# Files that change while they are read


def test_a_mailbox_that_is_replaced_during_the_scan_is_read_anew(mail: MailFiles) -> None:
    fill(mail, 3000, size=900)
    with HaakStore.open(mail.data) as store:
        scanning = store.scan()
        found = [next(scanning), next(scanning)]
        new = mail.data / "new"
        new.write_bytes(mail.mailbox.read_bytes().replace(b'"m', b'"n'))
        new.replace(mail.mailbox)
        found += scanning
    flat = [event for batch in found for event in batch]
    (reset,) = (at for at, event in enumerate(flat) if isinstance(event, Reset))
    assert "replaced" in next(event.reason for event in flat if isinstance(event, Reset))
    assert ids(flat[reset:]) == {f"n{number}": 1 for number in range(3000)}


def test_what_comes_during_the_scan_is_handed_out_once(mail: MailFiles) -> None:
    names = fill(mail, 2000, size=900)

    async def follow(store: HaakStore) -> list[Event]:
        async with following(store) as came:
            await came.until_message("during", "after")
            return came.events

    with HaakStore.open(mail.data) as store:
        found: list[Event] = []
        for at, batch in enumerate(store.scan()):
            found += batch
            if at == 1:
                mail.message("during", BOB, ANN)
        mail.message("after", BOB, ANN)
        found += asyncio.run(follow(store))
    assert ids(found) == dict.fromkeys([*names, "during", "after"], 1)


async def test_whoever_is_cancelled_while_waiting_loses_nothing(mail: MailFiles) -> None:
    names = fill(mail, 3000, size=300)
    found: list[Event] = []
    with HaakStore.open(mail.data) as store:

        async def follow() -> None:
            async with following(store) as came:
                try:
                    await came.until(lambda events: ids([*found, *events]).keys() >= {*names, "last"})
                finally:
                    found.extend(came.events)

        for _ in range(20):
            task = asyncio.create_task(follow())
            for _ in range(7):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        mail.message("last", BOB, ANN)
        await follow()
    assert ids(found) == dict.fromkeys([*names, "last"], 1)


async def test_a_mailbox_that_can_not_be_read_for_a_while_is_gone_and_comes_back(
    mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(mail, 2)
    read = LineFile.read

    def refuse(file: LineFile, until: int | None = None, block: int = 1) -> Iterator[list[Line]]:
        if file.path == mail.reads:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        yield from read(file, until, block)

    with HaakStore.open(mail.data) as store:
        scanned(store)
        async with following(store) as came:
            with monkeypatch.context() as patch:
                patch.setattr(LineFile, "read", refuse)
                await came.until(lambda events: bool(of(Gone, events)))
            await came.until_message("m0", "m1")
    assert "permission denied" in of(Gone, came.events)[0].reason
    assert isinstance(next(event for event in came.events if not isinstance(event, Gone)), Reset)


def test_a_scan_of_what_may_not_be_read_says_so(mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    fill(mail, 2)
    with HaakStore.open(mail.data) as store:
        monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(StoreError, match="permission denied"):
            scanned(store)


# The archive (19, 21)


def month(mail: MailFiles) -> Path:
    mail.message("old", BOB, ANN, "Old.", ago=MONTH, archived=True)
    (path,) = (mail.data / "agent-mailbox-archive").iterdir()
    return path


def pack(path: Path) -> Path:
    packed = path.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return packed


async def follow_until(store: HaakStore, act: Callable[[], object], *names: str) -> list[Event]:
    async with following(store) as came:
        act()
        await came.until_message(*names)
        return came.events


def later(mail: MailFiles) -> None:
    """Let a packed month appear."""
    path = mail.data / "agent-mailbox-archive" / "2020-01.jsonl"
    record = {"id": "later", "sender": BOB, "recipient": ANN, "timestamp": iso(NOW - 70 * MONTH), "content": "Later."}
    mail.line(record, path)
    new = mail.data / "new"
    new.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    new.replace(path.with_suffix(".jsonl.gz"))


async def test_a_month_that_appears_or_grows_is_noticed(mail: MailFiles) -> None:
    with HaakStore.open(mail.data) as store:
        scanned(store)
        came = await follow_until(store, lambda: month(mail), "old")
        came += await follow_until(store, lambda: mail.message("more", BOB, ANN, ago=MONTH, archived=True), "more")
        came += await follow_until(store, lambda: later(mail), "later")
    assert ids(came) == {"old": 1, "more": 1, "later": 1}
    assert not of(Reset, came)


@pytest.mark.parametrize("change", ["replace", "remove", "pack"])
async def test_a_month_that_is_another_one_or_gone_makes_everything_void(mail: MailFiles, change: str) -> None:
    mail.message("live", BOB, ANN)
    path = month(mail)

    def act() -> None:
        if change == "replace":
            new = mail.data / "new"
            new.write_bytes(path.read_bytes())
            new.replace(path)
        elif change == "remove":
            path.unlink()
        else:
            pack(path)

    expected = ["live"] if change == "remove" else ["live", "old"]
    with HaakStore.open(mail.data) as store:
        scanned(store)
        came = await follow_until(store, act, *expected)
    last = max(at for at, event in enumerate(came) if isinstance(event, Reset))
    assert ids(came[last:]) == dict.fromkeys(expected, 1)


def test_a_month_that_can_not_be_unpacked_to_its_end_is_told_once(mail: MailFiles) -> None:
    path = pack(month(mail))
    whole = path.read_bytes()
    path.write_bytes(whole[:-4])
    found = events(mail)
    assert [(one.file, one.fatal) for one in of(Problem, found)] == [(f"agent-mailbox-archive/{path.name}", True)]
    path.write_bytes(b"no gzip file")
    assert len(of(Problem, events(mail))) == 1


def test_an_archived_text_is_read_from_a_packed_month(mail: MailFiles) -> None:
    path = pack(month(mail))
    with HaakStore.open(mail.data) as store:
        (message,) = of(Message, scanned(store))
        assert store.content(message) == "Old."
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(ContentGone):
            store.content(message)


# Bodies


def test_a_body_is_read_only_from_where_its_message_still_stands(mail: MailFiles) -> None:
    fill(mail, 2)
    with HaakStore.open(mail.data) as store:
        first, second = of(Message, scanned(store))
        data = mail.mailbox.read_bytes()
        mail.mailbox.write_bytes(data.replace(b'"m0"', b'"z0"'))
        with pytest.raises(ContentGone, match="no longer has this message"):
            store.content(first)
        assert store.content(second) == "x" * 9
        mail.mailbox.write_bytes(data[:-20])
        assert store.content(first) == "x" * 9
        with pytest.raises(ContentGone, match="no longer has this message"):
            store.content(second)
        mail.mailbox.unlink()
        with pytest.raises(ContentGone, match="can't be read"):
            store.content(first)


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="the system does not tell which files are open")
def test_no_file_stays_open(mail: MailFiles) -> None:
    fill(mail, 50)
    with HaakStore.open(mail.data) as store:
        before = len(list(OPEN_FILES.iterdir()))
        for message in of(Message, scanned(store)):
            store.content(message)
        assert len(list(OPEN_FILES.iterdir())) == before


def test_a_follower_that_is_given_up_lets_go(mail: MailFiles) -> None:
    async def follow(store: HaakStore) -> None:
        async with following(store) as came:
            mail.message("m", BOB, ANN)
            await came.until_message("m")
        assert asyncio.all_tasks() == {asyncio.current_task()}

    async def given_up(came: Follower) -> None:
        await came.until_message("never")

    async def cancelled(store: HaakStore) -> None:
        async with following(store) as came:
            task = asyncio.create_task(given_up(came))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])

    with HaakStore.open(mail.data) as store:
        asyncio.run(follow(store))
        asyncio.run(cancelled(store))
