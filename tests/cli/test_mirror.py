"""`signalbox mirror`, and what `doctor` says about it."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import Popen

import pytest

from mailstore.haak import HaakStore
from mailstore.records.adopted import Adopted, AdoptedMessage, Merged, TurnedAway
from tests.cli.conftest import Run
from tests.mailstore.mirrors import message_record

Shell = Callable[..., "Popen[bytes]"]


def two(run: Run) -> tuple[str, str]:
    """Make two mailboxes, one with an agent and a message; return their URLs."""
    for name in ("a", "b"):
        assert run("init", name).status == 0
    run("roster", "register", "ann-00000001", "--store", "a")
    run("send", "--from", "user", "--to", "ann-00000001", "--body", "A text.", "--store", "a")
    return tuple(run("doctor", "--store", name, "--json").document["mailbox"] for name in ("a", "b"))  # type: ignore[return-value]


def test_once_says_what_it_wrote_and_doctor_shows_it(run: Run) -> None:
    first, second = two(run)
    done = run("mirror", "a", "b", "--both", "--once")
    assert done.status == 0
    assert done.out.splitlines() == [
        f"{first}: nothing new",
        f"{second}: 1 message, 1 delivery, 1 roster line",
        "Both hold the same",
    ]
    assert run("mirror", "b", "a", "--once").out.splitlines() == [f"{first}: nothing new", "B holds everything of A"]
    (row,) = run("doctor", "--store", "b", "--json").document["mirrors"]
    assert (row["other"], row["direction"], row["is_running"], row["written"]) == (first, "to", False, 3)
    assert f"mirror ← {second}: not running, last equal 20" in run("doctor", "--store", "a").out


def reads_in(folder: Path) -> list[tuple[str, str, str | None]]:
    """Return the read records of a mailbox's file, without repetitions."""
    lines = map(json.loads, (folder / "agent-mailbox-reads.jsonl").read_text().splitlines())
    return sorted(
        {(it["message_id"], it.get("reader_session_id") or it["reader"], it.get("timestamp")) for it in lines}, key=str
    )


def test_of_several_reads_by_one_reader_the_earliest_is_carried(run: Run) -> None:
    two(run)
    data = Path("a/data")
    (message,) = (json.loads(line)["id"] for line in (data / "agent-mailbox.jsonl").read_text().splitlines())

    def read(*hours: int) -> None:
        with (data / "agent-mailbox-reads.jsonl").open("a") as file:
            for hour in hours:
                time = f"2026-03-16T{hour}:00:00Z"
                record = {"message_id": message, "reader_session_id": "ann-00000001", "timestamp": time}
                file.write(json.dumps(record) + "\n")

    def copied() -> set[str]:
        return {str(when)[11:13] for _, _, when in reads_in(Path("b/data"))}

    read(13, 11, 12)
    assert run("mirror", "a", "b", "--once").status == 0
    assert copied() == {"11"}
    read(10, 14)
    assert "1 read" in run("mirror", "a", "b", "--once").out
    assert copied() == {"10", "11"}
    assert "nothing new" in run("mirror", "a", "b", "--both", "--once").out


def test_the_time_of_a_read_is_carried_where_one_without_a_time_came_before(run: Run) -> None:
    two(run)
    data = Path("a/data")
    (message,) = (json.loads(line)["id"] for line in (data / "agent-mailbox.jsonl").read_text().splitlines())
    undated = {"message_id": message, "reader_session_id": "ann-00000001"}
    (data / "agent-mailbox-reads.jsonl").write_text(json.dumps(undated) + "\n")
    assert run("mirror", "a", "b", "--once").status == 0
    dated = {**undated, "timestamp": "2026-03-16T12:00:00Z"}
    with (data / "agent-mailbox-reads.jsonl").open("a") as file:
        file.write(json.dumps(dated) + "\n")
    assert "1 read" in run("mirror", "a", "b", "--once").out
    assert (message, "ann-00000001", "2026-03-16T12:00:00Z") in [
        (it, who, when and when[:19] + "Z") for it, who, when in reads_in(Path("b/data"))
    ]
    for _ in range(2):  # and that is all
        assert "nothing new" in run("mirror", "a", "b", "--both", "--once").out
    before = (Path("b/data") / "agent-mailbox-reads.jsonl").read_bytes()
    run("mirror", "a", "b", "--both", "--once")
    assert (Path("b/data") / "agent-mailbox-reads.jsonl").read_bytes() == before
    copied = run("convert", "haak:a/data", "haak:c")
    assert copied.status == 0, copied.err
    assert (message, "ann-00000001", "2026-03-16T12:00:00Z") in [
        (it, who, when and when[:19] + "Z")
        for it, who, when in reads_in(next(Path("c").rglob("agent-mailbox-reads.jsonl")).parent)
    ]


def test_a_message_without_a_type_has_none_in_a_channel(run: Run) -> None:
    two(run)
    assert run("convert", "haak:a/data", "channels:rooms").status == 0
    (item,) = (
        json.loads(file.read_text()) for file in Path("rooms/channels").rglob("*.json") if file.stem != "channel"
    )
    assert item["content"]["text"] == "A text."
    assert "type" not in item


def test_doctor_says_what_became_of_what_a_mailbox_can_not_hold(run: Run) -> None:
    two(run)
    with Path("a/data/agent-mailbox.jsonl").open("a") as file:
        file.write(json.dumps(message_record("m1") | {"subject": "Lamp", "ttl_hours": 3}) + "\n")
    run("init", "channels:rooms")
    assert run("mirror", "a", "channels:rooms", "--once").status == 0
    words = run("doctor", "--store", "channels:rooms").out
    assert "1 subject: Lamp → A text." in words
    assert "2 ttl hours: " in words
    assert "→ never" in words


def test_what_was_written_and_is_not_there_is_a_status_of_one_and_doctor_says_why(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    two(run)
    monkeypatch.setattr(HaakStore, "merge", lambda store, records: Merged())  # a server that acknowledges and drops
    monkeypatch.setattr("mailstore.mirroring.mirror.MirrorPauses.read_back", 0.05)
    done = run("mirror", "a", "b", "--once")
    assert (done.status, done.err) == (1, "")
    assert "written, but not read back" in done.out
    words = "1 not mirrored, or changed (1 message: A text. → written, but not read back)"
    assert words in run("doctor", "--store", "b").out


def test_doctor_counts_each_reason_and_a_refused_message_hides_none_that_was_not_read_back(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    two(run)
    with Path("a/data/agent-mailbox.jsonl").open("a") as file:
        file.writelines(json.dumps(message_record(name)) + "\n" for name in ("m1", "m2"))
    reasons = {"m1": "it is too long", "m2": "it is too old"}

    def merge(store: HaakStore, records: Sequence[Adopted]) -> Merged:
        messages = [each for each in records if isinstance(each, AdoptedMessage)]
        return Merged(
            refused=tuple(TurnedAway(each, reasons[each.message.id]) for each in messages if each.message.id in reasons)
        )

    monkeypatch.setattr(HaakStore, "merge", merge)
    monkeypatch.setattr("mailstore.mirroring.mirror.MirrorPauses.read_back", 0.05)
    assert run("mirror", "a", "b", "--once").status == 1
    words = run("doctor", "--store", "b").out
    for why in (*reasons.values(), "written, but not read back"):
        assert f" → {why}" in words
    assert words.count("1 message: ") == 3


def test_an_id_conflict_is_a_status_of_one_and_shown(run: Run) -> None:
    two(run)
    for name, text in (("a", "One."), ("b", "Another.")):
        line = {"id": "m1", "sender": "x", "recipient": "y", "content": text, "timestamp": "2026-03-16T12:00:00Z"}
        with (Path(name) / "data/agent-mailbox.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
    done = run("mirror", "a", "b", "--once")
    assert done.status == 1
    assert "m1  x: One.  x: Another." in done.out
    found = run("mirror", "a", "b", "--once", "--json").document
    assert [(each["id"], each["second"]) for each in found["conflicts"]] == [("m1", "x: Another.")]
    assert "1 id conflict" in run("doctor", "--store", "a").out


def test_what_can_not_be_mirrored_is_refused(run: Run) -> None:
    two(run)
    assert "A and B are the same mailbox: name two" in run("mirror", "a", "a/data").err
    assert "no mailbox at c" in run("mirror", "a", "c").err
    (Path("c") / ".agenties").mkdir(parents=True)
    (Path("c") / ".agenties/mailbox.jsonl").touch()
    refused = run("mirror", "a", "agenties:c", "--once")
    assert refused.status == 1
    assert "an agenties mailbox can't hold messages with their ids, senders and times" in refused.err
    unreachable = run("mirror", "a", "nats://user:secret@127.0.0.1:1/lab")
    assert unreachable.status == 1
    assert "secret" not in unreachable.err


def test_it_follows_until_it_is_ended(run: Run, shell: Shell) -> None:
    first, second = two(run)
    with shell("mirror", "a", "b", "--both") as process:
        assert process.stdout is not None
        said = [process.stdout.readline().decode() for _ in range(3)]
        assert said[:2] == [f"A is {first}\n", f"B is {second}\n"]
        assert "A → B: 1 message" in said[2]
        assert b"both hold the same" in process.stdout.readline()
        run("send", "--from", "user", "--to", "ann-00000001", "--body", "More.", "--store", "b")
        assert "B → A: 1 message, 1 delivery".encode() in process.stdout.readline()
        assert run("doctor", "--store", "a", "--json").document["mirrors"][0]["is_running"]
        assert "mirrors these two already" in run("mirror", "b", "a").err
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert not run("doctor", "--store", "a", "--json").document["mirrors"][0]["is_running"]
