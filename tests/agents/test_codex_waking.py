"""An idle session of Codex is woken through its queue when it is asked something."""

from __future__ import annotations

import pytest

from tests.agents.codex import CODEX, at_terminal, configure, shell
from tests.agents.dialects import say
from tests.agents.lab import Lab, type_line
from tests.agents.scripted_model import ScriptedModel

pytestmark = pytest.mark.program("codex")
LIBRARIAN = "librarian-3"


def test_a_question_wakes_an_idle_session_which_reads_it(lab: Lab) -> None:
    (lab.root / "bin" / "codex").symlink_to(CODEX.path)  # `signalbox send` finds it on its PATH
    lab.install_hooks("codex", "--wake")
    steps = say("I am ready."), shell(f"signalbox check --as {LIBRARIAN}"), say("The leaf is in.")
    with ScriptedModel(*steps) as model:
        configure(lab, model)
        terminal = at_terminal(lab, env={"SIGNALBOX_AGENT": LIBRARIAN})
        type_line(terminal, "Put the catalogue in order.")
        terminal.wait_for("I am ready.")
        lab.wait_doing(LIBRARIAN, "idle")
        lab.send(LIBRARIAN, "Mind the dust.", type="status")  # of a type that wakes nobody
        message = lab.send(LIBRARIAN, "Is leaf 12 in?", type="question")
        terminal.wait_for("The leaf is in.")
        [notice] = [found.text for found in model.requests[1].find("Signalbox: ") if found.role == "user"]
        assert f"for {LIBRARIAN}, from boss (question)" in notice
        assert "leaf 12" not in notice
        lab.until(lambda: message in lab.reads_of(LIBRARIAN), "the question is read")
        lab.wait_doing(LIBRARIAN, "idle")
        assert len(model.requests) == 3
