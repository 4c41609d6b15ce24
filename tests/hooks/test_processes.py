"""Processes as `ps` tells of them, where there is no /proc."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from console.hooks.sessions import processes
from console.hooks.sessions.processes import is_gone, is_of_this_system, process_name, program_process

NEEDS_PS = pytest.mark.skipif(not os.access(processes.PS, os.X_OK), reason="ps is not installed")
PS = """#!/bin/sh
for pid; do :; done
case $pid in
    {ppid}) echo "    1 S+   Sun Nov 22 20:39:55 2026 /Applications/An Agent.app/bin/my agent";;
    77) echo "  1 Z   Sun Nov 22 20:39:55 2026 <defunct>";;
    88) echo "what is this";;
    *) exit 1;;
esac
"""


@pytest.fixture
def ps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system without /proc, on which this test's parent is a program."""
    program = tmp_path / "ps"
    program.write_text(PS.format(ppid=os.getppid()))
    program.chmod(0o755)
    monkeypatch.setattr(processes, "PROC", str(tmp_path / "no processes"))
    monkeypatch.setattr(processes, "PS", str(program))
    return program


def test_a_program_is_named_by_number_and_start(ps: Path) -> None:
    found = program_process()
    assert found == f"{os.getppid()} Nov-22-20:39:55-2026 {os.uname().nodename}"
    assert is_of_this_system(found)
    assert not is_gone(found)


def test_a_process_that_ps_can_t_tell_of_is_not_gone_while_its_number_is_taken(ps: Path) -> None:
    assert not is_gone(f"{os.getpid()} Nov-22-20:39:55-2026 {os.uname().nodename}")
    ps.unlink()
    assert program_process() == ""
    assert not is_gone(f"{os.getppid()} Nov-22-20:39:55-2026 {os.uname().nodename}")


def test_a_zombie_an_unknown_and_another_machines_process(ps: Path) -> None:
    assert process_name(77).split(" ")[1] == ""
    assert process_name(88) == process_name(99) == ""
    assert not is_of_this_system(f"{os.getppid()} Nov-22-20:39:55-2026 elsewhere")


@NEEDS_PS
def test_the_real_ps_tells_who_runs_and_who_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PROC", str(tmp_path / "no processes"))
    words = [sys.executable, "-c", "input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        name = process_name(process.pid)
        assert name.split(" ")[0] == str(process.pid)
        assert not is_gone(name)
        assert is_gone(name.replace("-20", "-19"))  # the number is used again
        process.communicate(b"\n")
    assert is_gone(name)
