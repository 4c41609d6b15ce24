"""The bodies of many messages are what each of them is by itself, however a record is written."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from mailstore.conformance.following import of, scanned
from mailstore.errors import ContentGone
from mailstore.haak import HaakStore
from mailstore.records.message import Message
from tests.mailboxes import DAY, DIALECTS, NOW, Dialect, MailFiles, damaged, iso

USUAL: dict[str, Any] = {"id": "m", "sender": "bob", "recipient": "ann", "timestamp": iso(NOW), "content": "A text."}
FOREIGN: dict[str, Any] = {"id": "f", "from": "bob", "to": "ann", "ts": iso(NOW), "body": "In another dialect."}


def line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode()


ODD = [
    line(FOREIGN) + b"\n",
    line({**USUAL, "content": {"text": "Within."}}) + b"\n",
    line({**USUAL, "content": ["a", 1]}) + b"\n",
    line({**USUAL, "content": "", "body": "The other name."}) + b"\n",
    line({**USUAL, "content": ""}) + b"\n",
    line({**USUAL, "id": 7}) + b"\n",
    line({**USUAL, "content": "Grüße \ud83d\ude42 \x7f\x00"}) + b"\n",
    line({**USUAL, "content": "half \ud83d"}) + b"\n",
    line({**USUAL, "subject": "half \ud83d"}) + b"\n",
    line({**USUAL, "content": "X"}).replace(b"X", b"\xff\xfe") + b"\n",
    line({**USUAL, "subject": "X"}).replace(b"X", b"\xff\xfe") + b"\n",
    line(USUAL)[:-1] + b', "content": "The last wins."}\n',
    line(USUAL) + line(FOREIGN) + b"\n",
    line(USUAL) + b"\r\n",
    b"\xef\xbb\xbf" + line(USUAL) + b"\n",
    b"torn {" + line(USUAL) + b"\n",
]


def same(mail: MailFiles) -> list[str]:
    """Return the bodies, once each by itself and all together say the same."""

    def alone(store: HaakStore, message: Message) -> str:
        try:
            return store.content(message)
        except ContentGone as error:
            return f"gone: {error.problem}"

    with HaakStore.open(mail.data) as store:
        found = of(Message, scanned(store))
        texts = [f"gone: {it.problem}" if isinstance(it, ContentGone) else it for it in store.contents(found)]
        assert texts == [alone(store, message) for message in found]
    return texts


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_record_among_usual_ones(tmp_path: Path, odd: bytes) -> None:
    mail = MailFiles(tmp_path, now=NOW)
    mail.message("before", "bob", "ann", "Before.", ago=20)
    mail.line(odd)
    mail.message("after", "bob", "ann", "After.", ago=10)
    texts = same(mail)
    assert len(texts) >= 3
    assert {"Before.", "After."} <= set(texts)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_damage_and_both_dialects(tmp_path: Path, dialect: Dialect) -> None:
    assert {"One.", "Two."} <= set(same(damaged(tmp_path, dialect=dialect)))


def test_archived_and_packed_months(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=NOW)
    for number in range(4):
        mail.message(f"m{number}", "bob", "ann", f"Text {number}.", ago=(60 + 30 * (number // 2)) * DAY, archived=True)
    month = min((mail.data / "agent-mailbox-archive").glob("*.jsonl"))
    month.with_name(f"{month.name}.gz").write_bytes(gzip.compress(month.read_bytes()))
    month.unlink()
    assert set(same(mail)) == {f"Text {number}." for number in range(4)}


def test_a_record_of_another_id_in_its_place_is_none_of_it(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=NOW)
    mail.line(line(USUAL) + b"\n")
    with HaakStore.open(mail.data) as store:
        found = of(Message, scanned(store))
        mail.mailbox.write_bytes(mail.mailbox.read_bytes().replace(b'"id": "m"', b'"id": "n"'))
        assert [type(text) for text in store.contents(found)] == [ContentGone]


def test_reading_that_is_broken_off_leaves_no_file_open(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=NOW)
    for number in range(3):
        mail.message(f"m{number}", "bob", "ann", f"Text {number}.", ago=number)
    with HaakStore.open(mail.data) as store:
        found = of(Message, scanned(store))
        before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208
        texts = store.contents(found)
        next(texts)
        texts.close()  # type: ignore[attr-defined]
        assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
