"""Settings, state and cache that may not be looked into keep no command, and no console, from showing the mail."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from console.settings.theme_files import file_stamps, first_themes, load_themes
from tests.cli.conftest import Run
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles
from tests.refused import refused

ANN, BOB = "ann-00000001", "bob-00000001"
COMMANDS = (
    "history",
    "status",
    "threads",
    "views",
    "attention",
    f"read --as {ANN}",
    "away --since 2020-01-01",
    "agents",
)


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder / "mail", now=time.time())
    mail.agent(ANN)
    mail.message("one", BOB, ANN, "A message.", ago=60)
    return mail


@pytest.mark.parametrize("place", ["xdg_config_home", "xdg_state_home", "xdg_cache_home"])
def test_commands_show_mail_and_say_which_folder_may_not_be_looked_into(run: Run, tmp_path: Path, place: str) -> None:
    mail = write_mail(tmp_path)
    folder = tmp_path / "home" / place
    warned = 0
    for words in COMMANDS:
        whole = run(*words.split(), "--store", mail.url)
        with refused(folder):
            done = run(*words.split(), "--store", mail.url)
        assert (done.status, done.out) == (0, whole.out), words
        assert all(f"warning: {folder}/" in line for line in done.err.splitlines()), done.err
        warned += bool(done.err)
    assert bool(warned) == (place != "xdg_cache_home")


@pytest.mark.parametrize("name", ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"])
async def test_the_console_shows_mail_without_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv(name, str(folder))
    with refused(folder):
        async with opened(write_mail(tmp_path).data) as seat:
            await seat.sees("A message.")
            assert not [*seat.app._notifications]


def test_themes_of_a_folder_that_may_not_be_listed_are_ignored_and_that_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "themes"
    folder.mkdir()
    with refused(folder):
        for themes, problems in (load_themes(folder), first_themes(folder, "board")):
            assert themes
            assert problems == [f"{folder}: can't be read (permission denied); the themes in it are ignored"]
        assert file_stamps(folder) == set()
