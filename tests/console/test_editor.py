"""Writing in the person's own editor: what it saves is taken over, and no failure loses a word."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.screens.writing.composing import Composing
from console.settings.config import Config
from console.state.composer_draft import ComposerDraft
from tests.console.fake_screen import FakeScreen, fake_screen
from tests.mailboxes import MailFiles


@pytest.fixture
def screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeScreen]:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    fake = fake_screen(MailFiles(tmp_path), tmp_path, Config(editor=str(tmp_path / "editor")))
    fake.composer.open(ComposerDraft("new", body="First words"))
    yield fake
    fake.close()


def edit(screen: FakeScreen, folder: Path, script: str) -> str:
    """Let an editor run on the draft; return its text."""
    editor = folder / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o755)
    Composing(screen).edit()
    return screen.composer.writing.body


def left(folder: Path) -> list[Path]:
    return [path for path in (folder / "temporary").rglob("*") if path.is_file()]


def test_what_the_editor_saves_is_taken_over(screen: FakeScreen, tmp_path: Path) -> None:
    assert edit(screen, tmp_path, "printf ' and\\r\\nmore\\n\\n' >> \"$1\"") == "First words and\nmore"
    assert not screen.errors
    assert not left(tmp_path)


def test_an_editor_that_fails_loses_neither_the_draft_nor_what_it_saved(screen: FakeScreen, tmp_path: Path) -> None:
    assert edit(screen, tmp_path, "printf 'An hour of work' > \"$1\"; exit 3") == "First words"
    (file,) = left(tmp_path)
    assert file.read_text() == "An hour of work"
    assert re.search(rf"failed with status 3: the draft is unchanged; what it saved is in {file}", screen.errors[0])


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("exit 3", "failed with status 3: the draft is unchanged"),
        ('rm "$1"', "Can't run"),
        ("kill -9 $$", "signal (Killed)"),
    ],
)
def test_an_editor_that_saves_nothing_leaves_the_draft_and_no_file(
    script: str, problem: str, screen: FakeScreen, tmp_path: Path
) -> None:
    assert edit(screen, tmp_path, script) == "First words"
    assert problem in screen.errors[0]
    assert not left(tmp_path)


def test_an_editor_that_does_not_exist_is_reported(screen: FakeScreen, tmp_path: Path) -> None:
    Composing(screen).edit()
    assert "Can't run" in screen.errors[0]
    assert screen.composer.writing.body == "First words"
    assert not left(tmp_path)
