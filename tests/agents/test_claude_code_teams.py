"""A team of Claude Code: its messages are found in the transcripts after the program has deleted inboxes and team."""

from __future__ import annotations

import json

import pytest

from tests.agents.claude_code import at_terminal
from tests.agents.dialects import Call, Step, call, say
from tests.agents.lab import Lab, type_line
from tests.agents.scripted_model import ScriptedModel

pytestmark = pytest.mark.program("claude-code")
LEAD = "run the team"
MATE = '<teammate-message teammate_id=\\"team-lead\\"'
MENDING = "Please mend it.\\n</teammate-message>"
PROMPT = {"description": "review", "prompt": "Review the parser.", "subagent_type": "general-purpose", "name": "ann"}


def test_an_ended_team_is_whole_from_what_the_program_leaves(lab: Lab) -> None:
    words = ("--permission-mode", "default", "--allowedTools", "Agent SendMessage")
    with ScriptedModel(
        Step(calls=(Call("Agent", PROMPT),), when=LEAD),
        say("waiting", when=LEAD),
        call("SendMessage", MATE, to="team-lead", message="The parser drops a comma.", summary="Parser"),
        say("done", when=MATE),
        call("SendMessage", "drops a comma", to="ann", message="Please mend it.", summary="Mend"),
        say("mended", when=MENDING),
        say("written", when="drops a comma"),
    ) as model:
        terminal = at_terminal(lab, model, *words, env={"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"})
        type_line(terminal, LEAD)
        model.wait_for("The parser drops a comma.\n</teammate-message>")
        model.wait_for("Please mend it.\n</teammate-message>")
        terminal.wait_for("mended")  # while a teammate works, it asks before it ends
        type_line(terminal, "/exit")
        assert terminal.wait_exit() == 0
    claude = lab.home / ".claude"
    assert not list((claude / "teams").glob("*"))
    rows = json.loads(lab.signalbox("search", "has:code OR -has:code", "--json", "--store", f"claude-teams:{claude}"))
    found = {(row["subject"], row["sender"].partition("@")[0], *row["states"].values()) for row in rows}
    assert {
        ("Review the parser.", "team-lead", "read"),
        ("Parser", "ann", "read"),
        ("Mend", "team-lead", "read"),
    } <= found
