"""The programs that run hooks: one module each reads a program's input and words the answers to it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from console.hooks.events import Answer, HookEvent
    from console.hooks.permissions import PermissionAnswer

    class Program(Protocol):
        """A module of this package."""

        NAME: str
        """As it is called in commands: `signalbox hook run NAME`."""
        SHORT: str
        """How the ids of its agents begin."""
        STATUS_FOLDER: tuple[str, ...]
        """Where it says of each process, in a file `PID.json`, whether it waits for its user; empty if nowhere.

        The variable that names its folder, how that is called in the home folder without it, and the folder in it.
        """

        def read(self, given: dict[str, Any], event: str, env: Mapping[str, str]) -> HookEvent | None:
            """Return what has happened; None for an unknown event, and for the hook of another program.

            `given` is the decoded standard input, `event` the event of the command line, empty if it names none.
            """

        def answer(self, event: HookEvent, text: str, watch: tuple[str, ...]) -> Answer:
            """Return the answer that hands a text to the model; `watch` are the files to watch.

            Without a text there is nothing to say.
            """

        def decide(self, event: HookEvent, answer: PermissionAnswer) -> Answer:
            """Return the answer that gives the permission which was asked for, or denies it."""

        def refuse(self, event: HookEvent, reason: str, *, is_stop: bool) -> Answer:
            """Return the answer that refuses a tool call, with a reason that the model reads.

            With `is_stop` it ends the turn, too, where the program can.
            """


__all__ = ["FORMER", "NAMES", "program"]

NAMES = ("claude-code", "codex", "gemini", "opencode", "copilot")
FORMER = ("cursor", "goose")
"""Programs whose hooks earlier versions installed, untried; they can only be removed."""


def program(name: str) -> Program | None:
    """Return the program that a command names; None for one that isn't known."""
    if name not in NAMES:
        return None
    module = f"console.hooks.programs.{name.replace('-', '_')}"
    return __import__(module, fromlist=["read"])
