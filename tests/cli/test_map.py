from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.kinds.mapped.foreign_mail import hcom, overstory, spool, write_lines


def short_names(folder: Path) -> Path:
    first = {
        "uid": "a1",
        "src": "ann",
        "dst": ["bob"],
        "when": "2026-11-29T01:00:00Z",
        "title": "Hello",
        "msg": "A text.",
    }
    answer = {
        "uid": "a2",
        "src": "bob",
        "dst": ["ann"],
        "when": "2026-11-29T01:05:00Z",
        "title": "Re",
        "msg": "B",
        "re": "a1",
    }
    return write_lines(folder / "bus.jsonl", [first, answer, first | {"uid": "a3", "title": "Later"}])


GUESSED: list[tuple[Callable[[Path], Path], dict[str, Any]]] = [
    (
        overstory,
        {
            "id": "id",
            "sender": "from_agent",
            "recipients": "to_agent",
            "subject": "subject",
            "body": "body",
            "type": "type",
            "thread": "thread_id",
            "read": "read",
            "time": "created_at",
        },
    ),
    (
        hcom,
        {
            "id": "id",
            "sender": "data.from",
            "recipients": "data.delivered_to",
            "body": "data.text",
            "thread": "data.thread",
            "time": "timestamp",
        },
    ),
    (
        spool,
        {
            "id": "msgId",
            "sender": "from",
            "recipients": "to",
            "body": "text",
            "time": {"path": "ts", "format": "epoch-ms"},
            "expires": {"path": "expiresAt", "format": "epoch-ms"},
            "read": {"group": "box", "values": ["consumed"]},
        },
    ),
    (
        short_names,
        {
            "id": "uid",
            "sender": "src",
            "recipients": "dst",
            "subject": "title",
            "body": "msg",
            "reply_to": "re",
            "time": "when",
        },
    ),
]


@pytest.mark.parametrize(("make", "fields"), GUESSED, ids=["overstory", "hcom", "spool", "short-names"])
def test_a_guess_can_be_kept_and_read_through(
    run: Run, tmp_path: Path, make: Callable[[Path], Path], fields: dict[str, Any]
) -> None:
    result = run("map", "guess", make(tmp_path))
    assert (result.status, result.err) == (0, "")
    assert tomllib.loads(result.out)["message"] == fields
    (tmp_path / "mapping.toml").write_text(result.out)
    rows = run("threads", "--json", "--store", tmp_path / "mapping.toml").document
    assert sum(row["messages"] for row in rows) == 3


def test_a_guess_shows_its_evidence_and_how_records_look(run: Run, tmp_path: Path) -> None:
    out = run("map", "guess", overstory(tmp_path)).out
    assert '# sender      from_agent  in 3 of 3 records: "lead", "builder-1"' in out
    assert "# 2026-02-20T10:06:00.000Z  builder-1  user" in out


def test_a_guess_as_json(run: Run, tmp_path: Path) -> None:
    document = run("map", "guess", "--json", spool(tmp_path)).document
    assert tomllib.loads(document["toml"])["source"]["json"].endswith("/spool/*/*/*.json")
    assert (document["sampled"], document["problems"]) == (3, 0)
    assert [row["subject"] for row in document["messages"]] == ["No. 3.", "No. 2.", "No. 1."]
    assert {row["field"]: row["origin"] for row in document["fields"]}["sender"] == "from"


def test_what_can_not_be_guessed_is_said_with_what_it_could_be(run: Run, tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "log.jsonl", [{"who": "ann", "note": f"A longer text, number {n}."} for n in range(12)]
    )
    out = run("map", "guess", path).out
    assert "# sender could not be guessed; candidates: who\n" in out
    assert "# recipients could not be guessed; candidates: who\n" in out
    assert "# body is uncertain: check that it is note\n" in out
    assert "body could not be guessed" not in out
    assert tomllib.loads(out)["message"] == {
        "sender": {"constant": "unknown"},
        "recipients": {"constant": "all"},
        "body": "note",
    }
    assert out.count("A longer text, number") >= 10


def test_folders_tell_for_whom_mail_is(run: Run, tmp_path: Path) -> None:
    for role in ("dev", "qa"):
        write_lines(tmp_path / "roles" / role / "box.jsonl", [{"from": "pm", "job_id": "J", "message": f"To {role}."}])
    document = run("map", "guess", tmp_path / "roles", "--json").document
    assert {(row["recipients"][0], row["subject"]) for row in document["messages"]} == {
        ("dev", "To dev."),
        ("qa", "To qa."),
    }


def test_nothing_of_a_sample_steers_the_terminal(run: Run, tmp_path: Path) -> None:
    evil = "\x1b[2J\u202e\u115f\x07\nfrom: user"
    records = [{"from": f"ann{evil}", "to": evil, "text": evil, f"k{evil}": evil, evil: f"x{n}"} for n in range(3)]
    folder = tmp_path / "a\u202eb"
    write_lines(folder / "log.jsonl", records)
    out = run("map", "guess", folder).out
    assert all(char == "\n" or (char.isprintable() and char != "\u115f") for char in out)
    assert tomllib.loads(out)


@pytest.mark.parametrize("name", ["nothing-there", "empty", "prose.txt", "empty.db"])
def test_where_no_records_are_it_is_said(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "prose.txt").write_text("Dear Ann,\nall is well.\n")
    (tmp_path / "empty.db").write_bytes(b"")
    result = run("map", "guess", tmp_path / name)
    assert (result.status, result.out, result.err.count("\n")) == (1, "", 1)
    assert "name a JSONL file" in result.err


def test_a_file_that_holds_a_list_is_guessed(run: Run, tmp_path: Path) -> None:
    records = [{"from": "a", "to": "b", "text": f"Number {n}."} for n in range(3)]
    for name, value in (("bare.json", records), ("held.json", {"messages": records})):
        (tmp_path / name).write_text(json.dumps(value))
        document = run("map", "guess", tmp_path / name, "--json").document
        assert len(document["messages"]) == 3, name
