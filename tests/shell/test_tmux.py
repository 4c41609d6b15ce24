"""The segment in a real tmux: it shows the numbers, and others when mail comes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mailboxes import MailFiles
from tests.shell.conftest import ROOT, installed, shell_environment
from tests.terminal import Terminal


def snippet() -> str:
    """Return the lines that docs/shell.md tells people to put into their settings of tmux."""
    page = (ROOT / "docs" / "shell.md").read_text("utf-8")
    found = re.search(r"```tmux\n(.*?)```", page, re.DOTALL)
    assert found
    return found[1]


pytestmark = pytest.mark.program("tmux")


@pytest.fixture
def tmux(tmp_path: Path, mail: MailFiles, programs: str) -> Iterator[Terminal]:
    program = installed("tmux")
    home = tmp_path / "home"
    home.mkdir()
    settings = home / "tmux.conf"
    settings.write_text(f"set -g default-shell /bin/sh\n{snippet()}\nset -g status-interval 1\nset -g status-left ''\n")
    env = shell_environment(home, programs, mail)
    words = [program, "-S", str(home / "socket"), "-f", str(settings)]
    with Terminal([*words, "new-session"], env=env, size=(100, 10), cwd=home) as terminal:
        try:
            yield terminal
        finally:
            subprocess.run([*words, "kill-server"], env=env, capture_output=True, timeout=20, check=False)


def test_the_segment_shows_the_numbers_and_changes(tmux: Terminal, mail: MailFiles) -> None:
    tmux.wait_for("1 for you 1 dead 3 new")
    assert "#[" not in tmux.screen_text()
    mail.message("letter-9", "ann-00000001", "user")
    tmux.wait_for("2 for you 1 dead 4 new")
