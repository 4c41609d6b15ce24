"""Completion in the real shells: type, press tab, see."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mailboxes import MailFiles
from tests.shell.conftest import PROMPTS, SOURCED, installed, shell_environment
from tests.terminal import Terminal


class Prompt:
    """A shell at its prompt, with the program's completion."""

    def __init__(self, terminal: Terminal, home: Path, shell: str) -> None:
        self.terminal, self.home, self.shell = terminal, home, shell

    def completed(self, typed: str, expected: str) -> None:
        """Type a line, press tab, wait until it reads as expected, and drop it."""
        self.terminal.send(typed)
        self.terminal.press("tab")
        self.terminal.wait_for(lambda terminal: self._line(terminal).startswith(f"ready> {expected}"))
        self.dropped()

    def listed(self, typed: str, *expected: str) -> None:
        """Type a line, press tab twice, wait until all that is expected is listed, and drop the line."""
        self.terminal.send(typed)
        self.terminal.press("tab")
        if self.shell == "bash":
            self.terminal.press("tab")
        self.terminal.wait_for(lambda terminal: all(word in terminal.screen_text() for word in expected))
        self.dropped()

    def dropped(self) -> None:
        self.terminal.send("\x15\x0c")  # control-U and control-L
        self.terminal.wait_for(lambda terminal: terminal.screen_text().strip() == "ready>")

    @staticmethod
    def _line(terminal: Terminal) -> str:
        lines = [line for line in terminal.screen_text().splitlines() if line.startswith("ready> ")]
        return lines[-1] if lines else ""


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.program(name)) for name in PROMPTS])
def prompt(request: pytest.FixtureRequest, tmp_path: Path, mail: MailFiles, programs: str) -> Iterator[Prompt]:
    shell: str = request.param
    program = installed(shell)
    home = tmp_path / "home"
    home.mkdir()
    (home / "some file.html").touch()
    env = shell_environment(home, programs, mail)
    subprocess.run(["signalbox", "status"], env=env, cwd=home, check=True, capture_output=True, timeout=60)
    words, setup = PROMPTS[shell]
    with Terminal([program, *words], env=env, size=(120, 40), cwd=home) as terminal:
        line = SOURCED.get(shell, f'eval "$(signalbox completion {shell})"')
        terminal.send(f"{setup}; {line}; clear\r")
        terminal.wait_for(lambda terminal: terminal.screen_text().strip() == "ready>")
        yield Prompt(terminal, home, shell)
        terminal.send("\x15exit\r")  # shells at a prompt ignore the signal that ends other programs


def test_tab_completes(prompt: Prompt) -> None:
    prompt.completed("signalbox dead", "signalbox dead-letters ")
    prompt.listed("signalbox roster re", "register", "resume", "retire")
    prompt.completed("signalbox export --form", "signalbox export --format ")
    prompt.completed("signalbox export --format=mark", "signalbox export --format=markdown")
    prompt.completed("signalbox read --as an", "signalbox read --as ann-00000001 ")
    prompt.completed("signalbox thread ot", "signalbox thread other-3 ")
    prompt.listed("signalbox thread letter-", "letter-1", "letter-2")
    prompt.completed("signalbox --store aga", "signalbox --store aga")
    prompt.completed("signalbox --store haa", "signalbox --store haak:")
    prompt.completed("signalbox threads --view agent:an", "signalbox threads --view agent:ann-00000001")
    prompt.completed("signalbox export --output some", "signalbox export --output some\\ file.html")
    prompt.completed("signalbox convert haak:some", "signalbox convert haak:some\\ file.html")
    prompt.completed("signalbox threads --store=haak:some", "signalbox threads --store=haak:some\\ file.html")
    prompt.completed("signalbox send --to \\#in", "signalbox send --to \\#ink")


def test_the_name_of_an_agent_is_text_to_the_shell(prompt: Prompt) -> None:
    prompt.terminal.send("signalbox read --limit 1 --as \\$")
    prompt.terminal.press("tab")
    prompt.terminal.wait_for("1 ")
    prompt.terminal.wait_for(lambda terminal: "pwned" in terminal.screen_text() and "#1" in terminal.screen_text())
    prompt.terminal.send("\r")
    prompt.terminal.wait_for(lambda terminal: terminal.screen_text().rstrip().endswith("ready>"))
    assert "is not registered" not in prompt.terminal.screen_text()
    assert [path.name for path in prompt.home.iterdir() if "pwned" in path.name] == []
