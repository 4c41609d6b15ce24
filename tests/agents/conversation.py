"""Two sessions of Claude Code that talk through a mailbox, and the console that shows it: for a test and a picture."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.agents.claude_code import at_terminal, bash, check
from tests.agents.dialects import Step, say
from tests.agents.lab import Lab, type_line
from tests.agents.model_requests import ModelRequest
from tests.agents.scripted_model import ScriptedModel
from tests.terminal import Terminal

ARCHITECT, LIBRARIAN = "architect-7", "librarian-3"
ID = re.compile(r"^id: ([0-9a-f-]{36})$", re.MULTILINE)
AGENT_SIZE, CONSOLE_SIZE = (88, 40), (179, 20)


@dataclass(frozen=True, slots=True)
class Scene:
    """The terminals of a conversation."""

    console: Terminal
    architect: Terminal
    librarian: Terminal


def asking() -> ScriptedModel:
    """Return the architect's model: it asks the librarian, and tells its user what it hears."""
    words = "Is leaf 12 in? The printer comes at four."
    ask = f'signalbox send --from {ARCHITECT} --to {LIBRARIAN} --type question --subject "Leaf 12" --body "{words}"'
    return ScriptedModel(
        bash(ask),
        say("I have asked the librarian. I go on when the answer is there."),
        bash(check(ARCHITECT)),
        say("Leaf 12 is in, but its second page is torn: I leave that page out for the printer."),
    )


def answering() -> ScriptedModel:
    """Return the librarian's model: it reads the question and answers it."""
    return ScriptedModel(
        say("The catalogue is in order. I am ready."),
        bash(check(LIBRARIAN)),
        _reply(LIBRARIAN, ARCHITECT, "Leaf 12 is in since noon. Its second page is torn, the others are whole."),
        say("I have answered the architect."),
    )


def _reply(sender: str, recipient: str, body: str) -> Callable[[ModelRequest], Step]:
    def answered(request: ModelRequest) -> Step:
        message = ID.findall(request.find("[mail ")[-1].text)[-1]
        words = f'--from {sender} --to {recipient} --subject "Leaf 12" --in-reply-to {message} --body "{body}"'
        return bash(f"signalbox send {words}")

    return answered


def scene(lab: Lab, architect: ScriptedModel, librarian: ScriptedModel) -> Scene:
    """Install the hooks, open the console and both sessions, and have the conversation until both are idle again."""
    lab.install_hooks("claude-code", "--wake")
    lab.ignore_mailbox()
    console = lab.terminal(["signalbox", "open", lab.url], size=CONSOLE_SIZE)
    console.wait_for("This mailbox is empty")
    second = _session(lab, librarian, LIBRARIAN, "librarian", "domain:leaves")
    type_line(second, "Put the catalogue in order.")
    second.wait_for("I am ready")
    lab.wait_idle(LIBRARIAN)
    first = _session(lab, architect, ARCHITECT, "architect", "concern:layout")
    type_line(first, "Prepare leaf 12 for the printer.")
    first.wait_for("I leave that page out")
    second.wait_for("I have answered the architect")
    lab.wait_doing(ARCHITECT, "idle")
    lab.wait_doing(LIBRARIAN, "idle")
    return Scene(console, first, second)


def _session(lab: Lab, model: ScriptedModel, agent: str, role: str, tags: str) -> Terminal:
    words = ("--permission-mode", "default", "--verbose")
    variables = {"SIGNALBOX_AGENT": agent, "SIGNALBOX_ROLE": role, "SIGNALBOX_TAGS": tags}
    return at_terminal(lab, model, *words, size=AGENT_SIZE, env=variables)
