"""Two real sessions of Claude Code talk through a mailbox while the console shows it."""

from __future__ import annotations

import pytest

from tests.agents.conversation import ARCHITECT, LIBRARIAN, answering, asking, scene
from tests.agents.lab import Lab

pytestmark = pytest.mark.program("claude-code")


def test_two_sessions_talk_while_the_console_shows_it(lab: Lab) -> None:
    with asking() as architect, answering() as librarian:
        seen = scene(lab, architect, librarian)
        assert (architect.steps_left, librarian.steps_left) == (0, 0)
        question, answer = lab.messages()
        assert (lab.reads_of(LIBRARIAN), lab.reads_of(ARCHITECT)) == ([question], [answer])
        seen.console.wait_for("Leaf 12")
        seen.console.press("enter")
        seen.console.wait_for("The printer comes at four.")
        seen.console.wait_for("Leaf 12 is in since noon")
