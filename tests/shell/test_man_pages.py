"""The man pages: current, and rendered by `man` without a warning."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from console.cli.own_commands import all_commands
from manual.man_pages import MAN, man_pages
from tests.shell.conftest import STANDARD, installed

PAGES = man_pages()


def test_every_page_is_what_the_parsers_say() -> None:
    said = "run python -m manual.reference"
    assert (
        {path.name for path in MAN.iterdir()}
        == set(PAGES)
        == {"signalbox.1", *(f"signalbox-{name}.1" for name in all_commands())}
    )
    for name, text in PAGES.items():
        assert (MAN / name).read_text("utf-8") == text, said


def shown(*names: str) -> str:
    """Return pages as `man` shows them, of 80 columns; there must be no warning."""
    done = subprocess.run(
        [installed("man"), "--warnings", "-E", "UTF-8", "-l", *(str(MAN / name) for name in names)],
        env={"PATH": STANDARD, "LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MANPAGER": "cat", "GROFF_NO_SGR": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    bare = done.stdout
    while (at := bare.find("\b")) > 0:  # bold messages are struck twice
        bare = bare[: at - 1] + bare[at + 1 :]
    return bare


@pytest.mark.program("groff")
def test_no_page_holds_what_is_not_roff() -> None:
    words = [installed("groff"), "-K", "utf8", "-T", "utf8", "-man", "-ww", "-z", *(str(MAN / name) for name in PAGES)]
    done = subprocess.run(words, env={"PATH": STANDARD}, capture_output=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.program("man")
def test_man_shows_them_without_a_warning() -> None:
    page = shown("signalbox-search.1", "signalbox-dead-letters.1", "signalbox.1")
    assert "signalbox-search - Search messages" in page
    assert "from:NAME            the sender: an id, a name or a role" in page
    assert "Nothing is found; or refused or failed" in page
    assert "List dead letters, one row for each recipient (default)." in page
    assert "oversee the mail of AI agents" in page


@pytest.mark.program("man")
@pytest.mark.parametrize("name", ["signalbox.1", "signalbox-dead-letters.1"])
def test_man_finds_them_beside_the_program(name: str, tmp_path: Path) -> None:
    prefix = tmp_path
    (prefix / "bin").mkdir()
    (prefix / "share" / "man").mkdir(parents=True)
    (prefix / "share" / "man" / "man1").symlink_to(MAN)
    done = subprocess.run(
        [installed("man"), "-w", name.removesuffix(".1")],
        env={"PATH": f"{prefix / 'bin'}:{STANDARD}", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip().endswith(f"share/man/man1/{name}")
