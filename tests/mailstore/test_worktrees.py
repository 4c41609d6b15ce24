"""The mailbox of a linked worktree is in the main checkout, unless it has its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mailstore.discovery import found_from, searched
from mailstore.errors import MailboxMissing
from mailstore.files.worktree import checkout_at
from mailstore.registry import discover
from tests.mailboxes import MailFiles


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def main(tmp_path: Path) -> Path:
    folder = tmp_path / "main"
    folder.mkdir()
    git(folder, "init", "-b", "main")
    git(folder, "commit", "--allow-empty", "-m", "x")
    return folder


def linked(main: Path, name: str) -> Path:
    folder = main.parent / "trees" / name
    git(main, "worktree", "add", str(folder), "-b", name)
    return folder


def test_a_linked_worktree_finds_the_mailbox_of_the_main_checkout(main: Path) -> None:
    tree = linked(main, "side")
    deep = tree / "src" / "deep"
    deep.mkdir(parents=True)
    with pytest.raises(MailboxMissing):
        discover(deep)
    mail = MailFiles(main)
    assert discover(tree) == discover(deep) == discover(main) == f"haak:{mail.mailbox}"
    own = MailFiles(tree)
    assert discover(deep) == f"haak:{own.mailbox}"


def test_a_worktree_within_the_main_checkout_finds_it_too(main: Path) -> None:
    git(main, "worktree", "add", ".trees/inner", "-b", "inner")
    mail = MailFiles(main)
    assert discover(main / ".trees" / "inner") == f"haak:{mail.mailbox}"


def test_the_main_checkout_comes_before_the_folders_above_the_worktree(main: Path) -> None:
    tree = linked(main, "side")
    MailFiles(main.parent)
    mail = MailFiles(main)
    assert discover(tree) == f"haak:{mail.mailbox}"
    assert [Path(each).name for each in searched(str(tree))][:3] == ["side", "main", "trees"]


def test_a_path_that_is_relative_to_the_worktree_is_followed(main: Path) -> None:
    tree = linked(main, "side")
    own = main / ".git" / "worktrees" / "side"
    (tree / ".git").write_text(f"gitdir: {os.path.relpath(own, tree)}\n", encoding="utf-8")
    (own / "gitdir").write_text(f"{os.path.relpath(tree / '.git', own)}\n", encoding="utf-8")
    mail = MailFiles(main)
    assert discover(tree) == f"haak:{mail.mailbox}"
    found = checkout_at(str(tree))
    assert found is not None
    assert (found.is_linked, found.main, found.branch, found.repository) == (True, str(main), "side", "main")


def test_a_git_file_that_the_repository_does_not_know_leads_nowhere(main: Path, tmp_path: Path) -> None:
    linked(main, "side")
    MailFiles(main)
    foreign = tmp_path / "unpacked"
    foreign.mkdir()
    (foreign / ".git").write_text(f"gitdir: {main}/.git/worktrees/side\n", encoding="utf-8")
    assert checkout_at(str(foreign)) is None
    assert found_from(str(foreign)) is None


@pytest.mark.parametrize(
    "content", [b"", b"gitdir: ", b"gitdir: /none\n", b"\xff\xfe", b"gitdir: \x00\n", b"x" * 100_000]
)
def test_a_damaged_git_file_is_no_checkout(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    found = checkout_at(str(tmp_path))
    assert found is None or not found.is_linked
    assert str(tmp_path) in list(searched(str(tmp_path)))


def test_a_pipe_named_git_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    assert checkout_at(str(tmp_path)) is None


def test_a_submodule_is_a_checkout_of_its_own(main: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (main / ".git" / "modules").mkdir()
    git(inner, "init", "--separate-git-dir", str(main / ".git" / "modules" / "inner"), "-b", "main")
    found = checkout_at(str(inner))
    assert found is not None
    assert not found.is_linked


def test_without_git_only_the_folders_above_are_looked_in(tmp_path: Path) -> None:
    folders = list(searched(str(tmp_path)))
    assert folders == [str(each) for each in (tmp_path, *tmp_path.parents)]
