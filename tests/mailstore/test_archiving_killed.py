from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailstore.haak import HaakStore
from mailstore.records.draft import draft
from mailstore.state.mailbox import Mailbox
from tests.mailboxes import HOUR, NOW, MailFiles
from tests.mailstore.archiving import Archivist, Writer

DAY = 24 * HOUR
LATE = {"sender": "bob", "recipient": "all", "timestamp": "2026-03-16T14:00:00Z", "content": "Late."}


@pytest.fixture(scope="module")
def archivist() -> Iterator[Archivist]:
    with Archivist() as archivist:
        yield archivist


def written(folder: Path) -> tuple[MailFiles, set[str]]:
    """Write a mailbox of threads over three months, one of which has an archive, with damage in it."""
    mail = MailFiles(folder)
    mail.agent("ann-00000001")
    mail.message("old", "bob", "all", ago=80 * DAY, archived=True)
    ids = {"old"}
    for number in range(24):
        ids.add(mail.message(f"m{number}", "bob", "all", ago=(75 - 3 * number) * DAY, colour="blue"))
        ids.add(mail.message(f"r{number}", "ann-00000001", "all", ago=(75 - 3 * number) * DAY, thread=f"m{number}"))
        if number == 7:
            mail.line(b"this is no record\n")
    ids.add(mail.message("unread", "bob", "ann-00000001", ago=60 * DAY, ttl_hours=9000, thread="m3"))
    return mail, ids


def lines(mail: MailFiles) -> Counter[bytes]:
    """Count the lines of the mailbox and its months; one that is blank comes of two who append at one moment."""
    files = [mail.mailbox, *(mail.data / "agent-mailbox-archive").glob("*.jsonl")]
    return Counter(line for file in files for line in file.read_bytes().splitlines() if line)


def read(mail: MailFiles) -> Mailbox:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    return mailbox


def looked_at(mail: MailFiles) -> set[str]:
    """Read the mailbox; return the ids, each of which is there once, and see that looking changed nothing."""
    before = files(mail)
    mailbox = read(mail)
    assert files(mail) == before
    assert not mailbox.duplicates
    assert sum(problem.fatal for problem in mailbox.problems) == 1
    return {message.id for message in mailbox.messages()}


def files(mail: MailFiles) -> dict[str, tuple[bytes, int]]:
    found = (path for path in mail.data.rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


def write(mail: MailFiles) -> str:
    """Write by way of the store, which mends what it finds."""
    with HaakStore.open(mail.data) as store:
        return store.send(draft(sender="ann-00000001", recipients=("all",), content="Hello.")).id


def late(fd: int, message_id: str) -> str:
    os.write(fd, json.dumps({"id": message_id, **LATE}).encode() + b"\n")
    return message_id


def every_step(folder: Path, archivist: Archivist) -> list[str]:
    """Archive without any disturbance; return where an archival can die, late lines among it."""
    mail, _ = written(folder)
    made, is_done = archivist.archive(mail.data, "never")
    assert is_done
    seen = Counter[str]()
    for step in (*made, "late lines"):
        seen[step] += 1
    return [f"{step} {number}" for step, times in seen.items() for number in range(1, times + 1)]


def test_an_archival_killed_at_any_step_loses_nothing_and_doubles_nothing(tmp_path: Path, archivist: Archivist) -> None:
    ends = Counter[str]()
    for number, at in enumerate(every_step(tmp_path / "first", archivist)):
        mail, ids = written(tmp_path / str(number))
        holder = os.open(mail.mailbox, os.O_WRONLY | os.O_APPEND)
        writers = [Writer(mail.mailbox, name, holds=name == "holds") for name in ("holds", "opens")]
        made, _ = archivist.archive(mail.data, at)
        for writer in writers:
            ids |= writer.stop()
        step = f"at {at}, after {made}"
        ids.add(late(holder, "late-1"))
        assert looked_at(mail) == ids, step
        ids.add(write(mail))
        assert looked_at(mail) == ids, step
        ids.add(late(holder, "late-2"))
        assert looked_at(mail) == ids, step
        ids.add(write(mail))
        os.close(holder)
        assert looked_at(mail) == ids, step
        every = lines(mail)
        assert every.total() == len(every) == len(ids) + 1, step
        left = [path.name for path in mail.data.iterdir() if "archiving" in path.name or path.name.startswith(".")]
        assert not left, step
        ends[((mail.data / "agent-mailbox-archive" / "2026-01.jsonl").exists() and "finished") or "undone"] += 1
    assert ends["undone"] > 8
    assert ends["finished"] >= 4
