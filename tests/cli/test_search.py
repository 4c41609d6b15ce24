from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest
from platformdirs import user_config_path

from console.state.personal_state import PersonalState
from mailstore.queries.language.fields import FIELDS, SYNTAX, TIMES
from mailstore.queries.query import parse
from mailstore.records.scope import url_of
from tests.cli.conftest import Run
from tests.mailboxes import DIALECTS, Dialect, MailFiles, every_case
from tests.terminal import SIGNALBOX, Terminal, environment

ANN, BOB = "ann-00000001", "bob-00000001"


@pytest.fixture(params=DIALECTS)
def mail(request: pytest.FixtureRequest, tmp_path: Path) -> MailFiles:
    """Return a mailbox of four messages, one of them archived."""
    dialect: Dialect = request.param
    mail = MailFiles(tmp_path, dialect=dialect, now=time.time())
    mail.agent(ANN)
    mail.message("red", BOB, ANN, "The signal is red.", ago=400)
    mail.message("blue", ANN, BOB, "The lamp is BLUE.", ago=300, type="status")
    mail.message("both", BOB, ANN, "First red lamp,\nthen blue.", ago=200)
    mail.message("gone", BOB, ANN, "Red, long ago.", ago=90 * 86400, archived=True)
    return mail


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["red"], ["both", "red"]),
        (["red", "lamp"], ["both"]),
        (["red", "-lamp"], ["red"]),
        (["-red"], ["blue"]),
        (["-here", "-First"], ["blue", "red"]),
        (['"red lamp"'], ["both"]),
        (["red", "OR", "status"], ["both", "red"]),
        (["type:status", "OR", "-lamp"], ["blue", "red"]),
        (["from:ann-00000001"], ["blue"]),
        (["--archive", "red"], ["both", "red", "gone"]),
        (["red", "--archive", "-lamp"], ["red", "gone"]),
        (["is:expired"], []),
    ],
    ids=str,
)
def test_what_a_query_finds_comes_newest_first(run: Run, mail: MailFiles, words: list[str], ids: list[str]) -> None:
    result = run("search", *words, "--json", "--store", mail.url)
    assert (result.status, result.err) == (0 if ids else 1, "")
    assert [row["id"] for row in result.document] == ids


@pytest.mark.parametrize("claim", ["unread", "read", "dead", "expired", "waiting"])
def test_a_claim_finds_exactly_the_messages_in_that_state(run: Run, tmp_path: Path, claim: str) -> None:
    mail, expected = every_case(tmp_path, time.time())
    rows = run("search", f"is:{claim}", "--json", "--store", mail.url).document
    assert {row["id"] for row in rows} == {
        message_id for message_id, states in expected.items() if claim in states.values()
    }


@pytest.mark.parametrize("query", ['"open', "is:nonsense", "(red", "fro:ann", ""])
def test_a_query_that_can_not_be_read_says_where_it_broke(run: Run, mail: MailFiles, query: str) -> None:
    result = run("search", query, "--store", mail.url)
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert "at position" in result.err


def test_nothing_found_is_said(run: Run, mail: MailFiles) -> None:
    nothing = run("search", "absent", "--store", mail.url)
    assert (nothing.status, nothing.out) == (1, "Nothing found\n")
    assert "did you mean signal?" in run("search", "singal", "--store", mail.url).err
    assert run("search", "absent", "--json", "--store", mail.url)[:2] == (1, "[]\n")
    assert "both" in run("search", "red", "--store", mail.url).out


def test_what_is_found_and_not_shown_is_told(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    for number in range(3):
        mail.message(f"m{number}", "ann-00000001", "all", "A lamp.", ago=60 * number)
    mail.message("old", "ann-00000001", "all", "A lamp.", ago=90 * 86400, archived=True)
    done = run("search", "lamp", "--limit", "2", "--store", mail.url)
    assert done.status == 0
    assert ("m0" in done.out, "m1" in done.out, "m2" in done.out) == (True, True, False)
    assert "1 more found: raise --limit to see them" in done.err
    assert "1 more found in the archive: use --archive to include them" in done.err
    done = run("search", "lamp", "--archive", "--store", mail.url)
    assert (done.err, "archive  old" in done.out) == ("", True)
    folder = Path(user_config_path("signalbox"))
    folder.mkdir(parents=True)
    views = '[views]\nlamps = "lamp"\nold = "lamp is:archived"\n'
    (folder / "config.toml").write_text(views)
    kept = run("views", "--json", "--store", mail.url).document
    assert [(row["name"], row["messages"]) for row in kept] == [("lamps", 3), ("old", 1)]
    assert [row["id"] for row in run("search", "is:archived", "--json", "--store", mail.url).document] == ["old"]
    assert len(run("search", "lamp", "--limit", "1", "--json", "--store", mail.url).document) == 1
    assert run("search", "lamp", "--limit", "-1", "--store", mail.url).status == 2


def test_on_a_terminal_each_hit_shows_the_text_around_it_and_a_short_id(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    lead = "This line stands before it. " * 5
    mail.message("4f2a0000-1111-2222", ANN, "all", f"{lead}The start\nof the art \x1b[31mred.", subject="Paint")
    mail.message("4f2a0000-1111-9999", ANN, "all", "No word of it.", subject="art")
    argv = [*SIGNALBOX, "search", "=art", "--store", mail.url]
    with Terminal(argv, env=environment(tmp_path / "home"), size=(70, 12)) as terminal:
        terminal.wait_exit()
        found = terminal.find("art ␛[31mred.")
        assert found is not None
        at, row = found
        assert terminal.line(row).startswith("      …")
        assert terminal.line(row)[:at].endswith("of the ")
        assert [terminal.cell(x, row).bold for x in (at - 1, at, at + 2, at + 3)] == [False, True, True, False]
        short = terminal.line(row - 1)
        assert "4f2a0000-1111-2  ann" in short
        assert terminal.find("of it") is None  # the hit is in the subject
    assert run("thread", "4f2a0000-1111-2", "--store", mail.url).status == 0
    assert "4f2a0000-1111-2222" in run("search", "=art", "--store", mail.url).out


def test_a_pattern_that_takes_too_long_says_how_to_write_it(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.message("m1", ANN, "all", "a" * 60 + "b")
    for words in (["search", "/(a|aa)+$/"], ["export", "/(a|aa)+$/"]):
        done = run(*words, "--store", mail.url)
        assert done.status == 2
        assert "takes too long on a message at position 1: write it without repetitions" in done.err
    folder = Path(user_config_path("signalbox"))
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[views]\nslow = '/(a|aa)+$/'\nquick = 'a'\n")
    kept = run("views", "--json", "--store", mail.url).document
    assert [(row["name"], row["messages"]) for row in kept] == [("slow", 0), ("quick", 1)]


def test_what_a_record_says_in_other_fields_is_found(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.message("link", ANN, "all", "Look.", links=[{"issue": "ISS-7", "url": "https://tracker.example/7"}])
    mail.message("meta", ANN, "all", "Look.", metadata={"sprint": {"name": "Otter", "number": 4711}, "done": True})
    mail.message("plain", ANN, "all", "ISS-8 only.")
    other = MailFiles(tmp_path / "other", now=time.time())
    other.message("far", ANN, "all", "Look.", issue="ISS-7")
    both = url_of({"a": mail.url, "b": other.url})
    for words, ids in (("iss-7", ["link"]), ("tracker.example", ["link"]), ("otter 4711", ["meta"]), ("sprint", [])):
        found = run("search", *words.split(), "--json", "--store", mail.url)
        assert [row["id"] for row in found.document] == ids
        past = run("search", *words.split(), "--json", "--at", "10m", "--store", mail.url)
        assert past.document == found.document
    found = run("search", "iss-7", "--json", "--store", both)
    assert sorted(row["id"] for row in found.document) == ["a/link", "b/far"]


def test_a_message_to_hundreds_pads_no_other_line(run: Run, mail: MailFiles) -> None:
    names = [f"many-{number:08}" for number in range(300)]
    mail.message("wide", ANN, names, "A red letter day.", ago=50, subject="To hundreds")
    lines = run("search", "red", "--store", mail.url).out.splitlines()
    [wide] = [line for line in lines if "To hundreds" in line]
    assert ", ".join(names) in wide
    assert max(len(line) for line in lines if line != wide) < 250


def test_help_and_documentation_teach_the_language_from_its_table(run: Run) -> None:
    told = " ".join(run("search", "--help").out.split())
    page = (Path(__file__).parents[2] / "docs" / "search.md").read_text()
    for entry in (*SYNTAX, *TIMES):
        assert f"| `{entry.text}` | {entry.meaning} |\n" in page
        assert f"{entry.text} {entry.meaning}" in told
    for field in FIELDS:
        assert f"| `{field.name}:{field.value}` | {field.meaning} | `{field.example}` |\n" in page
        assert f"{field.name}:{field.value} {field.meaning} ({field.example})" in told
        assert parse(field.example, time.time())
        for value in field.values:
            assert f"| `{field.name}:{value.text}` | {value.meaning} |\n" in page
            assert f"{value.text} {value.meaning}" in told
            assert parse(f"{field.name}:{value.text}", time.time())
    rows = len(SYNTAX) + len(TIMES) + len(FIELDS) + sum(len(field.values) for field in FIELDS)
    language = page[page.index("## Words") :]
    assert sum(line.startswith("| `") for line in language.splitlines()) == rows
    assert all(parse(f"after:{each.text}", time.time()) for each in TIMES)
    assert all(parse(each.text, time.time()) for each in SYNTAX)


def test_views_are_listed_with_what_they_find(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.message("m", "ann-00000001", "all", "A lamp.", ago=60)
    assert "No saved views" in run("views", "--store", mail.url).out
    folder = tmp_path / "config" / "signalbox"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[views]\n"Of light" = "lamp"\nBroken = "is:x"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent))
    with closing(PersonalState()) as state:
        state.save_view(f"haak:{mail.mailbox}", "Of ink", "ink")
    rows = {row["name"]: row for row in run("views", "--json", "--store", mail.url).document}
    assert (rows["Of light"]["messages"], rows["Of light"]["unread"]) == (1, 1)
    assert rows["Of ink"]["messages"] == 0
    assert 'unknown value "x" for is:' in rows["Broken"]["problem"]
    assert "Of light" in run("views", "--store", mail.url).out


def test_what_is_found_is_counted_by_what_it_has_in_common(mail: MailFiles, run: Run) -> None:
    mail.message("reply", ANN, ["project:x", "concern:y"], "A red reply.", ago=100, thread="red", type="status")
    found = run("search", "red", "--by", "sender", "--json", "--store", mail.url)
    assert found.document == [
        {"by": "sender", "name": BOB, "messages": 2, "subject": None},
        {"by": "sender", "name": ANN, "messages": 1, "subject": None},
    ]
    assert [row["name"] for row in run("search", "red", "--by", "channel", "--json", "--store", mail.url).document] == [
        "concern:y",
        "project:x",
    ]
    threads = run("search", "red", "--by", "thread", "--limit", "1", "--store", mail.url)
    assert threads.out.split()[:4] == ["found", "thread", "2", "red"]
    assert "1 more found" in threads.err
    assert "in the archive" in threads.err
    assert run("search", "blue", "--by", "channel", "--store", mail.url).out == "Nothing found has a channel\n"
    assert run("search", "red", "--by", "type", "--notes", "--store", mail.url).status == 2
    nothing = run("search", "absent", "--by", "type", "--store", mail.url)
    assert (nothing.status, nothing.out) == (1, "Nothing found\n")
