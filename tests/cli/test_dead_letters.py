"""`signalbox dead-letters`: settling on the command line, with a look first and a way back."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from mailstore.errors import StoreError
from mailstore.haak import HaakStore
from mailstore.records.message import Intervention
from tests.cli.conftest import Run
from tests.mailboxes import MailFiles, iso

HOUR = 3600


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    now = time.time()
    mail = MailFiles(tmp_path, now=now)
    mail.agent("ann-00000001", role="clerk")
    mail.agent("bob-00000001", role="scribe")
    mail.agent("ded-00000001", "dead", role="scribe", ended_at=iso(now - HOUR))
    mail.message("letter-1", "ann-00000001", "ded-00000001", "Leaf 12?", ago=2 * HOUR, subject="A leaf")
    mail.message("letter-2", "ann-00000001", "bob-00000001", "Soon?", ago=48 * HOUR, subject="Late")
    mail.message("alive", "ann-00000001", "bob-00000001", "Hello.", ago=60)
    return mail


def files(mail: MailFiles) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in mail.data.iterdir()}


def journal(mail: MailFiles) -> list[dict[str, object]]:
    return [json.loads(line) for line in (mail.data / "agent-mailbox-oversight.jsonl").read_bytes().splitlines()]


def dead(run: Run, mail: MailFiles) -> list[str]:
    return sorted(row["message_id"] for row in run("dead-letters", "--json", "--store", mail.url).document)


def test_the_list_says_who_could_take_a_message_over(run: Run, mail: MailFiles) -> None:
    rows = {row["message_id"]: row for row in run("dead-letters", "--json", "--store", mail.url).document}
    assert rows["letter-1"]["takers"] == ["bob-00000001"]


def test_a_dry_run_says_what_would_be_written_and_writes_nothing(run: Run, mail: MailFiles) -> None:
    before = files(mail)
    done = run("dead-letters", "redirect", "letter-1", "--to", "scribe", "--dry-run", "--store", mail.url)
    assert done.out == "would redirect “A leaf” to scribe\n"
    assert files(mail) == before


def test_redirect_and_undo(run: Run, mail: MailFiles) -> None:
    done = run("dead-letters", "redirect", "letter-1", "--to", "scribe", "--json", "--store", mail.url)
    (row,) = done.document
    assert (row["action"], row["recipient"]) == ("redirect", "ded-00000001")
    sent = json.loads(mail.mailbox.read_bytes().splitlines()[-1])
    assert (sent["id"], sent["thread"], sent["sender"], sent["recipient"]) == (
        row["sent"],
        "letter-1",
        "user",
        "scribe",
    )
    assert dead(run, mail) == ["letter-2"]
    back = run("dead-letters", "undo", "--store", mail.url)
    assert back.out.startswith("undo redirect of the message to ded-00000001; tell scribe that it is void: ")
    assert dead(run, mail) == ["letter-1", "letter-2"]
    assert [record["action"] for record in journal(mail)] == ["redirect", "undo"]
    again = run("dead-letters", "undo", "--store", mail.url)
    assert (again.status, again.err) == (
        1,
        "signalbox: nothing to undo: signalbox dead-letters lists what is not settled yet\n",
    )


def test_resend_and_acknowledge(run: Run, mail: MailFiles) -> None:
    assert run("dead-letters", "resend", "letter-2", "--ttl-hours", 3, "--store", mail.url).status == 0
    assert json.loads(mail.mailbox.read_bytes().splitlines()[-1])["ttl_hours"] == 3
    done = run("dead-letters", "acknowledge", "letter-1", "--note", "she is gone", "--store", mail.url)
    assert done.out == "acknowledge “A leaf” to ded-00000001\n"
    assert journal(mail)[-1]["note"] == "she is gone"
    assert dead(run, mail) == []


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["redirect", "letter-1"], 2, "redirect needs --to: name the new recipient"),
        (["redirect", "--to", "scribe"], 2, "redirect needs at least one message id"),
        (["list", "letter-1"], 2, "list takes no ids"),
        (["resend", "letter-1"], 1, "ded-00000001 is dead: redirect the message"),
        (["acknowledge", "alive"], 1, "alive is not a dead letter"),
        (["acknowledge", "nowhere"], 1, 'no message with id "nowhere"'),
        (["acknowledge", "letter-1", "--recipient", "bob-00000001"], 1, "not a dead letter for bob-00000001"),
        (["acknowledge", "letter-1", "--to", "scribe"], 2, "--to can't be used with acknowledge: use it with redirect"),
        (["acknowledge", "letter-1", "--ttl-hours", "0"], 2, "--ttl-hours can't be used with acknowledge"),
        (["redirect", "letter-1", "--to", "scribe", "--note", "x"], 2, "--note can't be used with redirect"),
        (["undo", "--recipient", "bob-00000001"], 2, "--recipient can't be used with undo"),
        (["--dry-run"], 2, "--dry-run can't be used with list"),
        (["redirect", "letter-2", "--to", "ded-00000001"], 1, "ded-00000001 is dead"),
        (["undo", "nothing"], 1, 'no journal record with id "nothing"'),
        (["redirect", "letter-1", "--to", "#x"], 1, "names an unknown channel #x"),
        (["resend", "letter-2", "--ttl-hours", "0"], 1, "ttl-hours"),
    ],
)
def test_what_can_not_be_done_is_refused_and_nothing_is_written(
    words: list[str], status: int, said: str, run: Run, mail: MailFiles
) -> None:
    before = files(mail)
    done = run("dead-letters", *words, "--store", mail.url)
    assert done.status == status
    assert said in done.err
    assert files(mail) == before


def test_of_deeds_within_one_second_the_last_is_undone(run: Run, mail: MailFiles) -> None:
    mail.intervention("acknowledge", "letter-1", recipient="ded-00000001")
    mail.intervention("acknowledge", "letter-2", recipient="bob-00000001")
    assert run("dead-letters", "undo", "--store", mail.url).status == 0
    assert dead(run, mail) == ["letter-2"]


@pytest.mark.parametrize("ids", [["acknowledge"], ["acknowledge", "zzz"], [""]])
def test_an_id_that_stands_for_several_records_or_none_undoes_nothing(
    ids: list[str], run: Run, mail: MailFiles
) -> None:
    mail.intervention("acknowledge", "letter-1", ago=9, recipient="ded-00000001")
    mail.intervention("acknowledge", "letter-2", ago=5, recipient="bob-00000001")
    before = files(mail)
    assert run("dead-letters", "undo", *ids, "--store", mail.url).status == 1
    assert files(mail) == before


def test_a_message_that_is_dead_for_several_is_settled_for_one_or_for_all(run: Run, mail: MailFiles) -> None:
    for name in ("eve-00000001", "fay-00000001"):
        mail.agent(name, "dead", ended_at=iso(mail.now - HOUR))
    mail.message("several", "ann-00000001", ["ded-00000001", "eve-00000001", "fay-00000001"], ago=2 * HOUR)

    def settle(*words: str) -> list[str]:
        done = run("dead-letters", "acknowledge", "sev", *words, "--json", "--store", mail.url)
        return sorted(row["recipient"] for row in done.document)

    assert settle("--recipient", "eve-00000001") == ["eve-00000001"]
    assert settle() == ["ded-00000001", "fay-00000001"]
    assert dead(run, mail) == ["letter-1", "letter-2"]


def test_a_message_that_is_named_twice_is_settled_once(run: Run, mail: MailFiles) -> None:
    done = run("dead-letters", "redirect", "letter-2", "letter-1", "letter-2", "--to", "scribe", "--store", mail.url)
    assert done.status == 0
    assert [record["message_id"] for record in journal(mail)] == ["letter-2", "letter-1"]


def test_any_deed_is_undone_by_its_id_and_only_once(run: Run, mail: MailFiles) -> None:
    rows = [
        run("dead-letters", "acknowledge", name, "--json", "--store", mail.url).document[0]
        for name in ("letter-1", "letter-2")
    ]
    before = files(mail)
    words = ("dead-letters", "undo", rows[0]["intervention_id"])
    assert run(*words, "--dry-run", "--store", mail.url).out.startswith("would undo acknowledge")
    assert files(mail) == before
    assert run(*words, "--store", mail.url).status == 0
    assert dead(run, mail) == ["letter-1"]
    again = run(*words, "--store", mail.url)
    assert (again.status, "this was undone before" in again.err) == (1, True)
    assert [record["action"] for record in journal(mail)] == ["acknowledge", "acknowledge", "undo"]


def test_without_an_id_the_newest_deed_is_undone(run: Run, mail: MailFiles) -> None:
    mail.intervention("acknowledge", "letter-2", ago=5, recipient="bob-00000001")
    mail.intervention("acknowledge", "letter-1", ago=60, recipient="ded-00000001")
    for dead_again in (["letter-2"], ["letter-1", "letter-2"]):
        assert run("dead-letters", "undo", "--store", mail.url).status == 0
        assert dead(run, mail) == dead_again


def test_what_stopped_midway_is_told_with_what_was_written(
    run: Run, mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = HaakStore.record

    def full(store: HaakStore, intervention: Intervention) -> None:
        if (mail.data / "agent-mailbox-oversight.jsonl").exists():
            raise StoreError("the disk is full", "make room")
        record(store, intervention)

    monkeypatch.setattr(HaakStore, "record", full)
    done = run("dead-letters", "acknowledge", "letter-1", "letter-2", "--store", mail.url)
    assert done.status == 1
    assert done.out == "acknowledge “A leaf” to ded-00000001\n"
    assert "only 1 of 2 were written" in done.err
    assert "the disk is full: make room" in done.err
    assert dead(run, mail) == ["letter-2"]


@pytest.mark.parametrize("words", [["acknowledge"], ["redirect", "--to", "scribe"]])
def test_messages_of_the_past_are_not_settled(words: list[str], run: Run, mail: MailFiles) -> None:
    before = files(mail)
    done = run("dead-letters", *words, "--at", iso(mail.now - 60), "--store", mail.url, "letter-1")
    assert (done.status, "the past is read-only" in done.err) == (1, True)
    assert files(mail) == before


def test_a_subject_can_not_reach_the_terminal(run: Run, mail: MailFiles) -> None:
    mail.message("evil", "ann-00000001", "ded-00000001", ago=2 * HOUR, subject="\x1b[2JA\nleaf")
    for words in (["acknowledge", "evil", "--dry-run"], ["acknowledge", "evil"], ["undo"]):
        done = run("dead-letters", *words, "--store", mail.url)
        assert (done.status, done.out.count("\n"), "\x1b" in done.out) == (0, 1, False)


@pytest.mark.parametrize(
    ("ids", "said"),
    [(["letter"], '"letter" matches 2 messages'), (["letter-1", "alive"], "alive is not a dead letter")],
)
def test_one_id_that_is_no_dead_letter_stops_them_all(ids: list[str], said: str, run: Run, mail: MailFiles) -> None:
    before = files(mail)
    done = run("dead-letters", "acknowledge", *ids, "--store", mail.url)
    assert (done.status, said in done.err) == (1, True)
    assert files(mail) == before
