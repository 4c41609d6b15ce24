from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailboxes import DIALECTS, Dialect, MailFiles, damaged, every_case, tangled

ANN, BOB, CID = "ann-00000001", "bob-00000001", "cid-00000001"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("asked", ["root", "deep"])
def test_a_thread_is_given_in_reply_order(run: Run, tmp_path: Path, dialect: Dialect, asked: str) -> None:
    mail = tangled(tmp_path, time.time(), dialect)
    rows = run("thread", asked, "--json", "--store", mail.url).document
    assert [row["id"] for row in rows] == ["root", "early", "deep", "late"]
    assert [row["thread"] for row in rows] == [None, "root", "early", "root"]
    assert rows[0]["subject"] == "The colour"


def test_a_thread_as_text_is_a_tree_with_what_became_of_each_message(run: Run, tmp_path: Path) -> None:
    mail = tangled(tmp_path, time.time())
    mail.read("root", "bob-00000001")
    out = run("thread", "root", "--store", mail.url).out
    heads = [line for line in out.splitlines() if "→" in line]
    assert [len(line) - len(line.lstrip()) for line in heads] == [0, 2, 4, 2]
    assert "  ✓ bob-00000001: read\n" in out
    assert "      ○ bob-00000001: unread\n" in out


def test_a_parent_that_is_nowhere_has_a_place_in_the_tree_and_none_in_the_list(run: Run, tmp_path: Path) -> None:
    mail = tangled(tmp_path, time.time())
    [row] = run("thread", "lost-child", "--json", "--store", mail.url).document
    assert (row["id"], row["thread"]) == ("lost-child", "nowhere")
    assert "(missing message nowhere)" in run("thread", "lost-child", "--store", mail.url).out


def test_an_archived_parent_is_found(run: Run, tmp_path: Path) -> None:
    mail = tangled(tmp_path, time.time())
    rows = run("thread", "old-reply", "--json", "--store", mail.url).document
    assert [row["id"] for row in rows] == ["old-root", "old-reply"]
    assert rows[0]["content"] == "Long ago."


def test_a_ring_of_replies_is_cut_at_its_oldest_message(run: Run, tmp_path: Path) -> None:
    mail = tangled(tmp_path, time.time())
    rows = run("thread", "ring-3", "--json", "--store", mail.url).document
    assert [row["id"] for row in rows] == ["ring-1", "ring-2", "ring-3"]


def test_a_thread_as_text_says_subject_type_and_tags_and_every_time_in_one_form(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.message("one", ANN, "user", timestamp="2026-03-16T15:00:00+01:00", subject="The colour", type="question")
    mail.message("two", "user", ANN, timestamp="2026-03-16 14:00:01", thread="one", tags=["signature:INVALID"])
    lines = run("thread", "one", "--store", mail.url).out.splitlines()
    assert lines[0] == f"{ANN} → user  2026-03-16T14:00:00Z  one"
    assert lines[1:3] == ["  subject: The colour", "  type: question"]
    assert f"  user → {ANN}  2026-03-16T14:00:01Z  two" in lines
    assert "    tags: signature:INVALID" in lines
    history = run("history", "--store", mail.url).out.splitlines()
    assert [line.split()[0] for line in history[1:]] == ["2026-03-16T14:00:00Z", "2026-03-16T14:00:01Z"]


def test_a_very_deep_thread_is_told_whole(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    parent = None
    for number in range(1500):
        parent = mail.message(f"m{number}", ANN, "user", "On.", ago=2000 - number, thread=parent)
    out = run("thread", "m0", "--store", mail.url).out
    assert out.count("→") == 1500
    assert "(depth 1499)" in out
    assert max(map(len, out.splitlines())) < 200


@pytest.mark.parametrize("asked", ["nothing", ""])
def test_a_message_that_is_not_here_is_refused(run: Run, tmp_path: Path, asked: str) -> None:
    mail = tangled(tmp_path, time.time())
    result = run("thread", asked, "--store", mail.url)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f'signalbox: no message with id "{asked}"')


def test_the_beginning_of_an_id_is_enough_when_it_is_the_only_one(run: Run, tmp_path: Path) -> None:
    mail = tangled(tmp_path, time.time())
    assert run("thread", "roo", "--json", "--store", mail.url).document[0]["id"] == "root"
    result = run("thread", "ring", "--store", mail.url)
    assert result.status == 1
    assert '"ring" matches 3 messages' in result.err


def test_a_task_below_a_cancelled_one_is_read_as_cancelled(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    for name in (ANN, BOB, CID):
        mail.agent(name)
    mail.message("task", ANN, BOB, "Write it.", ago=90, type="task-assigned")
    mail.message("part", BOB, CID, "Write a part.", ago=80, thread="task", type="task-assigned")
    assert "cancelled" not in run("read", "--as", CID, "--store", mail.url).out
    mail.message("stop", ANN, BOB, "Stop.", ago=70, thread="task", type="cancel")
    found = run("read", "--as", CID, "--store", mail.url).out
    assert f"cancelled: by {ANN}, " in found
    assert "(stop)" in found
    assert f"cancelled: by {ANN}, " in run("thread", "task", "--store", mail.url).out
    [row] = run("read", "--as", CID, "--json", "--store", mail.url).document
    assert row["cancelled"] == "stop"


def test_threads_are_listed_newest_first(run: Run, tmp_path: Path) -> None:
    mail = tangled(tmp_path, time.time())
    rows = run("threads", "--json", "--store", mail.url).document
    assert [row["root"] for row in rows] == ["old-root", "ring-1", "root", "nowhere"]
    assert list(rows[2]) == ["root", "subject", "participants", "messages", "unread", "last_timestamp", "cancelled"]
    assert rows[2]["participants"] == [ANN, "bob-00000001"]
    assert (rows[2]["messages"], rows[2]["unread"]) == (4, 4)
    assert rows[3]["subject"] == "As I said."


@pytest.mark.parametrize(
    ("view", "roots"),
    [
        ("for-you", {"user-unread", "user-read", "user-expired"}),
        ("waiting", {"role-waiting"}),
        ("#rules", {"tag-union", "tag-read"}),
        ("concern:rules", {"tag-union", "tag-read"}),
        ("role:night", {"role-frozen"}),
        ("archive", set()),
    ],
)
def test_a_view_chooses_the_threads(run: Run, tmp_path: Path, view: str, roots: set[str]) -> None:
    mail, _ = every_case(tmp_path, time.time())
    rows = run("threads", "--view", view, "--json", "--store", mail.url).document
    assert {row["root"] for row in rows} == roots


def test_the_threads_of_an_agent_are_those_it_wrote_or_gets(run: Run, tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path, time.time())
    rows = run("threads", "--view", "agent:fro-00000001", "--json", "--store", mail.url).document
    assert {row["root"] for row in rows} == {"direct-frozen", "direct-frozen-old", "role-frozen"}


def test_the_unread_of_an_agent_is_counted_when_it_is_named(run: Run, tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path, time.time())
    rows = run("threads", "--as", ANN, "--json", "--store", mail.url).document
    unread = {row["root"]: row["unread"] for row in rows}
    assert (unread["direct-unread"], unread["direct-read"], unread["tag-unread"]) == (1, 0, 1)


@pytest.mark.parametrize(("view", "status"), [("nonsense", 2), ("#nonsense", 1)])
def test_a_view_that_is_none_is_told(run: Run, tmp_path: Path, view: str, status: int) -> None:
    mail, _ = every_case(tmp_path, time.time())
    result = run("threads", "--view", view, "--store", mail.url)
    assert (result.status, result.out, result.err.count("\n")) == (status, "", 1)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_good_messages_are_read_from_among_damaged_lines(run: Run, tmp_path: Path, dialect: Dialect) -> None:
    mail = damaged(tmp_path, time.time(), dialect)
    rows = run("threads", "--json", "--store", mail.url).document
    assert {row["root"] for row in rows} >= {"good-1", "good-2", "good-3", "good-4"}
    assert "torn" not in {row["root"] for row in rows}


LISTINGS = (
    *("agents", "attention", "archive --dry-run", "away --since 1d", "channels", "dead-letters", "export", "history"),
    *("overview --since 1d", "roster", "search message", "thread good-1", "threads", "timeline good-1", "views", "who"),
    *(f"read --as {ANN}", f"bye --as {ANN} --dry-run", f"checkpoint --as {ANN}"),
)


@pytest.mark.parametrize("words", LISTINGS)
@pytest.mark.parametrize("number", [0, 1, 2])
def test_whoever_lists_mail_hears_of_records_that_can_not_be_read(
    run: Run, tmp_path: Path, words: str, number: int
) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN)
    mail.message("good-1", BOB, ANN, "A message.", ago=60)
    for _ in range(number):
        mail.line(b"this is no record\n")
    them = "1 record" if number == 1 else f"{number} records"
    warning = f"signalbox: warning: {them} can't be read: signalbox doctor says which and why\n"
    assert (warning in run(*words.split(), "--store", mail.url).err) == (number > 0)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_doctor_names_every_damaged_line_and_changes_nothing(run: Run, tmp_path: Path, dialect: Dialect) -> None:
    mail = damaged(tmp_path, time.time(), dialect)
    before = mail.mailbox.read_bytes()
    result = run("doctor", "--json", "--store", mail.url)
    assert (result.status, result.err) == (1, "")
    found = result.document
    lines = {fault["line"] for fault in found["malformed"]}
    assert {2, 3, 4} <= lines
    for fault in found["malformed"]:
        assert fault["file"] == "agent-mailbox.jsonl"
        assert fault["reason"]
        assert 0 <= fault["offset"] < len(before)
    assert mail.mailbox.read_bytes() == before
    assert "unreadable" in run("doctor", "--store", mail.url).out


def test_the_doctor_reports_what_leads_nowhere(run: Run, tmp_path: Path) -> None:
    mail = tangled(tmp_path, time.time())
    mail.message("root", ANN, "nobody", "The same id again.", ago=10)
    mail.message("lost", ANN, "nobody", "To nobody.", ago=10)
    mail.read("no-such-message", ANN)
    found = run("doctor", "--json", "--store", mail.url).document
    assert (found["messages"], found["archived"], found["malformed"]) == (10, 1, [])
    assert found["orphans"] == ["nowhere"]
    assert [cycle["cut"] for cycle in found["cycles"]] == ["ring-1"]
    assert [spot["id"] for spot in found["duplicates"]] == ["root"]
    assert found["unresolvable"] == [{"message_id": "lost", "name": "nobody"}]
    assert found["orphan_reads"] == [{"message_id": "no-such-message", "name": ANN}]


def test_the_doctor_finds_nothing_wrong_in_a_sound_mailbox(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN)
    mail.message("m", "user", ANN)
    result = run("doctor", "--store", mail.url)
    assert (result.status, result.out.splitlines()[1:]) == (0, ["No problems found"])


def test_a_thread_whose_root_is_nowhere_is_shown_under_the_id_that_threads_prints(run: Run, tmp_path: Path) -> None:
    mail = tangled(tmp_path, time.time())
    assert "nowhere" in {row["root"] for row in run("threads", "--json", "--store", mail.url).document}
    assert [row["id"] for row in run("thread", "nowhere", "--json", "--store", mail.url).document] == ["lost-child"]
    assert run("thread", "nowhere", "--store", mail.url).out.startswith("(missing message nowhere)")
    assert run("thread", "nowher", "--store", mail.url).status == 1


def test_a_cancellation_is_passed_to_the_tasks_below_and_shown(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    for name in ("boss-00000001", "ann-00000001", "bob-00000001", "cid-00000001"):
        mail.agent(name)
    tasks = (("top", "boss", "ann", None), ("below", "ann", "bob", "top"), ("far", "bob", "cid", "word"))
    for ago, (name, sender, to, thread) in zip((900, 800, 600), tasks, strict=True):
        words = {"type": "task-assigned", "thread": thread, "subject": name.title()}
        mail.message(name, f"{sender}-00000001", f"{to}-00000001", ago=ago, **words)
    mail.message("word", "bob-00000001", "ann-00000001", ago=700, thread="below", type="status")
    mail.message("done", "ann-00000001", "cid-00000001", ago=690, thread="top", type="task-assigned")
    mail.message("result", "cid-00000001", "ann-00000001", ago=680, thread="done", type="task-done")
    mail.message("other", "boss-00000001", "cid-00000001", ago=650, type="task-assigned", subject="Other")
    assert [row["cancelled"] for row in run("threads", "--json", "--store", mail.url).document] == [0, 0]
    words = ("--to", "bob-00000001", "--type", "cancel", "--thread", "word", "--body", "Stop.", "--json")
    cancel = run("send", "--from", "ann-00000001", *words, "--store", mail.url).document
    assert cancel["recipients"] == ["bob-00000001", "cid-00000001"], "whoever works on a task below hears of it"
    mail.message("late", "bob-00000001", "cid-00000001", ago=-600, thread="below", type="task-assigned")
    rows = run("thread", "top", "--json", "--store", mail.url).document
    shown = {row["id"]: row["cancelled"] for row in rows if "cancelled" in row}
    assert shown == dict.fromkeys(("below", "far"), cancel["id"])
    assert {row["root"]: row["cancelled"] for row in run("threads", "--json", "--store", mail.url).document} == {
        "top": 2,
        "other": 0,
    }
    assert "Top (2 tasks cancelled)" in run("threads", "--store", mail.url).out
    assert "  cancelled: by ann-00000001, " in run("thread", "top", "--store", mail.url).out
    moments = run("timeline", "far", "--json", "--store", mail.url).document
    assert [(it["who"], it["how"]) for it in moments if it["what"] == "cancelled"] == [
        ("ann-00000001", f"by {cancel['id']}")
    ]
    words = ("--to", "ann-00000001", "--type", "cancel", "--thread", "top", "--body", "Stop all.", "--json")
    whole = run("send", "--from", "boss-00000001", *words, "--store", mail.url).document
    assert whole["recipients"] == ["ann-00000001", "cid-00000001"], "two are cancelled already, two are not"
    rows = run("thread", "top", "--json", "--store", mail.url).document
    shown = {row["id"]: row["cancelled"] for row in rows if "cancelled" in row}
    assert shown == {"below": cancel["id"], "far": cancel["id"], "top": whole["id"]}, "the one that is late lives on"
    mail.message("last", "bob-00000001", "cid-00000001", ago=-900, thread="late", type="cancel")
    rows = run("thread", "top", "--json", "--store", mail.url).document
    assert {row["id"]: row["cancelled"] for row in rows if "cancelled" in row} == {**shown, "late": "last"}
