"""What the user writes in the console reaches real programs as their user's words, idle and at work, and only once."""

from __future__ import annotations

import pytest

from tests.agents import claude_code, codex, opencode
from tests.agents.dialects import say
from tests.agents.lab import ROOT, Lab, type_line
from tests.agents.scripted_model import ScriptedModel
from tests.agents.story import only_agent
from tests.terminal import SIGNALBOX, Terminal

WORDS = "Leave the index alone."
USERS = "from your user (as far as this machine can know)"


def codex_at_terminal(lab: Lab, model: ScriptedModel) -> Terminal:
    if not (lab.root / "bin" / "codex").exists():
        (lab.root / "bin" / "codex").symlink_to(codex.CODEX.path)  # the console finds it on its PATH
    codex.configure(lab, model)
    return codex.at_terminal(lab)


def opencode_at_terminal(lab: Lab, model: ScriptedModel) -> Terminal:
    opencode.configure(lab, model)
    return opencode.at_terminal(lab)


PROGRAMS = {"codex": codex_at_terminal, "opencode": opencode_at_terminal}
SHELLS = {"codex": codex.shell, "opencode": opencode.shell}
EACH = [pytest.param(name, marks=pytest.mark.program(name)) for name in PROGRAMS]


def write(lab: Lab, agent: str, subject: str = "Index") -> None:
    """Write to an agent in the console without a screen, in which what is typed is the same for all sizes."""
    settings = lab.home / ".config" / "signalbox"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "config.toml").write_text("[deliver]\nmine = true\n")
    console = lab.terminal([*SIGNALBOX, "open", "--plain", lab.url], env={"PYTHONPATH": str(ROOT)})
    console.wait_for(">")
    for asked, line in (("", f"send {agent}"), ("Subject:", subject), ("Write the text.", WORDS), ("", ".")):
        console.wait_for(asked)
        type_line(console, line)
    console.wait_for("Sent to")


@pytest.mark.parametrize("name", EACH)
def test_an_idle_program_takes_it_as_its_users_prompt(name: str, lab: Lab) -> None:
    lab.install_hooks(name)
    with ScriptedModel(say("ready"), SHELLS[name]("true"), SHELLS[name]("true"), say("understood")) as model:
        terminal = PROGRAMS[name](lab, model)
        type_line(terminal, "hello")
        terminal.wait_for("ready", 60)
        agent = only_agent(lab)
        lab.wait_doing(agent, "idle")
        write(lab, agent)
        terminal.wait_for("understood", 60)
        assert terminal.find(WORDS), "shown as what the user typed"
        [sent] = lab.messages()
        lab.wait_reads(agent, [sent])
        found = [one for one in model.requests[-1].find(WORDS) if one.role == "user"]
        assert len(found) == 1
        assert sum(request.holds(USERS) for request in model.requests) == 0, "it is not announced besides"
        lab.wait_doing(agent, "idle")
        assert len(model.requests) == 4


@pytest.mark.parametrize("name", EACH)
def test_a_program_at_work_takes_it_once(name: str, lab: Lab) -> None:
    lab.install_hooks(name)
    shell = SHELLS[name]
    steps = shell("true", before=lambda: write(lab, only_agent(lab))), shell("true"), say("done"), say("understood")
    with ScriptedModel(*steps, say("understood, too")) as model:
        terminal = PROGRAMS[name](lab, model)
        type_line(terminal, "hello")
        terminal.wait_for("understood" if name == "codex" else "done", 90)
        agent = only_agent(lab)
        lab.wait_doing(agent, "idle")
        lab.wait_reads(agent, lab.messages())
        assert len([one for one in model.requests[-1].find(WORDS) if one.role == "user"]) == 1
        assert sum(request.holds(USERS) for request in model.requests) == 0


@pytest.mark.program("claude-code")
def test_claude_code_hears_of_it_as_mail_from_its_user(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    steps = claude_code.bash("true", before=lambda: write(lab, only_agent(lab))), say("done"), say("understood")
    with ScriptedModel(*steps, say("understood")) as model:
        assert claude_code.print_mode(lab, model, "hello", "--allowedTools", "Bash").status == 0
        [told] = [one for one in model.requests[1].find("Signalbox: 1 new message") if USERS in one.text]
        assert WORDS not in told.text
