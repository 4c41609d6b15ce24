"""A hook that is killed before any of its calls that change a file: nothing is lost, and nothing unseen is read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.hooks.hooked import AGENT, Hooked

SHOWN = ("--deliver", "letters")


@pytest.mark.parametrize("event", ["SessionStart", "PostToolBatch", "Stop", "SessionEnd"])
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
        out, _, status = hooked.forks.run(["claude-code", *SHOWN], hooked.input(event), hooked.env, killed_at=at)
        assert status in (0, 9)
        assert not out or json.loads(out), "half an answer"
        assert set(hooked.reads()) <= {"message-1"}, "a message that no model has answered"
        printed = out + hooked.claude("PostToolBatch", *SHOWN)
        assert "MARK-two" in printed
        hooked.claude("Stop", *SHOWN)
        hooked.claude("Stop", *SHOWN)
        assert sorted(hooked.reads()) == ["message-1", "message-2"]
        assert list(hooked.roster()) == [AGENT]
        assert hooked.log == ""
    assert at > 3
