"""The quick update of a roster writes what the store writes; and lines are found from a file's end."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from math import nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec.structs import replace

from mailstore.files import backward, scan
from mailstore.files.backward import last_lines, lines_before_end
from mailstore.files.scan import Unusual, decoded, encoded
from mailstore.haak import HaakStore
from mailstore.haak.quick import quick_records
from mailstore.haak.write.quick_roster import RosterAgent, quick_roster_update
from mailstore.records.roster import Agent, Status
from tests.mailboxes import NOW, MailFiles

WORDS = some.sampled_from(["", "x", "ann-1", "ann-12", "é\u2028", '"', "\\", "a/b", "\x7f"])
STATUSES = ["live", "Living", "frozen", "dead", "idle", 3, None]
NUMBERS = some.floats(allow_nan=False, allow_infinity=False)
PLAIN = some.one_of(some.none(), some.booleans(), some.integers(), NUMBERS, some.text())
VALUES = some.recursive(PLAIN, lambda it: some.one_of(some.lists(it), some.dictionaries(some.text(), it)), max_leaves=9)
ENTRIES = some.lists(
    some.fixed_dictionaries(
        {},
        optional={
            **{name: some.sampled_from(["ann-1", "bob-22", 'odd"1']) for name in ("session_id", "session", "id")},
            **{name: some.sampled_from(STATUSES) for name in ("state", "status")},
            "name": WORDS,
            "role": WORDS,
            "tags": some.one_of(some.lists(WORDS, max_size=2), some.just("project:x, concern:y"), some.none()),
            "activity": WORDS,
            "working_on": WORDS,
            "registered": some.sampled_from(["2026-01-01T00:00:00Z", 1_767_225_600, "soon"]),
            "ended_at": some.sampled_from(["2026-02-01T00:00:00Z", None]),
            "more": some.lists(some.one_of(some.none(), some.integers(), NUMBERS, WORDS), max_size=2),
        },
    ),
    max_size=5,
)  # fmt: skip


def store_update(mail: MailFiles, session_id: str, changes: dict[str, Any]) -> None:
    with HaakStore.open(mail.mailbox) as store:
        found = [each for batch in store.scan() for each in batch if isinstance(each, Agent)]
        known = [each for each in found if each.session_id == session_id]
        agent = known[-1] if known else Agent(session_id)
        store.update_agent(replace(agent, **{**changes, "status": Status(changes["status"])}))


@given(
    entries=ENTRIES, name=some.sampled_from(["ann-1", "bob-22"]), status=some.sampled_from(["living", "frozen", "dead"])
)
def test_the_quick_update_writes_what_the_store_writes(
    tmp_path_factory: pytest.TempPathFactory, entries: list[dict[str, Any]], name: str, status: str
) -> None:
    changes = {"status": status, "activity": "working", "last_seen": NOW, "ended_at": NOW if status == "dead" else None}
    written = []
    for kind in ("store", "quick"):
        mail = MailFiles(tmp_path_factory.mktemp("roster"))
        roster = mail.data / "agent-roster.jsonl"
        roster.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries), encoding="utf-8")
        if kind == "store":
            store_update(mail, name, changes)
        else:
            quick_roster_update(str(mail.mailbox), name, lambda _: dict(changes), NOW)
        entry = json.loads(roster.read_text(encoding="utf-8").split("\n")[-2])
        entry.pop("updated", None), entry.pop("updated_at", None)
        written.append(entry)
    assert written[0] == written[1]


def test_readers_pass_over_heartbeats_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = MailFiles(tmp_path)
    roster = mail.data / "agent-roster.jsonl"
    by_hand = {
        "session_id": "bob-22",
        "role": "binder",
        "tags": [],
        "status": "living",
        "last_seen": "2026-01-01T00:00Z",
    }
    roster.write_text(json.dumps(by_hand) + "\n", encoding="utf-8")

    def beat(name: str, **more: Any) -> None:
        nonlocal time
        time += 60
        new = {"status": "living", "activity": "working", "last_seen": time, "started_at": NOW, **more}
        quick_roster_update(str(mail.mailbox), name, lambda _: new, time)

    time = NOW
    for _ in range(5):
        for name in ("ann-1", "bob-22"):
            beat(name)
            beat(name, activity='idle: leaf 12, "of')
    beat("ann-1", status="frozen")
    beat("ann-1")
    beat("ann-1", role="scribe")
    beat("ann-1", started_at=NOW + 1)
    beat("ann-1")
    beat("bob-22", status="dead", ended_at=time)
    with roster.open("ab") as file:
        file.write(b"[1]\n\n")
    beat("ann-1")
    lines = roster.read_bytes().split(b"\n")[:-1]
    kept = list(quick_records._without_heartbeats(lines))
    assert len(lines) == 1 + 20 + 6 + 2 + 1
    # both for the first time; five changes of one and the end of the other; a damaged line, and the one after it
    assert [json.loads(line) for line in kept[:3]] == [json.loads(line) for line in (lines[0], lines[1], lines[3])]
    assert len(kept) == 3 + 5 + 1 + 1 + 1


def test_what_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    seen: list[RosterAgent | None] = []
    quick_roster_update(str(mail.mailbox), "ann-1", seen.append, NOW)
    assert seen == [None]
    assert not (mail.data / "agent-roster.jsonl").exists()


@pytest.mark.parametrize("document", ["", "[]", '{"ann-1": {"role": "binder"}}', '{"agents": [{"id": "ann-1"}]}'])
def test_a_roster_that_is_a_document_stays_one(tmp_path: Path, document: str) -> None:
    written = []
    for kind in ("quick", "store"):
        mail = MailFiles(tmp_path / kind)
        roster = mail.data / "agent-roster.json"
        roster.write_text(document, encoding="utf-8")
        for status in ("living", "frozen", "living"):
            if kind == "quick":
                quick_roster_update(str(mail.mailbox), "ann-1", lambda _, status=status: {"status": status}, NOW)
            else:
                store_update(mail, "ann-1", {"status": status})
        assert [each.name for each in mail.data.iterdir() if "roster" in each.name] == ["agent-roster.json"]
        written.append(re.sub(r"20\d\d-\d\d-\d\dT[\d:.]*Z", "TIME", roster.read_text(encoding="utf-8")))
    assert written[0] == written[1]
    assert '"ann-1"' in written[0]


@pytest.mark.parametrize("document", ["[", "3", "[1", '"x"'])
def test_what_is_no_roster_is_left_to_the_store(tmp_path: Path, document: str) -> None:
    mail = MailFiles(tmp_path)
    (mail.data / "agent-roster.json").write_text(document, encoding="utf-8")
    with pytest.raises(Unusual):
        quick_roster_update(str(mail.mailbox), "ann-1", lambda _: {"status": "living"}, NOW)
    assert (mail.data / "agent-roster.json").read_text(encoding="utf-8") == document


def test_two_rosters_are_left_to_the_store(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    for name in ("agent-roster.json", "agent-roster.jsonl"):
        (mail.data / name).touch()
    with pytest.raises(Unusual):
        quick_roster_update(str(mail.mailbox), "ann-1", lambda _: {"status": "living"}, NOW)


@given(
    lines=some.lists(some.binary(max_size=30).map(lambda data: data.replace(b"\n", b"x") + b"ann"), max_size=12),
    ending=some.sampled_from([b"", b"ann, unfinished"]),
    block=some.integers(1, 40),
)
def test_lines_are_found_from_the_end(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ending: bytes, block: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "file"
    path.write_bytes(b"".join(line + b"\n" for line in lines) + ending)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backward, "BLOCK", block)
        assert list(lines_before_end(str(path), b"ann")) == lines[::-1]
        assert list(lines_before_end(str(path), b"nobody")) == []
        last = last_lines(str(path))
        assert last == lines[len(lines) - len(last) :]
        assert last or not lines


def test_no_file_has_no_lines(tmp_path: Path) -> None:
    assert list(lines_before_end(str(tmp_path / "none"), b"x")) == []
    assert last_lines(str(tmp_path / "none")) == []


@given(VALUES)
def test_what_was_decoded_is_encoded_again(value: Any) -> None:
    try:
        line = encoded({"value": value})
    except Unusual:
        assert "\\ud" in json.dumps(value)  # an unpaired surrogate
        return
    assert b"\n" not in line
    assert json.loads(line) == {"value": value}
    for wrong in (object(), float("nan"), {"a": float("inf")}):
        with pytest.raises(Unusual):
            encoded(wrong)
    assert decoded(encoded({})) == {}


def test_json_is_the_same_where_the_interpreter_has_other_parts_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_json", None)
    found = spec_from_file_location("scan_without_parts", scan.__file__)
    assert found is not None
    assert found.loader is not None
    plain = module_from_spec(found)
    found.loader.exec_module(plain)
    assert plain._scan is not scan._scan
    for line in (
        b'{"a": [1, 2.5, null, true, {"b": "\\u00e9\xc3\xa9"}]}',
        b"{}",
        b'{"a": NaN}',
        b"[1]",
        b"{",
        b"",
        b'{"a":1}x',
    ):
        assert outcome(plain.decoded, line) == outcome(scan.decoded, line), line
        assert plain.record_in(line.decode()) == scan.record_in(line.decode())
    for value in ({"a": ["\x7f\u2028", 1, 1e300, None]}, {"a": nan}, {"a": {1}}):
        assert outcome(plain.encoded, value) == outcome(scan.encoded, value), value
    assert plain.ascii_json({"a": ("\u00e9", 1, True)}) == scan.ascii_json({"a": ("\u00e9", 1, True)})
    assert plain.quoted("\u00e9") == scan.quoted("\u00e9")


def outcome(work: Callable[[Any], Any], given: Any) -> Any:
    """Return what comes of work, or the name of the error."""
    try:
        return work(given)
    except Exception as error:
        return type(error).__name__
