"""One setting is read and written from the command line; the rest of the file stays as it was typed."""

from __future__ import annotations

import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.settings.config import config_file
from console.settings.config_edit import UneditableSettings, edited, removed
from console.settings.setting_values import set_value, unset_value
from tests.cli.conftest import Run

TYPED = """# mine
theme = "timetable"   # dark at night
bell=false

# thresholds
[ attention ]  # in minutes
unread_minutes = 90
# the end of it

[notifications]
to_me = [
    "toast",  # and
    "bell",
]
quiet_from = "22:00"
"""


def written(text: str) -> Path:
    path = config_file()
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_a_setting_is_written_where_it_belongs_and_read_again(run: Run) -> None:
    path = config_file()
    assert run("config", "get", "theme").out == "auto\n"
    assert run("config", "set", "theme", "timetable").out == f"Set in {path}:1\n"
    for key, value in [
        ("poll", "true"),
        ("attention.unread_minutes", "90"),
        ("views.open questions", "type:question is:unread"),
        ("keymap.read.next", "n,ctrl+n"),
        ("notifications.to_me", '["bell"]'),
        ("user", "5"),
    ]:
        done = run("config", "set", key, value)
        assert (done.status, done.err) == (0, "")
        assert run("config", "get", key).out == f"{value}\n"
    assert run("config", "check").status == 0
    assert tomllib.loads(path.read_text()) == {
        "theme": "timetable",
        "poll": True,
        "user": "5",
        "attention": {"unread_minutes": 90},
        "views": {"open questions": "type:question is:unread"},
        "keymap": {"read.next": "n,ctrl+n"},
        "notifications": {"to_me": ["bell"]},
    }


def test_settings_that_are_set_at_the_same_moment_are_all_kept() -> None:
    names = [f"view {number}" for number in range(20)]
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: set_value(f"views.{name}", name), names))
        assert tomllib.loads(config_file().read_text()) == {"views": dict(zip(names, names, strict=True))}
        list(pool.map(lambda name: unset_value(f"views.{name}"), names[1:]))
    assert tomllib.loads(config_file().read_text()) == {"views": {names[0]: names[0]}}


def test_everything_else_stays_as_it_was_typed(run: Run) -> None:
    path = written(TYPED)
    assert run("config", "set", "theme", "blackout").status == 0
    assert run("config", "set", "attention.question_minutes", "5").status == 0
    assert run("config", "set", "notifications.to_me", "[]").status == 0
    assert run("config", "unset", "bell").status == 0
    assert path.read_text() == (
        TYPED.replace('"timetable"', '"blackout"')
        .replace("bell=false\n", "")
        .replace("# the end of it\n", "# the end of it\nquestion_minutes = 5\n")
        .replace('[\n    "toast",  # and\n    "bell",\n]', "[]")
    )


def test_where_a_value_comes_from_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written('store = "haak:data"\npoll = "maybe"\n')
    assert run("config", "get", "store", "--json").document == {
        "name": "store",
        "value": "haak:data",
        "source": f"{path}:1",
        "default": None,
    }
    assert run("config", "get", "poll", "--json").document["source"] == "default"  # what is there is invalid
    assert run("config", "get", "editor").out == ""
    monkeypatch.setenv("SIGNALBOX_STORE", "haak:there")
    assert run("config", "get", "store").out == "haak:there\n"
    assert run("config", "get", "store", "--json").document["source"] == "$SIGNALBOX_STORE"
    assert "$SIGNALBOX_STORE goes first" in run("config", "set", "store", "haak:here").err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("set", "poll", "maybe"), "poll was not set: poll must be true or false"),
        (("set", "theme", "timetabel"), 'theme was not set: no theme "timetabel": did you mean timetable?'),
        (("set", "views.mine", "is:bogus"), 'views.mine was not set: the view "mine" can\'t be read'),
        (("set", "user", "\udcff"), "user was not set: write it as UTF-8"),
        (("set", "them", "x"), 'unknown setting "them"; did you mean "theme"?'),
        (("set", "notifications.to_me", '["horn"]'), 'can\'t contain "horn"'),
        (("set", "views", "x"), "views is a table: name one of its settings"),
        (("get", "attention.unread_minuts"), 'did you mean "attention.unread_minutes"?'),
        (("get", "zzz"), "signalbox config show lists all"),
        (("unset", "poll"), "poll is not set in"),
    ],
)
def test_what_would_be_wrong_is_refused_and_nothing_is_written(run: Run, words: tuple[str, ...], said: str) -> None:
    path = written(TYPED)
    done = run("config", *words)
    assert (done.status, done.out) == (1, "")
    assert said in done.err
    assert path.read_text() == TYPED


@pytest.mark.parametrize("words", [("get",), ("set", "poll"), ("unset",), ("path", "poll"), ("show", "a", "b")])
def test_too_few_or_too_many_words_are_a_wrong_usage(run: Run, words: tuple[str, ...]) -> None:
    done = run("config", *words)
    assert (done.status, done.out) == (2, "")
    assert f"config {words[0]} takes" in done.err


def test_a_file_that_can_t_be_edited_is_left_alone(run: Run) -> None:
    for text, said in [
        ("attention = { unread_minutes = 3 }\n", "use signalbox config edit"),
        ("a = [", "signalbox config check says where"),
    ]:
        config_file().parent.mkdir(parents=True, exist_ok=True)
        config_file().write_text(text)
        done = run("config", "set", "attention.unread_minutes", "5")
        assert done.status == 1
        assert said in done.err
        assert config_file().read_text() == text


NAMES = st.sampled_from(["theme", "a b", "x.y", 'q"q', "é"])
VALUES = st.sampled_from(["1", "true", '"a # b"', "[1, 2]", '"""a\nb"""', "'c'"])
LINES = st.sampled_from(
    ["", "# a comment", "theme = 1", '"a b" = [\n 1, # x\n]', "[one]", "[two] # t", '"x.y" = "#"', "é1 = 2", "  q = 3"]
)


@given(st.lists(LINES, max_size=8).map("\n".join), st.sampled_from(["", "one", "two"]), NAMES, VALUES)
def test_any_file_then_says_what_was_set_and_else_the_same(text: str, table: str, name: str, value: str) -> None:
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    try:
        after = edited(text, table, name, value)
    except UneditableSettings:
        return
    (before.setdefault(table, {}) if table else before)[name] = tomllib.loads(f"v = {value}")["v"]
    assert tomllib.loads(after) == before
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        line for line in after.splitlines() if line.startswith("#")
    ]
    left = tomllib.loads(removed(after, table, name))
    assert name not in (left.get(table, {}) if table else left)


def test_a_name_that_one_table_alone_has_needs_no_table(run: Run) -> None:
    assert run("config", "set", "undo_seconds", "5").status == 0
    assert tomllib.loads(config_file().read_text()) == {"send": {"undo_seconds": 5}}
    assert run("config", "get", "undo_seconds").out == run("config", "get", "send.undo_seconds").out == "5\n"
    assert run("config", "unset", "undo_seconds").status == 0
    assert run("config", "get", "undo_seconds").out == "0\n"
