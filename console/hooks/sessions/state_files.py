"""Find a session's state among those of all mailboxes. Imports next to nothing, because hooks do."""

from __future__ import annotations

import os

from console.hooks.sessions.session_state import read_state
from console.hooks.state_folder import all_folders
from mailstore.files.whole import open_binary


def has_state(folder: str, tool: str, session_id: str) -> bool:
    """Say whether hooks have run for a session."""
    try:
        return os.stat(f"{folder}/{tool}-{session_id}").st_size > 0  # noqa: PTH116 - pathlib costs too much
    except OSError:
        return False


def known_mailbox(tool: str, session_id: str, options: str, cwd_token: str) -> str | None:
    """Return the mailbox that a session had when its hook last ran in the same folder with the same options.

    None for one on a server, whose secrets are not kept: it has to be chosen again.
    """
    for folder in all_folders():
        try:
            with open_binary(f"{folder}/{tool}-{session_id}") as file:
                state = read_state(file.read(), tool, session_id)
        except OSError:
            continue
        if state.mailbox and cwd_token and (state.options, state.cwd_token) == (options, cwd_token):
            return None if state.mailbox.partition(":")[2].startswith("//") else state.mailbox
    return None
