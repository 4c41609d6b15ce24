"""The terminal in which an agent's program runs: gone to where it is a pane of tmux, else named."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from console.hooks.sessions import processes
from console.hooks.sessions.live import live_hooks
from console.hooks.sessions.processes import process_name, terminal_of
from console.screens.agent_terminal import shown_terminal
from mailstore.haak import HaakStore
from mailstore.state.views import View
from tests.console.screen_text import opened
from tests.hooked import ended_process, hooked
from tests.mailboxes import NOW, MailFiles
from tests.terminal import Terminal, environment

ANN = "ann-00000001"
Calls = Callable[[], list[list[str]]]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[str]:
    """A program at a terminal of its own, as hooks name it."""
    words = [sys.executable, "-c", "print('at work', flush=True); input()"]
    with Terminal(words, env=environment(tmp_path)) as terminal:
        terminal.wait_for("at work")
        yield process_name(terminal.pid)


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path / "mail")
    mail.agent(ANN)
    mail.message("m", ANN, "user", "The lamp.", ago=60, subject="Lamp")
    return mail


def fake_tmux(folder: Path, monkeypatch: pytest.MonkeyPatch, panes: str, then: str = "") -> Calls:
    """Put a `tmux` on the PATH that lists panes and notes all else; return a function that returns what it noted."""
    bin_folder, noted = folder / "bin", folder / "tmux-calls"
    bin_folder.mkdir()
    tmux = bin_folder / "tmux"
    tmux.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        f"if sys.argv[1] == 'list-panes': sys.exit(print({panes!r}))\n"
        f"with open({str(noted)!r}, 'a') as file: file.write(json.dumps(sys.argv[1:]) + '\\n')\n{then}\n"
    )
    tmux.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    return lambda: [json.loads(line) for line in noted.read_text().splitlines()] if noted.exists() else []


def shown(mail: MailFiles, process: str) -> str:
    hooked(mail.url, ANN, doing="waiting", since=NOW, last_run=NOW, extra={"process": process})
    with HaakStore.open(mail.data) as store:
        return shown_terminal(ANN, live_hooks(store.url, NOW)[ANN])


def test_in_tmux_its_pane_is_shown(
    mail: MailFiles, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panes = f"/dev/pts/99999\t%1\tother\t0.0\n{terminal_of(program)}\t%7\tink\t2.1"
    calls = fake_tmux(tmp_path, monkeypatch, panes)
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    assert shown(mail, program) == f"{ANN} is in the tmux pane ink:2.1"
    assert calls() == [["switch-client", "-t", "%7"]]


def test_from_outside_its_pane_is_selected_and_the_command_said(
    mail: MailFiles, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_tmux(tmp_path, monkeypatch, f"{terminal_of(program)}\t%7\tink\t2.1")
    monkeypatch.delenv("TMUX", raising=False)
    assert shown(mail, program) == f"{ANN} is in the tmux pane ink:2.1 · tmux attach -t 'ink' shows it"
    assert calls() == [["select-window", "-t", "%7", ";", "select-pane", "-t", "%7"]]


def test_what_can_not_be_shown_is_named(
    mail: MailFiles, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = terminal_of(program)
    assert terminal.startswith("/dev/")
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path))
        assert shown(mail, program) == f"{ANN} runs at {terminal}, not in this tmux"
    fake_tmux(tmp_path, monkeypatch, f"{terminal}\t%7\tink\t2.1", "sys.exit(1)")
    assert shown(mail, program) == f"{ANN} runs in the tmux pane ink:2.1, which could not be shown"


def test_no_terminal_is_known_of_what_has_ended_or_runs_elsewhere(program: str) -> None:
    pid, started, _ = program.split(" ")
    for process in ("", ended_process()["process"], f"{pid} {started} another-system"):
        assert terminal_of(process) == ""


def test_where_there_is_no_table_of_processes_ps_is_asked(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "is_gone", lambda process: False)
    monkeypatch.setattr(processes, "is_of_this_system", lambda process: True)
    monkeypatch.setattr(processes, "PROC", str(tmp_path / "none"))
    told = tmp_path / "ps"
    for printed, found in (("ttys004", "/dev/ttys004"), ("??", "")):
        told.write_text(f"#!/bin/sh\necho '{printed}'\n")
        told.chmod(0o755)
        monkeypatch.setattr(processes, "PS", str(told))
        assert terminal_of(program) == found
    monkeypatch.setattr(processes, "PS", str(tmp_path / "none"))
    assert terminal_of(program) == ""


async def test_a_key_goes_there_from_the_agent(
    mail: MailFiles, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_tmux(tmp_path, monkeypatch, f"{terminal_of(program)}\t%7\tink\t2.1")
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    hooked(mail.url, ANN, doing="working", since=NOW, last_run=NOW, extra={"process": program})
    async with opened(mail.data) as seat:
        await seat.until(lambda: ANN in seat.app.session.hooked.live)
        seat.screen.show_view(View("agent", ANN))
        await seat.press("H")
        await seat.sees("go to its terminal")
        await seat.press("p")
        await seat.until(lambda: seat.notice == f"{ANN} is in the tmux pane ink:2.1")
    assert calls() == [["switch-client", "-t", "%7"]]
