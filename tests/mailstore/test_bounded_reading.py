"""Whatever stands in a file: reading it takes what its size allows, and numbers of any size are data."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mailstore.haak.store as haak
from mailstore.files import salvage
from mailstore.files.lines import Line
from mailstore.folding import fold_store
from mailstore.kinds.claude_teams.entries import cut
from mailstore.records.message import Message
from mailstore.records.roster import Agent
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.mailboxes import NOW, MailFiles, iso

ANN = "ann-00000001"
NUMBERS = ["9" * 25, "-" + "9" * 400, "1" + "0" * 5000, "1e999", "NaN", "-Infinity", "18446744073709551616", "0.1e-400"]
HOSTILE = [b'{"a":', b'{"a":1,', b'{"a":[1,', b'{"a":"', b'{"a":1}', b'{"a":"{\\"b\\":', b'{ "from":1}{"']


@pytest.fixture
def is_read_as_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(haak, "LONG", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.usefixtures("is_read_as_long")
@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:24])
def test_a_number_of_any_size_is_read_kept_and_taken_up_again(number: str, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.message("before", "bob-00000001", ANN, ago=90)
    line = f'{{"id":"i","actor":"user","action":"acknowledge","message_id":"m","details":{{"n":{number}}}}}\n'
    mail.line(line.encode(), mail.data / "agent-mailbox-oversight.jsonl")
    odd = f'{{"id":"odd","sender":"bob","recipient":"{ANN}","timestamp":{number},"content":"x","priority":{number}}}\n'
    mail.line(odd.encode())
    found = []
    for _ in range(2):  # folded, and then taken up from what was kept
        with open_store(mail.url) as store:
            mailbox = fold_store(store, "user", NOW)
            found.append([record.details for record in mailbox.interventions()])
            message = mailbox.message("odd")
            assert message is not None
            assert store.raw(message) == odd.encode().rstrip(b"\n")
    assert found[0] == found[1] != [[]]
    assert str(found[0][0]["n"]) in (number, str(float(number)))


@pytest.mark.parametrize("read", [lambda data: salvage.salvage(Line(0, data)), cut])
@pytest.mark.parametrize("unit", HOSTILE)
def test_a_damaged_line_is_read_a_bounded_number_of_times(
    unit: bytes, read: Callable[[bytes], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts the characters that the decoder is given: each of them is few instructions."""
    decoder = salvage.lenient()
    given: list[int] = []

    class Counting:
        def raw_decode(self, text: str, at: int = 0) -> Any:
            given.append(len(text) if at == 0 else 0)
            return decoder.raw_decode(text, at)

        def decode(self, text: str) -> Any:
            return decoder.decode(text)

    monkeypatch.setattr(salvage, "lenient", Counting)
    monkeypatch.setattr(salvage, "WORK_BYTES", 1 << 18)
    size = 400_000
    read(b"[x" + unit * (size // len(unit)))
    assert sum(given) < salvage.WORK_FACTOR * size + (1 << 20) + salvage.FIRST_LOOK * len(given)
    assert len(given) <= size


def test_all_records_that_were_glued_onto_one_line_are_found() -> None:
    records = [{"id": str(number), "text": "x" * (number % 700)} for number in range(5000)]
    line = "".join(map(json.dumps, records)).encode() + b'{"id":"torn","te'
    pieces, faults = salvage.salvage(Line(0, line))
    assert [piece.value for piece in pieces] == records
    assert [fault.reason for fault in faults] == ["5000 records on one line", "16 bytes of an incomplete record"]


def test_an_agents_long_name_costs_no_more_than_its_length() -> None:
    mailbox = Mailbox()
    name = "agent-" + "x" * 100_000
    to = [name[:20], name[:50_000]]
    sent = [Message(str(at), "bob", (text,), "", NOW - 60, "s") for at, text in enumerate(to)]
    mailbox.fold([*sent, Agent(name)], NOW)
    assert {message.id for message in mailbox.unread(name, NOW)} == {"0", "1"}
    assert sum(map(len, mailbox.contents.index.postings._names_of(Agent(name)))) < 4 * len(name)


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize("deep", [150, 300, 975, 5000])
def test_what_is_nested_is_read_or_told_wherever_it_stands(
    deep: int, is_long: bool, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(haak, "LONG", 0 if is_long else haak.LONG)
    mail = MailFiles(tmp_path, now=time.time())
    nested = "[" * deep + "]" * deep
    mail.agent(ANN)
    for name in ("content", "metadata", "recipient", "tags", "read_by", "timestamp", "ttl_hours"):
        usual = {"sender": "bob", "recipient": ANN, "timestamp": iso(mail.now - 60), "content": f"The text of {name}."}
        record = json.dumps({"id": name, **usual, name: "NESTED"}).replace('"NESTED"', nested)
        mail.line(record.encode() + b"\n")
    mail.line(f'{{"session_id":"cid-00000001","tags":{nested}}}\n'.encode(), mail.roster)
    mail.line(f'{{"message_id":{nested},"reader_session_id":"{ANN}"}}\n'.encode(), mail.reads)
    for words in (["doctor", "--json"], ["read", "--as", ANN], ["check", "--as", ANN, "--dry-run"]):
        done = run(*words, "--store", mail.url)
        assert "internal error (" not in done.err, words
    report = run("doctor", "--json", "--store", mail.url).document
    shown = run("history", "--json", "--store", mail.url).document
    told = {row["line"] for row in report["malformed"] if row["file"] == mail.mailbox.name}
    assert len(shown) + len(told) >= 7
    exported = run("export", "--format", "jsonl", "--store", mail.url).out.splitlines()
    texts = {row["id"]: row["content"] for row in map(json.loads, exported)}
    assert len(texts) == len(shown)
    assert texts.get("metadata") in (None, "The text of metadata.")
