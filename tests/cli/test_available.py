from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from console.state.personal_state import PersonalState
from mailstore.registry import open_store
from tests.cli.conftest import Run
from tests.mailboxes import MailFiles, every_case


def settings(text: str) -> Path:
    file = Path(os.environ["XDG_CONFIG_HOME"]) / "signalbox" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def test_stores_tells_every_kind(run: Run) -> None:
    rows = run("stores", "--json").document
    assert {"haak", "memory"} <= {row["kind"] for row in rows}
    assert all(row["summary"] and "can't be loaded" not in row["summary"] for row in rows)
    assert "agent-mailbox.jsonl" in run("stores").out


def test_themes_tells_which_one_is_chosen(run: Run) -> None:
    settings('theme = "blackout"\n')
    rows = run("themes", "--json").document
    assert [row["name"] for row in rows if row["is_chosen"]] == ["blackout"]
    assert "▌  blackout" in run("themes").out


def test_a_theme_that_can_not_be_read_is_told_and_hides_no_other(run: Run) -> None:
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "signalbox" / "themes"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text("name = 3\n")
    result = run("themes", "--json")
    assert result.status == 0
    assert "mine.toml" in result.err
    assert result.document


def test_keys_tells_every_key_as_the_person_has_it(run: Run) -> None:
    rows = {row["id"]: row["keys"] for row in run("keys", "--json").document}
    assert rows["pane.threads"] == "2"
    settings('[keymap]\n"pane.threads" = "f9"\n')
    rows = {row["id"]: row["keys"] for row in run("keys", "--json").document}
    assert rows["pane.threads"] == "f9"
    assert "Go to the threads" in run("keys").out
    assert "  f9  Go to the threads  (pane.threads)" in run("keys", "f9").out
    assert run("keys", "◐").out.split("\n")[:2] == ["Receipts", "  ◐ recipient frozen"]
    assert [row["id"] for row in run("keys", "f9", "--json").document] == ["pane.threads"]
    assert run("keys", "no-such-key").status == 1


def test_the_mailbox_of_the_settings_is_used_when_none_is_named(run: Run, tmp_path: Path) -> None:
    mail, expected = every_case(tmp_path, time.time())
    settings(f'store = "{mail.url}"\n')
    assert len(run("threads", "--json").document) == len(expected)


def test_a_wrong_setting_is_told_and_its_default_used(run: Run, tmp_path: Path) -> None:
    mail, expected = every_case(tmp_path, time.time())
    file = settings("poll = 3\n")
    result = run("threads", "--json", "--store", mail.url)
    assert (result.status, len(result.document)) == (0, len(expected))
    assert f"{file}:1: poll" in result.err


def test_the_person_may_have_another_name(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent("ann-00000001")
    mail.message("m", "ann-00000001", "zach")
    settings('user = "zach"\n')
    [row] = run("read", "--as", "zach", "--unread", "--json", "--store", mail.url).document
    assert row["states"] == {"user": "unread"}
    run("mark-read", "--as", "zach", "m", "--store", mail.url)
    assert run("read", "--as", "user", "--unread", "--json", "--store", mail.url).document == []


@pytest.mark.parametrize("command", ["threads", "channels"])
def test_what_the_person_has_seen_in_the_console_is_not_unread(run: Run, tmp_path: Path, command: str) -> None:
    mail, _ = every_case(tmp_path, time.time())
    with open_store(mail.url) as store:
        state = PersonalState()
        state.mark_seen(store.url, ["tag-read", "tag-union"])
        state.close()
    rows = run(command, "--json", "--store", mail.url).document
    key, names = ("root", {"tag-read", "tag-union"}) if command == "threads" else ("tag", {"concern:rules"})
    assert {row[key] for row in rows if row["unread"] == 0} == names
