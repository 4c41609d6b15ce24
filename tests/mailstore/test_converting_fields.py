"""Fields beyond what a message tells are carried, or named in the report; both sides are read as plain JSON."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mailstore.memory import MemoryStore
from mailstore.registry import open_store, store_class
from mailstore.transfer.convert import ConvertReport, convert
from tests.mailboxes import MailFiles

FIXTURES = Path(__file__).parents[1] / "fixtures"
OURS = {
    "priority": "high",
    "issueId": "ISS-7",
    "custom": {"deep": [1, {"er": None}]},
    "big": 123456789012345678901234567890,
    "confidence": 0.25,
}
NOW = 1_773_671_400.0


def copy(url: str, kind: str, folder: Path) -> ConvertReport:
    with open_store(url) as source:
        return convert(source, lambda: store_class(kind).create(folder))


def records(folder: Path) -> Iterator[dict[str, Any]]:
    """Read every JSON object in the files below a folder, whole files and lines, with nothing but `json`."""
    for path in sorted(folder.rglob("*.json*")):
        text = path.read_text(encoding="utf-8")
        for part in text.splitlines() if path.suffix == ".jsonl" else [text]:
            yield json.loads(part)


def by_id(folder: Path) -> dict[str, dict[str, Any]]:
    return {str(record["id"]): record for record in records(folder) if "id" in record}


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path / "from", now=NOW)
    mail.agent("ann-00000001", role="librarian", model="opus", parent_session="root-0001", limits={"tokens": 5})
    mail.message("one", "ann-00000001", "bob-00000001", ttl_hours=5, **OURS)
    mail.message("two", "ann-00000001", "project:ink", metadata={"n": 1}, priority="low")
    mail.line(
        {"message_id": "one", "reader_session_id": "x-1", "device": "tty7"}, mail.data / "agent-mailbox-reads.jsonl"
    )
    return mail


def test_a_copy_of_the_same_kind_is_the_same_byte_for_byte(mail: MailFiles, tmp_path: Path) -> None:
    with mail.mailbox.open("ab") as file:
        file.write(b'{"id": "torn", "sender": \n')
    month = mail.data / "agent-mailbox-archive" / "2026-01.jsonl"
    month.parent.mkdir()
    month.write_bytes(b'{"id": "old", "from": "a", "to": "b", "body": "x", "ttl": 5, "was": {"kept": 1e400}}\n')
    report = copy(mail.url, "haak", tmp_path / "copy")
    before = {path.relative_to(mail.data): path.read_bytes() for path in mail.data.rglob("*.jsonl")}
    made = tmp_path / "copy" / "data"
    assert {path.relative_to(made): path.read_bytes() for path in made.rglob("*.jsonl")} == before
    assert (report.losses, report.changes) == ((), ())


@pytest.mark.parametrize("kind", ["channels", "agenties", "agentazall"])
def test_a_field_of_somebody_else_is_in_the_copy_or_in_the_report(mail: MailFiles, tmp_path: Path, kind: str) -> None:
    report = copy(mail.url, kind, tmp_path / "copy")
    there = by_id(tmp_path / "copy") if kind != "agentazall" else {}
    for name, value in OURS.items():
        record = there.get("one", {})
        is_there = record.get(name) == value or record.get("metadata", {}).get(name) == value
        assert is_there != any(loss.field == f"field {name}" for loss in report.losses), name
    [agents] = [loss for loss in report.losses if loss.field == "agent's other fields"]
    assert "parent_session" in agents.before
    assert agents.number == 1


@pytest.mark.parametrize("kind", ["channels", "agenties", "neo", "agent-mail", "claude-teams"])
def test_what_other_systems_know_comes_along(tmp_path: Path, kind: str) -> None:
    shutil.copytree(FIXTURES / kind, tmp_path / "from")
    report = copy(f"{kind}:{tmp_path / 'from'}", "haak", tmp_path / "copy")
    copied = by_id(tmp_path / "copy")
    assert copied
    assert not [loss for loss in report.losses if loss.field.startswith("field ")]
    for record in copied.values():
        if "content" in record:
            assert record["ttl_hours"] is None or type(record["ttl_hours"]) is int
    with open_store(f"{kind}:{tmp_path / 'from'}") as source:
        texts = [
            source.raw(message).decode() for batch in source.scan() for message in batch if hasattr(message, "sender")
        ]
    originals = [json.loads(text) for text in texts]
    held = [json.dumps(record) for record in copied.values()]
    known = {"neo": "wakeSuppressed", "agent-mail": "project_id", "claude-teams": "color"}.get(kind)
    if known is not None:
        told = [original.get("properties", original).get(known) for original in originals]
        wanted = sum(value not in (None, "", [], {}) for value in told)
        assert sum(f'"{known}":' in text for text in held) == wanted > 0


def test_no_subject_is_invented(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "channels", tmp_path / "from")
    copy(f"channels:{tmp_path / 'from'}", "haak", tmp_path / "copy")
    assert not any(record.get("subject") for record in by_id(tmp_path / "copy").values())


def test_what_never_expires_says_so_where_its_address_does_not(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "channels", tmp_path / "from")
    report = copy(f"channels:{tmp_path / 'from'}", "haak", tmp_path / "copy")
    ttls = {
        tuple(record["recipient"]): record["ttl_hours"]
        for record in by_id(tmp_path / "copy").values()
        if "recipient" in record
    }
    assert {type(ttl) for ttl in ttls.values()} <= {int, type(None)}
    changes = {change.field: change for change in report.changes}
    assert changes["ttl hours"].before == "never"


def test_code_that_moves_into_the_text_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "from" / "channels" / "ink"
    folder.mkdir(parents=True)
    content = {"text": "Look.", "code": "x = 1", "artifacts": [{"path": "a.py"}]}
    record = {"id": "m1", "timestamp": "2026-03-16T12:00:00Z", "session_id": "ink", "from": "codex", "to": "all"}
    (folder / "msg-20260316-120000-codex-0001.json").write_text(
        json.dumps({**record, "type": "chat", "content": content, "severity": 3})
    )
    report = copy(f"channels:{tmp_path / 'from'}", "haak", tmp_path / "copy")
    [made] = [each for each in by_id(tmp_path / "copy").values() if each["id"] == "m1"]
    assert "x = 1" in made["content"]
    assert made["severity"] == 3
    assert {change.field: change.after for change in report.changes if change.field != "ttl hours"} == {
        "field content.code": "in the text",
        "field content.artifacts": "in the text",
    }


def test_a_whole_number_stays_one_and_a_half_stays_a_half(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path / "from", now=NOW)
    mail.message("five", "a-00000001", "b-00000001", ttl_hours=5)
    mail.message("half", "a-00000001", "b-00000001", ttl_hours=0.5)
    with open_store(mail.url) as source:
        there = copy(source.url, "channels", tmp_path / "there")
    assert any(loss.field == "ttl hours" for loss in there.losses)
    memory = MemoryStore()
    memory.append(*by_id(mail.data).values())
    convert(memory, lambda: store_class("haak").create(tmp_path / "copy"))
    made = {name: record["ttl_hours"] for name, record in by_id(tmp_path / "copy").items()}
    assert made == {"five": 5, "half": 0.5}
    assert type(made["five"]) is int
