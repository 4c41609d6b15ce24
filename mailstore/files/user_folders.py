"""The user's folders for settings, state and caches, as platformdirs has them. Imports next to nothing: hooks ask."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

USUAL = {"CONFIG": ".config", "STATE": ".local/state", "CACHE": ".cache"}
ON_MACOS = {
    "CONFIG": "Library/Application Support",
    "STATE": "Library/Application Support",
    "CACHE": "Library/Caches",
}


def user_folder(kind: Literal["CONFIG", "STATE", "CACHE"], env: Mapping[str, str] = os.environ) -> str:
    """Return the program's folder of a kind; it may not exist."""
    folder = env.get(f"XDG_{kind}_HOME", "")
    if not folder.startswith("/"):
        home = env.get("HOME", "")
        if not home.startswith("/"):
            home = os.path.expanduser("~")  # noqa: PTH111 - pathlib costs more than all of this
        folder = f"{home.rstrip('/')}/{(ON_MACOS if sys.platform == 'darwin' else USUAL)[kind]}"
    return f"{folder}/signalbox"
