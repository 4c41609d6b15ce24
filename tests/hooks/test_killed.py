"""A hook that is killed before any of its calls that change a file: nothing is lost, and nothing unseen is read."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hooks.hooked import AGENT, Hooked

KILLED = (
    "import os, sys; sys.path.insert(0, sys.argv[1])\n"
    "left = int(sys.argv[2])\n"
    "def dying(call):\n"
    "    def called(*given, **named):\n"
    "        global left\n"
    "        left -= 1\n"
    "        if not left: os._exit(9)\n"
    "        return call(*given, **named)\n"
    "    return called\n"
    "for name in ('write', 'rename', 'ftruncate', 'utime', 'link', 'unlink', 'mkdir'):\n"
    "    setattr(os, name, dying(getattr(os, name)))\n"
    "from console.hooks import clock, entry\n"
    "clock.LIMIT_SECONDS = 60.0\n"
    "os._exit(entry.hook(['claude-code', '--deliver', 'letters']))"
)
SHOWN = ("--deliver", "letters")


@pytest.mark.parametrize("event", ["SessionStart", "PostToolBatch"])
def test_a_killed_hook_loses_nothing(hooked: Hooked, tmp_path: Path, event: str) -> None:
    hooked.claude("SessionStart", *SHOWN)
    hooked.send(text="MARK-one")
    assert "MARK-one" in hooked.claude("UserPromptSubmit", *SHOWN)
    hooked.send(text="MARK-two")
    before = tmp_path / "before"
    shutil.copytree(hooked.data, before / "data")
    shutil.copytree(hooked.state, before / "state")
    status, at = 9, 0
    while status == 9:
        at += 1
        shutil.rmtree(hooked.data)
        shutil.rmtree(hooked.state)
        shutil.copytree(before / "data", hooked.data)
        shutil.copytree(before / "state", hooked.state)
        argv = [sys.executable, "-I", "-S", "-c", KILLED, str(Path(__file__).parents[2]), str(at)]
        done = subprocess.run(
            argv, input=hooked.input(event), env=hooked.env, capture_output=True, text=True, check=False
        )
        status = done.returncode
        assert status in (0, 9)
        assert not done.stdout or json.loads(done.stdout), "half an answer"
        assert set(hooked.reads()) <= {"letter-1"}, "a letter that no model has answered"
        printed = done.stdout + hooked.claude("PostToolBatch", *SHOWN)
        assert "MARK-two" in printed
        hooked.claude("Stop", *SHOWN)
        hooked.claude("Stop", *SHOWN)
        assert sorted(hooked.reads()) == ["letter-1", "letter-2"]
        assert list(hooked.roster()) == [AGENT]
        assert hooked.log == ""
    assert at > 3
