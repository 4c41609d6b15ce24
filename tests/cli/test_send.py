from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.kinds.agentazall.agentazall_mail import AgentAZAllMail
from tests.mailboxes import DIALECTS, Dialect, MailFiles

ANN, BOB = "ann-00000001", "bob-00000001"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN, name="Ann", tags=["project:ink", "concern:rules"])
    mail.agent(BOB, role="architect")
    mail.agent("ded-00000001", "dead", role="lamp")
    mail.message("first", BOB, ANN)
    return mail


def last(mail: MailFiles) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(mail.mailbox.read_text().splitlines()[-1])
    return found


def test_sending_appends_one_line_and_prints_the_id(run: Run, mail: MailFiles) -> None:
    before = mail.mailbox.read_bytes()
    words = ["--from", BOB, "--to", ANN, "--subject", "The colour", "--body", "Red?", "--thread", "first"]
    result = run("send", *words, "--ttl-hours", "3", "--type", "question", "--store", mail.url)
    assert (result.status, result.err) == (0, "")
    assert mail.mailbox.read_bytes().startswith(before)
    record = last(mail)
    assert result.out == f"{record['id']}\n"
    wanted = {
        "sender": BOB,
        "recipient": ANN,
        "subject": "The colour",
        "content": "Red?",
        "thread": "first",
        "ttl_hours": 3,
        "type": "question",
        "read_by": [],
    }
    assert {key: record[key] for key in wanted} == wanted
    assert record["timestamp"].endswith("Z")


@pytest.mark.parametrize(
    ("typed", "written", "audience"),
    [
        (("project:ink,concern:rules",), ["project:ink", "concern:rules"], {ANN}),
        ((f"{ANN}, {BOB}",), [ANN, BOB], {ANN, BOB}),
        (("project:ink", "architect,user"), ["project:ink", "architect", "user"], {ANN, "architect", "user"}),
    ],
)
def test_addresses_parted_by_commas_are_several(
    run: Run, mail: MailFiles, typed: tuple[str, ...], written: list[str], audience: set[str]
) -> None:
    words = [word for text in typed for word in ("--to", text)]
    sent = run("send", "--from", "cat-00000001", *words, "--body", "x", "--store", mail.url)
    assert sent.status == 0
    assert last(mail)["recipient"] == written
    delivered = [json.loads(line) for line in (mail.data / "agent-mailbox-deliveries.jsonl").read_text().splitlines()]
    assert {record["recipient"] for record in delivered} == audience


def test_a_session_whose_id_has_a_comma_is_one_recipient(run: Run, mail: MailFiles) -> None:
    mail.agent("one,two")
    assert run("send", "--from", BOB, "--to", "one,two", "--body", "x", "--store", mail.url).status == 0
    assert last(mail)["recipient"] == "one,two"


def test_the_short_form_of_the_protocol_is_understood(run: Run, mail: MailFiles) -> None:
    result = run("send", "--from", BOB, "architect", "A plan", "The text", "--store", mail.url)
    assert result.status == 0
    record = last(mail)
    assert [record[key] for key in ("sender", "recipient", "subject", "content")] == [
        BOB,
        "architect",
        "A plan",
        "The text",
    ]
    assert run("send", ANN, "s", "b", "--store", mail.url).status == 0
    assert last(mail)["sender"] == "user"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_message_is_written_in_the_dialect_of_its_file(run: Run, tmp_path: Path, dialect: Dialect) -> None:
    mail = MailFiles(tmp_path / "other", now=time.time(), dialect=dialect)
    mail.agent(ANN)
    mail.message("first", BOB, ANN)
    run("send", "--from", BOB, "--to", ANN, "--body", "x", "--store", mail.url)
    assert ("from" in last(mail), "body" in last(mail)) == ((dialect == "amendment"),) * 2
    rows = run("read", "--as", ANN, "--json", "--store", mail.url).document
    assert [row["sender"] for row in rows] == [BOB, BOB]


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        (["#ink"], "project:ink"),
        (["project:new"], "project:new"),
        (["Ann"], ANN),
        (["ann-0000"], ANN),
        (["role:architect"], "architect"),
        (["broadcast"], "all"),
        (["human"], "user"),
        (["project:ink", "concern:rules"], ["project:ink", "concern:rules"]),
        ([ANN, ANN], ANN),
    ],
)
def test_an_address_is_written_as_what_it_stands_for(
    run: Run, mail: MailFiles, typed: list[str], written: object
) -> None:
    to = [word for address in typed for word in ("--to", address)]
    assert run("send", "--from", BOB, *to, "--body", "x", "--store", mail.url).status == 0
    assert last(mail)["recipient"] == written


def test_several_addresses_are_one_message(run: Run, mail: MailFiles) -> None:
    result = run("send", "--from", "user", "--to", ANN, "--to", BOB, "--body", "x", "--json", "--store", mail.url)
    row = result.document
    assert row["recipients"] == [ANN, BOB]
    assert row["states"] == {ANN: "unread", BOB: "unread"}
    assert len(mail.mailbox.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["--to", ANN, "--body", ""], "body"),
        (["--to", ANN, "--body", " \n "], "body"),
        (["--to", ANN, "--body", "x" * (1024 * 1024 + 1)], "body"),
        (["--to", ANN, "--body", "\udcff"], "body"),
        (["--to", "", "--body", "x"], "to"),
        (["--to", "two words", "--body", "x"], "to"),
        (["--to", "project:", "--body", "x"], "to"),
        (["--to", "signal:+351000", "--body", "x"], "to"),
        (["--to", "#nowhere", "--body", "x"], "to"),
        (["--to", ANN, "--body", "x", "--thread", "nowhere"], "thread"),
        (["--to", ANN, "--body", "x", "--ttl-hours", "0"], "ttl-hours"),
        (["--to", ANN, "--body", "x", "--ttl-hours", "-3"], "ttl-hours"),
    ],
    ids=lambda words: str(words)[:100],
)
def test_a_message_that_breaks_a_rule_is_refused_and_nothing_is_written(
    run: Run, mail: MailFiles, words: list[str], field: str
) -> None:
    files = sorted(mail.data.iterdir())
    before = mail.mailbox.read_bytes()
    result = run("send", "--from", BOB, *words, "--store", mail.url)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"signalbox: {field} ")
    assert result.err.count("\n") == 1
    assert mail.mailbox.read_bytes() == before
    assert sorted(mail.data.iterdir()) == files


@pytest.mark.parametrize(
    "words",
    [
        ["--to", ANN, "--body", "x"],
        ["--from", BOB, "--body", "x"],
        ["--from", BOB, "--to", ANN],
        ["only", "two"],
        [ANN, "s", "b", "--body", "x"],
        ["--from", BOB, "--to", ANN, "--body", "x", "--ttl-hours", "soon"],
    ],
    ids=lambda words: str(words)[:100],
)
def test_a_message_that_is_not_whole_is_an_error_of_use(run: Run, mail: MailFiles, words: list[str]) -> None:
    before = mail.mailbox.read_bytes()
    result = run("send", *words, "--store", mail.url)
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert mail.mailbox.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "new-agent", "--to", ANN, "--body", "x"], 'the sender "new-agent" is not registered'),
        (["--from", BOB, "--to", ANN, "--body", "word " * 501], "501 words"),
        (["--from", BOB, "--to", "nobody", "--body", "x"], 'no agent by the name "nobody"'),
        (["--from", BOB, "--to", "lamp", "--body", "x"], 'no agent holds the role "lamp"'),
        (["--from", BOB, "--to", "ded-00000001", "--body", "x"], "is dead"),
    ],
    ids=lambda words: str(words)[:100],
)
def test_what_was_perhaps_not_meant_is_sent_with_a_warning(
    run: Run, mail: MailFiles, words: list[str], said: str
) -> None:
    result = run("send", *words, "--store", mail.url)
    assert result.status == 0
    assert result.out == f"{last(mail)['id']}\n"
    assert result.err.startswith("signalbox: warning: ")
    assert said in result.err


def test_an_address_of_another_system_is_taken_when_it_is_meant(run: Run, mail: MailFiles) -> None:
    words = ["--from", BOB, "--to", "signal:+351000", "--body", "x", "--literal"]
    assert run("send", *words, "--store", mail.url).status == 0
    assert last(mail)["recipient"] == "signal:+351000"


def test_the_audience_of_the_moment_is_recorded(run: Run, mail: MailFiles) -> None:
    run("send", "--from", BOB, "--to", "#ink", "--body", "x", "--store", mail.url)
    lines = (mail.data / "agent-mailbox-deliveries.jsonl").read_text().splitlines()
    assert [json.loads(line)["recipient"] for line in lines] == [ANN]


def test_metadata_is_kept_in_the_record(run: Run, mail: MailFiles) -> None:
    words = ["--from", ANN, "--to", BOB, "--body", "x", "--meta", "branch=main=2", "--meta", "to=y"]
    assert run("send", *words, "--store", mail.url).status == 0
    record = json.loads(mail.mailbox.read_bytes().splitlines()[-1])
    assert record["metadata"] == {"branch": "main=2", "to": "y"}
    for bad in (["--meta", "branch"], ["--meta", "=x"], ["--meta", "a=1", "--meta", "a=2"]):
        assert run("send", "--from", ANN, "--to", BOB, "--body", "x", *bad, "--store", mail.url).status == 2


def test_an_agent_is_addressed_by_its_id_with_its_kind(run: Run, mail: MailFiles) -> None:
    run("send", "--from", ANN, "--to", f"agent:{BOB}", "--body", "Written.", "--store", mail.url)
    mail.message("theirs", ANN, f"agent:{BOB[:8]}", "Theirs.", ago=0)
    rows = run("read", "--as", BOB, "--unread", "--json", "--store", mail.url).document
    found = {row["content"]: row for row in rows}
    assert found["Written."]["recipients"] == [BOB]
    assert found["Theirs."]["states"] == {BOB: "unread"}
    assert "theirs" in [row["id"] for row in run("read", "--as", BOB, "--json", "--store", mail.url).document]


def test_one_of_a_roles_holders_is_written_to_in_turn(run: Run, mail: MailFiles) -> None:
    for name in ("bui-00000001", "bui-00000002", "bui-00000003"):
        mail.agent(name, "dead" if name.endswith("3") else "living", role="builder", ended_at=None)

    def sent() -> list[str]:
        words = [
            "send",
            "--from",
            ANN,
            "--to",
            "builder",
            "--one-of",
            "--body",
            "Build.",
            "--json",
            "--store",
            mail.url,
        ]
        return list(run(*words).document["recipients"])

    first = sent()
    mail.message("between", ANN, first, ago=-1)
    assert {*first, *sent()} == {"bui-00000001", "bui-00000002"}
    done = run("send", "--from", ANN, "--to", "all", "--one-of", "--body", "x", "--store", mail.url)
    assert (done.status, 'is not a role ("all")' in done.err) == (1, True)


def test_one_of_goes_round_within_one_moment_too(run: Run, mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    holders = ["bui-00000001", "bui-00000002"]
    for name in holders:
        mail.agent(name, role="builder")
    moment = time.time()
    monkeypatch.setattr("time.time", lambda: moment)
    for at in range(12):
        words = ["--from", ANN, "--to", "builder", "--one-of", "--body", f"Task {at}."]
        assert run("send", *words, "--store", mail.url).status == 0
    records = [json.loads(line) for line in mail.mailbox.read_text().splitlines()][-12:]
    assert [record["recipient"] for record in records] == holders * 6
    assert len({record["timestamp"] for record in records}) == 1


def test_senders_in_several_processes_take_turns(
    shell: Callable[..., subprocess.Popen[bytes]], mail: MailFiles
) -> None:
    holders = ["bui-00000001", "bui-00000002"]
    for name in holders:
        mail.agent(name, role="builder")
    before = sorted(path.name for path in mail.data.iterdir())
    places = (mail.data.parent, mail.data, mail.mailbox, mail.data)  # one mailbox, however it is named
    words = ["send", "--from", ANN, "--to", "builder", "--one-of", "--body", "Build."]
    for sending in [shell(*words, "--store", place) for place in places]:
        assert (sending.communicate()[1], sending.returncode) == (b"", 0)
    records = [json.loads(line) for line in mail.mailbox.read_text().splitlines()][-len(places) :]
    assert [record["recipient"] for record in records] == holders * 2
    assert sorted(path.name for path in mail.data.iterdir()) == sorted([*before, "agent-mailbox-deliveries.jsonl"])


def test_a_thread_written_within_one_moment_stands_as_it_was_written(
    run: Run, mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = time.time()
    monkeypatch.setattr("time.time", lambda: moment)
    for at in range(9):
        words = ["--from", BOB if at % 2 else ANN, "--to", BOB, "--body", f"{at}", "--thread", "first"]
        assert run("send", *words, "--store", mail.url).status == 0
    wanted = [f"{at}" for at in range(9)]
    rows = run("thread", "first", "--json", "--store", mail.url).document
    assert [row["subject"] for row in rows[1:]] == wanted
    assert [row["subject"] for row in run("search", "thread:first", "--json", "--store", mail.url).document][
        :9
    ] == wanted[::-1]
    assert [row["subject"] for row in run("read", "--as", BOB, "--json", "--store", mail.url).document] == wanted


def test_a_role_and_a_session_of_one_name_are_two_recipients(run: Run, mail: MailFiles) -> None:
    mail.agent("codex")
    mail.agent("worker-1", role="codex")
    sent = {}
    for to in ("codex", "role:codex"):
        sent[to] = run("send", "--from", ANN, "--to", to, "--body", "Well?", "--json", "--store", mail.url).document
    assert {to: row["states"] for to, row in sent.items()} == {to: {to: "unread"} for to in sent}
    for query, wanted in (("role:codex", "role:codex"), ("role:cod", "role:codex"), ("to:=codex", "codex")):
        found = run("search", query, "--json", "--store", mail.url).document
        assert [row["id"] for row in found] == [sent[wanted]["id"]]


def test_a_question_with_options_lists_them_in_its_record_and_readers_see_them(run: Run, mail: MailFiles) -> None:
    words = ["send", "--from", BOB, "--to", ANN, "--body", "Print it?", "--option", "Yes", "--option", " No "]
    assert run(*words, "--store", mail.url).status == 0
    assert (last(mail)["type"], last(mail)["metadata"]) == ("question", {"options": ["Yes", "No"]})
    found = run("read", "--as", ANN, "--store", mail.url).out
    assert "options: 1. Yes; 2. No\n" in found
    mail.message("yes", ANN, BOB, "1. Yes", ago=0, thread=last(mail)["id"], metadata={"choice": 1, "option": "Yes"})
    rows = json.loads(run("thread", "yes", "--json", "--store", mail.url).out)
    assert [(row.get("options"), row.get("choice")) for row in rows] == [(["Yes", "No"], None), (None, 1)]


@pytest.mark.parametrize("options", [["Yes"], ["Yes", "Yes"], ["Yes", ""], ["Yes", "N\no"], ["x"] * 10])
def test_what_is_no_list_to_choose_from_is_refused(run: Run, mail: MailFiles, options: list[str]) -> None:
    before = mail.mailbox.read_bytes()
    given = [word for each in options for word in ("--option", each)]
    done = run("send", "--from", BOB, "--to", ANN, "--body", "Print it?", *given, "--store", mail.url)
    assert (done.status, mail.mailbox.read_bytes()) == (2, before)
    assert "the options are not two to nine short lines that differ: give --option for each" in done.err


def test_a_mailbox_without_further_fields_has_the_options_in_the_text(run: Run, tmp_path: Path) -> None:
    azall = AgentAZAllMail(tmp_path / "azall")
    azall.agent("ann@localhost")
    azall.agent("bob@localhost")
    words = ["send", "--from", "user", "--to", "bob@localhost", "--body", "Print it?"]
    done = run(*words, "--option", "Yes", "--option", "No", "--store", f"agentazall:{azall.root}")
    assert (done.status, done.err) == (0, "")
    (row,) = json.loads(run("history", "--json", "--store", f"agentazall:{azall.root}").out)
    assert row["content"].strip() == "Print it?\n\n1. Yes\n2. No"
