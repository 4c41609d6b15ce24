"""What completion offers, by the words before the cursor."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from console.cli.described import described
from console.cli.own_commands import all_commands
from console.completion import candidates
from console.completion.candidates import FIELDS_OF_QUERIES, STATES
from console.completion.shells import bash_lines, typed_line, word_lines
from console.completion.table import TABLE
from console.completion.table_maker import table_text
from tests.cli.conftest import Run
from tests.mailboxes import MailFiles

BREAKS = " \t\n\"'@><=;|&(:"
ODD = "$(touch x);'\"`x` \\ & é#1"


@pytest.fixture(autouse=True)
def mail(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> MailFiles:
    mail = MailFiles(tmp_path / "mail", now=time.time())
    mail.agent("ann-00000001", role="steward", tags=["project:ink", "concern:oil"])
    mail.agent(ODD)
    mail.agent("line\nfeed")
    mail.agent("--store")
    mail.message("letter-1", "ann-00000001", "user", subject="A \x1b[31mred\nline $(x)", type="question")
    mail.message("other-2", ODD, "project:ink")
    monkeypatch.setenv("SIGNALBOX_STORE", mail.url)
    monkeypatch.setattr("console.status.numbers.start_counting", lambda place, given: lambda: True)
    run("status")
    return mail


def offered(*words: str) -> list[str]:
    return word_lines([*words])[1::2]


def test_the_table_is_current() -> None:
    said = "run python -m manual.reference"
    assert Path(TABLE).read_text("utf-8") == table_text(), said


def test_the_fields_and_states_of_queries_are_all_offered() -> None:
    page = described("search").epilog
    for field in FIELDS_OF_QUERIES:
        assert f"  {field}" in page
    for state in STATES:
        assert f"\n    {state}" in page


def test_commands_actions_options_and_choices_are_offered() -> None:
    assert offered("") == [*all_commands(), "help"]
    assert offered("help", "ro") == ["roster"]
    assert offered("roster", "re") == ["register", "resume", "retire"]
    assert offered("roster", "update", "--st") == ["--status", "--store"]
    assert offered("roster", "--status", "") == ["living", "frozen", "dead"]
    assert offered("roster", "--status=d") == ["--status=dead"]
    assert offered("read", "--unread", "--u") == []
    assert "--to" in offered("send", "--to", "a", "--t")
    assert offered("--obs") == ["--observe"]
    assert offered("--vers") == ["--version"]
    assert offered("config", "") == ["path", "check", "edit", "show", "get", "set", "unset", "schema"]
    assert offered("config", "set", "them") == ["theme"]
    assert offered("config", "get", "attention.u") == ["attention.unread_minutes"]
    assert offered("schema", "sta") == ["status"]
    assert offered("nonsense", "x") == []


def test_values_are_those_of_the_mailbox() -> None:
    assert offered("read", "--as", "") == ["user", "ann-00000001", ODD]
    assert offered("send", "--to", "#") == ["#ink", "#oil"]
    assert {"steward", "all", "user"} <= set(offered("send", ""))
    assert set(offered("thread", "")) == {"letter-1", "other-2"}
    assert offered("dead-letters", "redirect", "let") == ["letter-1"]
    assert offered("roster", "--tags", "project:ink,c") == ["project:ink,concern:oil"]
    assert offered("threads", "--view", "role:") == ["role:steward"]
    assert offered("search", "from:ann") == ["from:ann-00000001"]
    assert offered("search", "is:dea") == ["is:dead"]
    assert offered("watch", "--type", "q") == ["question"]
    assert offered("init", "--kind", "ha") == ["haak"]
    assert offered("open", "--theme", "bl") == ["blackout"]
    assert offered("status", "--any", "dead,un") == ["dead,unread", "dead,unreadable"]


def test_another_mailbox_is_asked_where_the_line_names_it(tmp_path: Path, run: Run) -> None:
    other = MailFiles(tmp_path / "other", now=time.time())
    other.agent("zed-00000009")
    run("status", "--store", other.url)
    assert offered("--store", other.url, "read", "--as", "z") == ["zed-00000009"]
    assert offered("read", f"--store={other.url}", "--as", "z") == ["zed-00000009"]
    assert offered("read", "--as", "z") == []


def test_nothing_hostile_reaches_a_shell() -> None:
    for words in (("thread", ""), ("read", "--as", "")):
        assert all(line.isprintable() for line in word_lines([*words]))
    assert not [line for line in word_lines(["thread", ""]) if "$" in line]
    assert "--store" not in offered("read", "--as", "")
    ends = bash_lines("signalbox read --as \\$", BREAKS)[1:]
    assert ends == ["\\$\\(touch\\ x\\)\\;\\'\\\"\\`x\\`\\ \\\\\\ \\&\\ é\\#1"]
    assert typed_line(f"signalbox {ends[0]}", BREAKS).words[1] == ODD
    assert bash_lines('signalbox read --as "', BREAKS)[1:] == ["user", "ann-00000001"]


def test_bash_gets_what_follows_its_own_breaks(mail: MailFiles, tmp_path: Path) -> None:
    assert bash_lines("signalbox --store haa", BREAKS) == ["nospace", "haak:"]
    assert bash_lines("signalbox threads --view agent:a", BREAKS) == ["words", "ann-00000001"]
    assert bash_lines("signalbox threads --view agent:a", " ") == ["words", "agent:ann-00000001"]
    (tmp_path / "work" / "a b.html").touch()
    (tmp_path / "work" / "a folder").mkdir()
    assert bash_lines("signalbox export --output=a", BREAKS) == ["words", "a\\ b.html", "a\\ folder/"]
    assert bash_lines("signalbox verify 'a b", BREAKS) == ["words", "a b.html"]
    assert bash_lines("signalbox convert haak:/no", BREAKS) == ["nospace"]
    assert bash_lines("", BREAKS) == ["words"]


def test_a_mailbox_that_was_never_counted_is_waited_for_once_and_not_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []

    def start(place: str, given: str) -> object:
        started.append(given)
        return lambda: False  # it never ends: a server that does not answer

    monkeypatch.setattr("console.status.numbers.start_counting", start)
    monkeypatch.setattr(candidates, "FIRST_SECONDS", 0.02)
    url = "nats://ann:secret@127.0.0.1:1/box"
    assert offered("read", "--store", url, "--as", "") == []
    assert started == [url]


def test_the_scripts_are_printed(run: Run) -> None:
    for shell in ("bash", "zsh", "fish"):
        result = run("completion", shell)
        assert result.status == 0
        assert f"completion words {shell}" in result.out
    assert run("completion", "tcsh").status == 2
    assert run("completion").status == 2
    assert run("completion", "words", "bash").status == 2
