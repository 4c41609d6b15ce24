"""Where the hooks' own state is kept: one folder for each mailbox, under the user's state folder.

Imports next to nothing, because every hook does.
"""

from __future__ import annotations

import os
import sys

DIGEST_CHARACTERS = 16
HELD = "held"
CALLS = "calls"
"""The folder of sessions' last tool calls, in the state folder."""


def state_home() -> str:
    """Return Signalbox's state folder, the same that `console.settings.config.state_file` is in.

    It is `user_folder("STATE")`, without what importing that costs a hook that has nothing to do.
    """
    folder = os.environ.get("XDG_STATE_HOME", "")
    if not folder.startswith("/"):
        usual = "Library/Application Support" if sys.platform == "darwin" else ".local/state"
        folder = f"{os.path.expanduser('~').rstrip('/')}/{usual}"  # noqa: PTH111
    return f"{folder}/signalbox"


def root() -> str:
    """Return the folder that holds a folder of hooks' state for each mailbox."""
    return f"{state_home()}/hooks"


def held_root() -> str:
    """Return the folder of the orders to hold agents, which is there only while there are any."""
    return f"{root()}/{HELD}"


def hooks_folder(mailbox_url: str) -> str:
    """Return the folder of the hooks' state for a mailbox, which may not exist yet.

    Links are resolved, so that every way to name a mailbox leads to the same folder.
    """
    try:
        from _blake2 import blake2b  # `hashlib` loads a library of ciphers
    except ImportError:
        from hashlib import blake2b
    kind, _, place = mailbox_url.partition(":")
    if not place.startswith("//") and kind != "several":
        mailbox_url = f"{kind}:{os.path.realpath(place)}"
    digest = blake2b(mailbox_url.encode("utf-8", "surrogateescape"), digest_size=DIGEST_CHARACTERS // 2).hexdigest()
    return f"{root()}/{digest}"


def all_folders() -> list[str]:
    """Return the folders of all mailboxes."""
    try:
        return [entry.path for entry in os.scandir(root()) if entry.is_dir()]
    except OSError:
        return []
