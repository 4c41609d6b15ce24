"""The command that a notice names, so that the agent can run it as it stands. Imports next to nothing."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-")
"""Characters that need no quotes in a shell."""
UNSAFE = frozenset("<>\"'`\\$")
"""Characters that would need quotes within quotes, or look like markup to a model."""
NAME = "signalbox"


def check_command(agent_id: str, store: str, env: Mapping[str, str]) -> str:
    """Return `signalbox check --as ID`, with the mailbox where it must be given, and a path off the PATH.

    A mailbox whose path can't stand in a sentence is left out.
    """
    words = [NAME] if is_on_path(NAME, env) else _program()
    words += ["check", "--as", agent_id]
    if store and store.isprintable() and UNSAFE.isdisjoint(store):
        words += ["--store", store]
    return " ".join(word if PLAIN.issuperset(word) else f"'{word}'" for word in words)


def is_on_path(name: str, env: Mapping[str, str]) -> bool:
    """Say whether a program is found on the PATH."""
    folders = env.get("PATH", os.defpath).split(os.pathsep)
    return any(os.access(f"{folder}/{name}", os.X_OK) for folder in folders if folder)


def _program() -> list[str]:
    beside = f"{os.path.dirname(sys.executable)}/{NAME}"  # noqa: PTH120 - pathlib costs more than all of this
    return [beside] if os.access(beside, os.X_OK) else [sys.executable, "-m", "console"]
