"""Real programs that ask for a permission: it is given or denied from elsewhere, or at their terminal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from console.hooks.permissions import (
    ALLOW,
    DENY,
    ELSEWHERE,
    PermissionAnswer,
    PermissionRequest,
    answer,
    folder_of,
    requests_in,
)
from console.hooks.sessions.session_state import WAITING, WORKING
from tests.agents import claude_code, codex, copilot, opencode
from tests.agents.dialects import Step, call, say
from tests.agents.lab import ROOT, Lab, type_line
from tests.agents.scripted_model import ScriptedModel
from tests.agents.story import only_agent
from tests.terminal import SIGNALBOX

WORDS = "the museum says no"


def _claude_code(lab: Lab, model: ScriptedModel) -> None:
    type_line(claude_code.at_terminal(lab, model, "--permission-mode", "default"), "hello")


def _codex(lab: Lab, model: ScriptedModel) -> None:
    codex.configure(lab, model)
    words = [str(codex.CODEX.path), codex.UNREVIEWED, "-s", "workspace-write", "-a", "on-request"]
    terminal = lab.terminal(words)
    terminal.wait_for("›")
    type_line(terminal, "hello")


def _opencode(lab: Lab, model: ScriptedModel) -> None:
    opencode.configure(lab, model, bash="ask")
    type_line(opencode.at_terminal(lab), "hello")


def _copilot(lab: Lab, model: ScriptedModel) -> None:
    copilot.configure(lab)
    copilot.start_print_mode(lab, model, "hello")


def _escalated(command: str) -> Step:
    more = {"sandbox_permissions": "require_escalated", "justification": "because"}
    return call("exec_command", "", None, cmd=command, **more)


PROGRAMS: dict[str, tuple[Callable[[Lab, ScriptedModel], None], Callable[[str], Step]]] = {
    "claude-code": (_claude_code, claude_code.bash),
    "codex": (_codex, _escalated),
    "opencode": (_opencode, opencode.shell),
    "copilot": (_copilot, copilot.shell),
}
EACH = [pytest.param(name, marks=pytest.mark.program(name)) for name in PROGRAMS]


def folder(lab: Lab) -> str:
    """Return the folder of the requests."""
    states = [path for path in (lab.home / ".local/state/signalbox/hooks").glob("*") if path.is_dir()]
    return folder_of(str(states[0])) if states else ""


def asked(lab: Lab, outcome: str = "") -> PermissionRequest:
    """Wait for a request, or for what becomes of it."""
    found: list[PermissionRequest] = []

    def look() -> bool:
        found[:] = [each for each in requests_in(folder(lab)) if each.outcome == outcome]
        return bool(found)

    lab.until(look, f"a permission is asked for: {outcome or 'open'}")
    return found[-1]


@pytest.mark.parametrize("name", EACH)
def test_a_permission_is_given_once_and_denied_with_words(name: str, lab: Lab) -> None:
    start, shell = PROGRAMS[name]
    lab.install_hooks(name, "--gate")
    first, second = (lab.repository / f"{word}.txt" for word in ("first", "second"))
    with ScriptedModel(shell("touch first.txt"), shell("touch second.txt"), say("done")) as model:
        start(lab, model)
        request = asked(lab)
        assert "touch first.txt" in request.given
        assert not first.exists()
        assert answer(folder(lab), request.id, PermissionAnswer(ALLOW, "user"))
        assert not answer(folder(lab), request.id, PermissionAnswer(DENY, "user")), "once"
        asked(lab, ALLOW)
        lab.until(first.exists, "the tool runs")
        request = asked(lab)
        assert answer(folder(lab), request.id, PermissionAnswer(DENY, "user", WORDS))
        model.wait_count(3)
        assert [request.holds(WORDS) for request in model.requests] == [False, False, True]
    assert not second.exists()


@pytest.mark.program("claude-code")
def test_what_is_answered_at_its_terminal_is_asked_nowhere_else_while_the_tool_runs(lab: Lab) -> None:
    lab.install_hooks("claude-code", "--gate")
    running = lab.repository / "running.txt"
    command = f"touch {running.name}; while test -e {running.name}; do sleep 0.1; done"
    with ScriptedModel(claude_code.bash(command), say("done")) as model:
        terminal = claude_code.at_terminal(lab, model, "--permission-mode", "default")
        type_line(terminal, "hello")
        asked(lab)
        terminal.wait_for("Do you want to proceed?")
        lab.until(lambda: lab.doing(only_agent(lab)) == WAITING, "it is shown to wait")
        terminal.press("enter")
        lab.until(running.exists, "the tool runs")
        asked(lab, ELSEWHERE)
        assert lab.doing(only_agent(lab)) == WORKING, "though no hook has run since"
        running.unlink()
        model.wait_count(2)


@pytest.mark.program("claude-code")
def test_a_turn_is_ended_and_a_models_question_answered_in_words_in_the_console(lab: Lab) -> None:
    lab.install_hooks("claude-code", "--gate")
    options = [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]
    question = {"question": "Which colour?", "header": "Colour", "multiSelect": False, "options": options}
    with ScriptedModel(
        call("AskUserQuestion", "", None, questions=[question]), claude_code.bash("touch first.txt"), say("no turn")
    ) as model:
        terminal = claude_code.at_terminal(lab, model, "--permission-mode", "default")
        console = lab.terminal([*SIGNALBOX, "open", lab.url], env={"PYTHONPATH": str(ROOT)})
        console.wait_for("Signalbox")
        type_line(terminal, "hello")
        asked(lab)
        console.press("p")
        console.wait_for("1. Red · 2. Blue")
        console.press("y")
        console.wait_for("in words")
        console.press("w")
        console.wait_for("Numbers, or your own words")
        type_line(console, "Green, says the user")
        model.wait_count(2)
        assert model.requests[-1].find("The user answered")
        assert model.requests[-1].find("Green, says the user")
        console.wait_for("touch first.txt")
        console.press("y")
        console.wait_for("deny, and end its turn")
        console.press("e")
        console.wait_for("Turn ended")
        lab.wait_idle(only_agent(lab))
        assert len(model.requests) == 2
    assert not (lab.repository / "first.txt").exists()
    found = [(each["action"], each["details"]["tool"]) for each in lab.records("agent-mailbox-oversight.jsonl")]
    assert found == [("allow", "AskUserQuestion"), ("end", "Bash")]
