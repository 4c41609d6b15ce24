"""`signalbox status`: the console's numbers, at once, and never wrong ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from platformdirs import user_cache_path, user_config_path

from console.cli import quick_status
from console.state.personal_state import PersonalState
from console.status import numbers
from console.status.counting import count_alone
from console.status.format import BadFormat, formatted
from console.status.numbers import FIELDS, cache_home, config_path, kept_place, load_numbers
from mailstore.records.scope import url_of
from tests.cli.conftest import ROOT, Run
from tests.kinds.channels.channels_folder import copied
from tests.mailboxes import MailFiles, every_case
from tests.refused import refused

ALL = ",".join(f"{name}={{{name}}}" for name in FIELDS)


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path / "mail", now=time.time())
    mail.agent("ann-00000001")
    mail.agent("old-00000001", status="dead")
    mail.message("one", "ann-00000001", "user")
    mail.message("two", "ann-00000001", "ann-00000001")
    mail.message("three", "ann-00000001", "old-00000001")
    return mail


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the files for which a process that counts would have been started."""
    found: list[str] = []
    monkeypatch.setattr(numbers, "start_counting", lambda place, given: found.append(place))
    return found


def test_the_numbers_are_those_that_the_console_shows(run: Run, tmp_path: Path) -> None:
    mail = every_case(tmp_path / "mail", time.time())[0]
    said = run("status", "--store", mail.url, "--format", ALL, "--wait").out.strip()
    plain = subprocess.run(
        [sys.executable, "-m", "console", "open", "--plain", mail.url],
        input=b"status\nquit\n",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=60,
        check=True,
    ).stdout.decode()
    shown = dict(part.split("=") for part in said.split(","))
    assert (
        f"{shown['messages']} messages, {shown['for_you']} for you, {shown['unread']} unread, {shown['dead']} dead"
        in plain
    )
    assert f" {shown['waiting']} waiting" in plain
    assert {name for name in ("for_you", "unread", "dead", "waiting", "expired") if shown[name] != "0"} >= {"dead"}


def test_without_a_format_it_is_a_sentence(run: Run, mail: MailFiles, started: list[str]) -> None:
    assert run("status", "--store", mail.url) == (0, "1 for you · 3 unread · 1 dead\n", "")
    assert started == []


def test_what_was_never_counted_is_not_known_and_then_is(run: Run, mail: MailFiles, started: list[str]) -> None:
    words = ("status", "--store", mail.url, "--format", "{for_you}/{dead}{expired:, {} expired}")
    assert run(*words) == (0, "?/?, ? expired\n", "")
    assert started == [kept_place(mail.url)]
    os.environ["SIGNALBOX_STORE"] = mail.url  # as the process gets it; the fixture takes it away again
    count_alone(*started)
    assert run(*words).out == "1/1\n"
    assert len(started) == 1


@pytest.mark.parametrize("change", ["mail", "read", "agent", "seen", "settings", "folder"])
def test_whatever_changes_makes_the_numbers_uncertain_until_they_are_counted(
    run: Run, mail: MailFiles, started: list[str], change: str
) -> None:
    words = ("status", "--store", mail.url, "--format", "{unread} {dead}")
    run("status", "--store", mail.url)
    assert run(*words).out == "3 1\n"
    expected = "3 1\n"
    if change == "mail":
        mail.message("four", "ann-00000001", "user")
        expected = "4 1\n"
    elif change == "read":
        mail.read("three", "old-00000001")
        expected = "3 0\n"
    elif change == "agent":
        mail.agent("old-00000001", status="living")
        expected = "3 0\n"
    elif change == "seen":
        state = PersonalState()
        state.mark_seen(f"haak:{mail.mailbox}", ["one"])
        state.close()
        expected = "2 1\n"
    elif change == "settings":
        user_config_path("signalbox").mkdir(parents=True)
        (user_config_path("signalbox") / "config.toml").write_text('user = "me"\n')
    else:
        (mail.data / "agent-mailbox-deliveries.jsonl").touch()
    assert run(*words).out == "3~ 1~\n"
    assert len(started) == 1
    assert run(*words, "--wait").out == expected
    assert run(*words).out == expected


def test_time_alone_makes_them_uncertain(run: Run, mail: MailFiles, started: list[str]) -> None:
    mail.message("soon", "ann-00000001", "ann-00000001", ttl_hours=2)
    run("status", "--store", mail.url)
    kept = load_numbers(kept_place(mail.url))
    assert kept is not None
    assert kept.is_certain(time.time())
    assert not kept.is_certain(time.time() + 2 * 3600)
    assert not kept.is_certain(time.time() - 3600)  # the clock was set back


def test_counting_without_a_console_changes_nothing_of_the_persons_state(run: Run, mail: MailFiles) -> None:
    state = PersonalState()
    state.mark_seen(f"haak:{mail.mailbox}", ["one"])
    path = state.path
    state.close()
    before = path.stat()
    assert run("status", "--store", mail.url).out == "0 for you · 2 unread · 1 dead\n"
    assert (path.stat().st_mtime_ns, path.stat().st_size) == (before.st_mtime_ns, before.st_size)


def test_json_says_whether_it_is_certain(run: Run, mail: MailFiles, started: list[str]) -> None:
    words = ("status", "--store", mail.url, "--json")
    first = run(*words).document
    assert (first["dead"], first["is_certain"], first["counted_at"]) == (None, False, None)
    counted = run(*words, "--wait").document
    assert (counted["messages"], counted["dead"], counted["is_certain"], counted["mailboxes"]) == (3, 1, True, {})
    assert run(*words).document == counted


def test_any_sets_the_exit_status(run: Run, mail: MailFiles, started: list[str]) -> None:
    words = ("status", "--store", mail.url, "--format", "{dead}", "--any")
    assert run(*words, "dead").status == 3
    assert run(*words, "dead,for_you", "--wait").status == 0
    assert run(*words, "dead").status == 0
    assert run(*words, "quiet,unreadable").status == 1
    wrong = run(*words, "daed")
    assert (wrong.status, wrong.err.count("use messages, unread")) == (2, 1)


def test_one_of_several_mailboxes_has_its_own_number(run: Run, mail: MailFiles, tmp_path: Path) -> None:
    other = MailFiles(tmp_path / "other", now=time.time())
    other.message("five", "bob", "user")
    store = url_of({"lab": mail.url, "home": other.url})
    said = run("status", "--store", store, "--format", "{unread@lab} {unread@home} {unread@none} {unread}", "--wait")
    assert said.out == "3 1 ? 4\n"


def test_tmux_gets_a_segment(run: Run, mail: MailFiles, started: list[str]) -> None:
    assert run("status", "--store", mail.url, "--tmux").out == "mail ? \n"
    run("status", "--store", mail.url)
    assert (
        run("status", "--store", mail.url, "--tmux").out
        == "#[fg=cyan,bold]1 for you#[default] #[fg=red]1 dead#[default] 3 new \n"
    )


@pytest.mark.parametrize(
    "data", [b"", b"signalbox status 1\nx\n", b"\x00\xff" * 100, b"signalbox status 1\n1 2\n1 x\n\nend"]
)
def test_a_damaged_file_is_as_none(run: Run, mail: MailFiles, started: list[str], data: bytes) -> None:
    run("status", "--store", mail.url)
    Path(kept_place(mail.url)).write_bytes(data)
    assert run("status", "--store", mail.url, "--format", "{dead}").out == "?\n"
    assert run("status", "--store", mail.url).out == "1 for you · 3 unread · 1 dead\n"


def test_a_mailbox_that_is_lost_is_told_and_what_was_known_is_not_certain(
    run: Run, mail: MailFiles, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("status", "--store", mail.url)
    mail.mailbox.rename(mail.mailbox.with_suffix(".gone"))
    words = ("status", "--store", mail.url, "--format", "{dead}")
    assert run(*words).out == "1~\n"
    monkeypatch.setenv("SIGNALBOX_STORE", mail.url)
    count_alone(*started)
    lost = run(*words)
    assert lost.out == "1~\n"
    assert lost.err.startswith("signalbox: no agent-mailbox.jsonl at ")
    never = run("status", "--store", "haak:/nowhere", "--wait")
    assert (never.status, never.out) == (1, "")


def test_a_server_that_answers_nothing_delays_nothing_and_its_password_is_nowhere(run: Run, started: list[str]) -> None:
    url = "nats://ann:hunter2@127.0.0.1:1/box"
    assert run("status", "--store", url, "--format", "{dead}") == (0, "?\n", "")
    assert "hunter2" not in started[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{dead", "is not closed"),
        ("dead}", "has no {"),
        ("{dea}", "not a number"),
        ("{dead:{x}}", "only {}"),
        ("{dead@x}", "not a"),
    ],
)
def test_a_format_that_cannot_be_read_is_told(run: Run, mail: MailFiles, text: str, why: str) -> None:
    result = run("status", "--store", mail.url, "--format", text)
    assert (result.status, result.out) == (2, "")
    assert why in result.err


def test_the_format_language() -> None:
    numbers = {"a": "0", "b": "12~", "c": "?"}
    assert formatted("{{{a}}} {b} {a:none}{b:{} of {}}{c:, {}}", numbers.__getitem__) == "{0} 12~ 12~ of 12~, ?"
    assert formatted("", numbers.__getitem__) == ""
    with pytest.raises(BadFormat):
        formatted("{b:{", numbers.__getitem__)


def test_the_places_are_those_of_the_other_commands() -> None:
    assert cache_home() == str(user_cache_path("signalbox"))
    assert config_path() == str(user_config_path("signalbox") / "config.toml")


def test_a_status_bar_imports_next_to_nothing(mail: MailFiles, run: Run) -> None:
    run("status", "--store", mail.url)
    words = ["status", "--store", mail.url, "--tmux"]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "console", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith("#[fg=cyan,bold]1 for you")
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not imported & {"argparse", "msgspec", "json", "re", "pathlib", "typing", "platformdirs", "sqlite3", "enum"}


def test_numbers_are_kept_for_their_owner_alone(mail: MailFiles, run: Run) -> None:
    run("status", "--store", mail.url)
    kept = Path(kept_place(mail.url))
    assert kept.stat().st_mode & 0o077 == 0
    assert "haak:" not in kept.read_text()
    assert quick_status.quick_status(["--store", mail.url]) is None
    assert json.loads(run("status", "--store", mail.url, "--json").out)["is_certain"] is True


def test_what_could_not_be_read_is_counted_anew_once_its_permissions_change(tmp_path: Path, run: Run) -> None:
    channels = copied(tmp_path)
    room = channels / "channels" / "agent-os-paper"
    with refused(room):
        assert run("status", "--store", f"channels:{channels}").out.endswith("1 unreadable\n")
    room.chmod(0o700)
    room.chmod(0o755)
    assert run("status", "--store", f"channels:{channels}").out == "0 for you · 3 unread · 0 dead\n"
