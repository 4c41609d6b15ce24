"""The story that every program must tell: a message at the start, one between tools, one at the end of the turn.

The model does what each notice says, with the command that stands in it.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.agents.dialects import Step, say
from tests.agents.lab import Lab
from tests.agents.model_requests import ModelRequest
from tests.agents.notices import Notice, new_notices, notices
from tests.agents.scripted_model import Planned
from tests.terminal import Terminal

COMMAND = re.compile(r'"(signalbox check [^"]+)"')
Shell = Callable[[str], Step]


def only_agent(lab: Lab) -> str:
    """Return the id of the one agent of the mailbox."""
    (agent,) = lab.agents()
    return agent


def kill(terminal: Terminal, lab: Lab, agent: str) -> None:
    """Kill a program with all that it started, and wait until its agent is shown as gone."""
    os.killpg(terminal.pid, signal.SIGKILL)
    lab.until(lambda: {"gone", "stale"} & set(lab.doing(agent).split(", ")), f"{agent} is gone: {lab.doing(agent)}")


def as_told(shell: Shell) -> Planned:
    """Return the step in which the model runs the command of the last notice that it was given."""

    def obey(request: ModelRequest) -> Step:
        return shell(COMMAND.findall(notices(request)[-1].line)[-1])

    return obey


@dataclass
class Story:
    """The messages in the order in which they are sent; `steps` sends all but the first, which `begin` does."""

    lab: Lab
    shell: Shell
    sent: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Send the message that waits when the session starts."""
        self.sent.append(self.lab.send("all", "BODY-START"))

    def steps(self) -> list[Planned]:
        """Return what the model does until the last message is read."""
        return [*self.until_the_turn_ends(), self.ends_too_early(), as_told(self.shell), say("finished")]

    def until_the_turn_ends(self) -> list[Planned]:
        """Return what the model does with the messages at the start and between tools."""
        return [as_told(self.shell), self._works, as_told(self.shell)]

    def ends_too_early(self) -> Step:
        """Return the end of the turn, before which one more message comes."""
        return say("done", before=lambda: self._send("BODY-END"))

    def _works(self, request: ModelRequest) -> Step:
        self._send("BODY-MIDDLE")
        return self.shell("echo one")

    def _send(self, body: str) -> None:
        self.sent.append(self.lab.send(only_agent(self.lab), body, type="question"))

    def check(self, requests: Sequence[ModelRequest], *places: tuple[str, str]) -> None:
        """Assert that notices came when and where they should, bodies as tools' results, and what is recorded.

        `places` are the role and the kind of block of the notices at the start, between tools and at the turn's end.
        """
        agent = only_agent(self.lab)
        told = new_notices(requests)
        expected = [
            f"you are {agent}",
            None,
            f"1 new message for {agent}, from boss (question)",
            None,
            f"1 message for {agent} is unread, from boss",
            None,
        ]
        assert len(told) == len(requests) == 2 * len(places), told
        for found, line in zip(told, expected, strict=False):
            assert [line is not None and line in one.line for one in found] == [True] * (line is not None), told
        assert [Notice(*place, found[0].line) for place, found in zip(places, told[::2], strict=True)] == [
            found[0] for found in told[::2]
        ]
        bodies = ("BODY-START", "BODY-MIDDLE", "BODY-END")[: len(places)]
        for body, before, after in zip(bodies, requests[::2], requests[1::2], strict=True):
            assert not before.holds(body)
            assert len(after.find(body)) == 1
        assert self.lab.reads_of(agent) == self.sent[: len(places)]

    def check_again(self, requests: Sequence[ModelRequest]) -> None:
        """Assert that the session, resumed, is the same agent and is told of no message again."""
        before = {notice.line for request in requests[:-1] for notice in notices(request)}
        new = [notice.line for notice in notices(requests[-1]) if notice.line not in before]
        assert all("No unread messages" in line for line in new), new
        assert self.lab.reads_of(only_agent(self.lab)) == self.sent
