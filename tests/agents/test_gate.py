"""Real programs, held in the middle of their work and released, and stopped: their tools don't run meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from console.hooks.sessions.session_state import HELD
from tests.agents import claude_code, codex, copilot, gemini, opencode
from tests.agents.dialects import Step, say
from tests.agents.lab import Lab
from tests.agents.scripted_model import ScriptedModel
from tests.agents.story import only_agent

WHY = "the museum calls"
CALLS, HELD_AT = 20, 10


class Told(NamedTuple):
    """How a program is run to its end, and its model's step that runs a command; whether a stop ends its turn."""

    run: Callable[[Lab, ScriptedModel], object]
    shell: Callable[..., Step]
    ends: bool


def _codex(lab: Lab, model: ScriptedModel) -> object:
    codex.configure(lab, model)
    return codex.execute(lab, "hello")


def _gemini(lab: Lab, model: ScriptedModel) -> object:
    gemini.configure(lab)
    return lab.run(
        [str(gemini.GEMINI.path), *gemini.MODEL, "--approval-mode", "yolo", "-p", "hello"], env=gemini.variables(model)
    )


def _opencode(lab: Lab, model: ScriptedModel) -> object:
    opencode.configure(lab, model)
    return lab.run([str(opencode.OPENCODE.path), "run", "hello"], env=opencode.QUIET)


def _copilot(lab: Lab, model: ScriptedModel) -> object:
    copilot.configure(lab)
    return copilot.print_mode(lab, model, "hello")


def _claude_code(lab: Lab, model: ScriptedModel) -> object:
    return claude_code.print_mode(lab, model, "hello", "--allowedTools", "Bash")


PROGRAMS = {
    "claude-code": Told(_claude_code, claude_code.bash, ends=True),
    "codex": Told(_codex, codex.shell, ends=False),
    "gemini": Told(_gemini, gemini.shell, ends=True),
    "opencode": Told(_opencode, opencode.shell, ends=True),
    "copilot": Told(_copilot, copilot.shell, ends=False),
}
EACH = [pytest.param(name, marks=pytest.mark.program(name)) for name in PROGRAMS]


@pytest.mark.parametrize("name", EACH)
def test_a_held_program_waits_with_its_tool_until_it_is_released(name: str, lab: Lab) -> None:
    program = PROGRAMS[name]
    lab.install_hooks(name, "--gate")
    files = [lab.repository / f"{number}.txt" for number in range(CALLS)]

    def hold() -> None:
        lab.signalbox("hold", only_agent(lab), "--why", WHY, "--store", lab.url)

    steps = [
        program.shell(f"touch {file.name}", before=hold if at == HELD_AT else None) for at, file in enumerate(files)
    ]
    with ScriptedModel(*steps, say("done")) as model, ThreadPoolExecutor(1) as pool:
        done = pool.submit(program.run, lab, model)
        lab.until(lambda: held(lab), f"{name} says that it is held")
        assert [file.exists() for file in files] == [at < HELD_AT for at in range(CALLS)]
        assert not done.done()
        lab.signalbox("release", only_agent(lab), "--store", lab.url)
        done.result(90)
    assert all(file.exists() for file in files)
    assert model.steps_left == 0
    assert not any(request.find("Held by your user") for request in model.requests), "the model knows nothing of it"


@pytest.mark.parametrize("name", EACH)
def test_a_stopped_program_runs_no_tool_any_more_and_its_model_reads_why(name: str, lab: Lab) -> None:
    program = PROGRAMS[name]
    lab.install_hooks(name, "--gate")
    files = [lab.repository / f"{word}.txt" for word in ("first", "second")]

    def stop() -> None:
        lab.signalbox("stop", only_agent(lab), "--why", WHY, "--store", lab.url)

    steps = [program.shell("touch first.txt"), program.shell("touch second.txt", before=stop)]
    with ScriptedModel(*steps, say("I end my turn")) as model:
        program.run(lab, model)
    assert [file.exists() for file in files] == [True, False]
    told = [request for request in model.requests if request.find(f": {WHY}. End your turn")]
    assert (len(told), model.steps_left) == ((0, 1) if program.ends else (1, 0))


@pytest.mark.parametrize("name", EACH)
def test_a_program_reads_which_task_was_cancelled_at_its_next_tool_and_goes_on(name: str, lab: Lab) -> None:
    program = PROGRAMS[name]
    lab.install_hooks(name, "--gate")
    files = [lab.repository / f"{word}.txt" for word in ("first", "second", "third")]

    def cancel() -> None:
        task = lab.send(only_agent(lab), "Mend it.", subject="The lamp", type="task-assigned")
        words = ("--from", "user", "--to", only_agent(lab), "--type", "cancel", "--thread", task, "--body", WHY)
        lab.signalbox("send", *words, "--subject", "stop it", "--store", lab.url)

    steps = [program.shell(f"touch {file.name}", before=cancel if at == 1 else None) for at, file in enumerate(files)]
    with ScriptedModel(*steps, say("done")) as model:
        program.run(lab, model)
    assert [file.exists() for file in files] == [True, False, True]
    told = [bool(request.find(f"The lamp: {WHY}. Stop working on it")) for request in model.requests]
    assert told[:4] == [False, False, True, True], "as the result of the second call, and of none else"


@pytest.mark.program("claude-code")
def test_a_subagents_tool_is_held_with_its_session_and_stopped(lab: Lab) -> None:
    lab.install_hooks("claude-code", "--gate")
    first, second = (lab.repository / f"{word}.txt" for word in ("first", "second"))

    def order(word: str) -> Callable[[], object]:
        return lambda: lab.signalbox(word, only_agent(lab), "--why", WHY, "--store", lab.url)

    steps = (
        claude_code.call_agent("INNER look"),
        claude_code.bash("touch first.txt", when="INNER", before=order("hold")),
        claude_code.bash("touch second.txt", when="INNER", before=order("stop")),
        say("inner done"),
        say("done"),
    )
    with ScriptedModel(*steps) as model, ThreadPoolExecutor(1) as pool:
        done = pool.submit(claude_code.print_mode, lab, model, "hello", "--allowedTools", "Bash,Agent")
        lab.until(lambda: held(lab), "the session says that it is held")
        assert not first.exists()
        lab.signalbox("release", only_agent(lab), "--store", lab.url)
        lab.until(first.exists, "the tool of the subagent runs")
        done.result(90)
    assert not second.exists()


def held(lab: Lab) -> bool:
    """Say whether the program's hook has noted that it waits."""
    return any(state.doing == HELD for state in lab.sessions())
