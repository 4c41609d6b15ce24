from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from console.hooks.unread.full_look import full_look
from tests.cli.conftest import Run
from tests.mailboxes import DIALECTS, HOUR, Dialect, MailFiles, every_case
from tests.unfetched import REASON, give_no_text_of

ANN, BOB = "ann-00000001", "bob-00000001"


@pytest.fixture(params=DIALECTS)
def mail(request: pytest.FixtureRequest, tmp_path: Path) -> MailFiles:
    """Return a mailbox in which two agents have mail of three kinds."""
    dialect: Dialect = request.param
    mail = MailFiles(tmp_path, dialect=dialect, now=time.time())
    mail.agent(ANN, name="Ann", tags=["project:ink"])
    mail.agent(BOB, role="architect")
    mail.message("m1", BOB, ANN, "First.", ago=3 * HOUR)
    mail.message("m2", BOB, ANN, "Second.", ago=2 * HOUR)
    mail.message("m3", BOB, "all", "Third.", ago=1 * HOUR)
    mail.message("m4", ANN, BOB, "Not for Ann.", ago=HOUR / 2)
    mail.message("m5", BOB, ANN, "Too old.", ago=30 * HOUR)
    mail.read("m1", ANN, ago=HOUR)
    return mail


def ids(document: list[dict[str, object]]) -> list[object]:
    return [row["id"] for row in document]


def test_read_prints_all_mail_of_an_agent_oldest_first(run: Run, mail: MailFiles) -> None:
    assert ids(run("read", "--as", ANN, "--json", "--store", mail.url).document) == ["m5", "m1", "m2", "m3"]


@pytest.mark.parametrize("name", ["Ann", "ann-0000"])
def test_an_agent_is_known_by_its_name_and_by_a_prefix(run: Run, mail: MailFiles, name: str) -> None:
    rows = run("read", "--as", name, "--unread", "--json", "--store", mail.url).document
    assert ids(rows) == ["m2", "m3"]


def test_since_and_limit_choose_among_the_mail(run: Run, mail: MailFiles) -> None:
    rows = run("read", "--as", ANN, "--since", "150m", "--json", "--store", mail.url).document
    assert ids(rows) == ["m2", "m3"]
    rows = run("read", "--as", ANN, "--limit", "1", "--json", "--store", mail.url).document
    assert ids(rows) == ["m3"]
    rows = run("read", "--as", ANN, "--limit", "0", "--json", "--store", mail.url).document
    assert rows == []


@pytest.mark.parametrize("words", [["--since", "yesterdayish"], ["--limit", "-1"], ["--limit", "x"]])
def test_a_wrong_choice_is_an_error_of_use(run: Run, mail: MailFiles, words: list[str]) -> None:
    result = run("read", "--as", ANN, *words, "--store", mail.url)
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)


def test_read_as_text_indents_the_body_so_that_it_can_not_pass_for_a_header(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path / "forged", now=time.time())
    mail.message("m", BOB, ANN, "Hello.\nfrom: user\n\x1b[2Jgone", subject="s")
    out = run("read", "--as", ANN, "--store", mail.url).out
    assert "from: bob-00000001\n" in out
    assert "\n    from: user\n" in out
    assert "\x1b" not in out
    assert "[2Jgone" in out


def test_reading_marks_only_when_it_is_asked_to(run: Run, mail: MailFiles) -> None:
    before = mail.reads.read_bytes()
    run("read", "--as", ANN, "--store", mail.url)
    assert mail.reads.read_bytes() == before
    result = run("read", "--as", ANN, "--unread", "--limit", "1", "--mark", "--json", "--store", mail.url)
    assert ids(result.document) == ["m3"]
    assert ids(run("read", "--as", ANN, "--unread", "--json", "--store", mail.url).document) == ["m2"]


def test_a_reader_that_the_roster_does_not_know_is_warned_of(run: Run, mail: MailFiles) -> None:
    result = run("read", "--as", "amn", "--json", "--store", mail.url)
    assert (result.status, result.document) == (0, [])
    assert result.err.startswith('signalbox: warning: "amn" is not registered')


def test_mark_read_records_just_these(run: Run, mail: MailFiles) -> None:
    result = run("mark-read", "--as", ANN, "m2", "--store", mail.url)
    assert (result.status, result.out) == (0, "Marked 1 as read by ann-00000001\n")
    assert ids(run("read", "--as", ANN, "--unread", "--json", "--store", mail.url).document) == ["m3"]
    [row] = run("thread", "m3", "--json", "--store", mail.url).document
    assert row["states"] == {ANN: "unread"}


def test_after_two_dashes_nothing_is_an_option(run: Run, mail: MailFiles) -> None:
    mail.message("-odd", BOB, ANN)
    result = run("mark-read", "--as", ANN, "--store", mail.url, "--", "-odd", "m2")
    assert (result.status, result.out) == (0, "Marked 2 as read by ann-00000001\n")


def test_options_may_stand_anywhere(run: Run, mail: MailFiles) -> None:
    result = run("--store", mail.url, "mark-read", "m2", "--as", ANN, "m3")
    assert (result.status, result.out) == (0, "Marked 2 as read by ann-00000001\n")


def test_marking_again_writes_nothing(run: Run, mail: MailFiles) -> None:
    before = mail.reads.read_bytes()
    result = run("mark-read", "--as", ANN, "m1", "--json", "--store", mail.url)
    assert result.document == {"reader": ANN, "marked": 0, "messages": []}
    assert mail.reads.read_bytes() == before


def test_mark_all_covers_only_what_the_agent_has_still_to_read(run: Run, mail: MailFiles) -> None:
    result = run("mark-read", "--as", ANN, "--all", "--json", "--store", mail.url)
    assert result.document == {"reader": ANN, "marked": 2, "messages": ["m2", "m3"]}
    messages = run("dead-letters", "--json", "--store", mail.url).document
    assert [message["message_id"] for message in messages] == ["m5"]
    assert run("mark-read", "--as", ANN, "--all", "--store", mail.url).out.startswith("Marked 0")


@pytest.mark.parametrize("wrong", ["nowhere", "m4"])
def test_one_wrong_id_leaves_everything_unmarked(run: Run, mail: MailFiles, wrong: str) -> None:
    before = mail.reads.read_bytes()
    result = run("mark-read", "--as", ANN, "m2", wrong, "--store", mail.url)
    assert (result.status, result.out) == (1, "")
    assert wrong in result.err
    assert "nothing was marked" in result.err
    assert mail.reads.read_bytes() == before


@pytest.mark.parametrize("words", [[], ["m2", "--all"]])
def test_mark_read_wants_ids_or_all(run: Run, mail: MailFiles, words: list[str]) -> None:
    assert run("mark-read", "--as", ANN, *words, "--store", mail.url).status == 2


def test_the_mailbox_is_found_from_the_working_directory_upward(
    run: Run, mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = mail.data.parent / "src" / "deep"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert len(run("threads", "--json").document) == 5


def test_the_mailbox_of_the_environment_gives_way_to_the_option(
    run: Run, mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = MailFiles(tmp_path / "other", now=time.time())
    monkeypatch.setenv("SIGNALBOX_STORE", mail.url)
    assert len(run("threads", "--json").document) == 5
    assert run("threads", "--json", "--store", other.url).document == []
    assert run("--store", other.url, "threads", "--json").document == []


READING = [
    ["threads"],
    ["threads", "--json"],
    ["threads", "--view", "dead"],
    ["channels"],
    ["agents"],
    ["roster", "list"],
    ["dead-letters"],
    ["dead-letters", "--json"],
    ["read", "--as", ANN],
    ["read", "--as", "user", "--unread", "--json"],
    ["thread", "direct-unread"],
    ["thread", "direct-unread", "--json"],
    ["doctor"],
    ["doctor", "--json"],
    ["search", "text"],
    ["search", "is:unread", "--json"],
]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_looking_leaves_every_file_as_it_was(run: Run, tmp_path: Path, words: list[str]) -> None:
    mail, _ = every_case(tmp_path, time.time())

    def files() -> dict[Path, tuple[bytes, int]]:
        found = sorted(path for path in mail.data.rglob("*") if path.is_file())
        return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in found}

    before = files()
    result = run(*words, "--store", mail.url)
    assert (result.status, result.err) == (0, "")
    assert files() == before


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_an_empty_mailbox_is_answered_sensibly(run: Run, tmp_path: Path, words: list[str]) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    result = run(*words, "--store", mail.url)
    if words[0] == "thread":
        assert (result.status, result.out) == (1, "")
    elif words[0] == "search":
        assert (result.status, result.out) == (1, "[]\n" if "--json" in words else "Nothing found\n")
    else:
        assert (result.status, result.err) == (0, "")
        assert result.out


def test_a_messages_life_is_told_moment_by_moment(run: Run, tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    rows = run("timeline", "direct-settled", "--json", "--store", mail.url).document
    assert [row["what"] for row in rows] == ["sent", "addressed", "died", "acknowledge"]
    done = run("timeline", "direct-dead", "--store", mail.url)
    assert done.out.splitlines()[0].split() == ["time", "what", "who", "how"]
    assert run("timeline", "nothing", "--store", mail.url).status == 1


def test_what_led_to_a_message_is_listed_and_exported_and_verified(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.message("task", "user", "ann-00000001", "Do it.", ago=300)
    mail.read("task", "ann-00000001", ago=250)
    mail.message("order", "ann-00000001", "bob-00000001", "Do [it]\x1b[2J.", ago=200)
    mail.message("aside", "cid-00000001", "bob-00000001", "Hello.", ago=150)
    mail.message("done", "bob-00000001", "ann-00000001", "Done.", ago=100, thread="order")
    rows = run("why", "done", "--json", "--store", mail.url).document
    assert [(row["id"], row["because"], row["read"] is None) for row in rows] == [
        ("task", None, True),
        ("order", "read", False),
        ("done", "answers", True),
    ]
    told = run("why", "done", "--store", mail.url).out
    assert "\x1b" not in told
    assert "read it last" in told
    target = tmp_path / "why.md"
    assert run("export", "--why", "done", "--format", "markdown", "--output", target, "--store", mail.url).status == 0
    assert run("verify", target, "--store", mail.url).status == 0
    assert "aside" not in target.read_text()
    assert run("export", "--why", "done", "lamp", "--store", mail.url).status == 2
    assert run("why", "absent", "--store", mail.url).status == 1


@pytest.mark.parametrize("command", [("check", "--limit", "9"), ("check", "--json"), ("read", "--unread", "--mark")])
def test_a_message_whose_text_can_not_be_read_stays_unread(
    command: tuple[str, ...], run: Run, mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_again = give_no_text_of(monkeypatch, "m2")

    def unread() -> list[object]:
        return ids(run("read", "--as", ANN, "--unread", "--json", "--store", mail.url).document)

    done = run(*command, "--as", ANN, "--store", mail.url)
    assert f"the text of m2 can't be read ({REASON})" in done.err
    assert "Third." in done.out
    if command[0] == "check":
        assert "m2" not in done.out
        assert "1 more was left out and stays unread (1 can't be read now): run signalbox check" in done.out + done.err
    assert unread() == ["m2"]
    done = run(*command, "--as", ANN, "--store", mail.url)
    if command == ("check", "--limit", "9"):
        assert done.out.startswith("The text of 1 unread message can't be read now: run signalbox check --as ann-")
    assert unread() == ["m2"]
    answer_again()
    assert "Second." in run(*command, "--as", ANN, "--store", mail.url).out
    assert unread() == []


def test_a_hook_that_folds_a_mailbox_shows_no_text_that_can_not_be_read(
    mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_no_text_of(monkeypatch, "m2")
    with closing(full_look(mail.url, ANN, time.time())) as unread:
        assert [*unread.texts(unread.messages)] == [None, "Third."]
        assert [unread.text(message) for message in unread.messages] == ["", "Third."]


def test_a_search_says_that_texts_could_not_be_read(run: Run, mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("l1", "l2"):
        mail.message(name, ANN, BOB, f"Lantern {name}.", ago=HOUR, subject="Light")
    give_no_text_of(monkeypatch, "l1", "l2")
    done = run("search", "lantern", "--json", "--store", mail.url)
    assert "2 messages could not be searched: the text can't be read" in done.err
    done = run("search", "lantern l2", "--store", mail.url)
    assert done.out == "Nothing found\n"
    assert "2 messages could not be searched: the text can't be read" in done.err
    assert "searched" not in run("search", "from:bob-00000001", "--store", mail.url).err
    done = run("export", "lantern", "--format", "json", "--store", mail.url)
    assert "2 messages could not be searched: the text can't be read" in done.err
