"""Tell an agent's own commands who it is, where its program has a file for that. Imports next to nothing."""

from __future__ import annotations

import os

from console.hooks.sessions.identity import VARIABLE
from mailstore.files.whole import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "CLAUDE_ENV_FILE"
"""What Claude Code calls the file that its shells read; SessionStart hooks may append to it."""
LONGEST = 1 << 20


def export(env: Mapping[str, str], agent_id: str, store: str) -> None:
    """Append the agent's id, and its mailbox unless that is empty, to the file that its shells read, each once.

    Raises OSError.
    """
    path = env.get(FILE, "")
    values = {VARIABLE: agent_id, "SIGNALBOX_STORE": store}
    lines = [f"export {name}={_quoted(value)}\n" for name, value in values.items() if value and value.isprintable()]
    if not lines or not os.path.isabs(path):  # noqa: PTH117 - pathlib costs more than all of this
        return
    fd = open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW)
    try:
        known = os.pread(fd, LONGEST, 0)
        data = "".join(lines).encode("utf-8", "surrogateescape")
        if not known.endswith(data):  # the last words count, and are there already
            os.write(fd, (b"\n" if known and not known.endswith(b"\n") else b"") + data)
    finally:
        os.close(fd)


def _quoted(text: str) -> str:
    """Return a text as one word of a shell's command, whatever it holds."""
    return "'" + text.replace("'", "'\\''") + "'"
