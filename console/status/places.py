"""Where the numbers of a mailbox are kept, by how it is named. Imports next to nothing, as hooks do."""

from __future__ import annotations

import os

from mailstore.discovery import found_from
from mailstore.files.user_folders import user_folder


def cache_home() -> str:
    """Return Signalbox's cache folder, the same that platformdirs names."""
    return user_folder("CACHE")


def config_path() -> str:
    """Return the path of the settings file."""
    return f"{user_folder('CONFIG')}/config.toml"


def kept_place(given: str) -> str:
    """Return the file for a mailbox as it is named; for an empty name, as it is found from the working folder.

    The name, which may hold a password, is not in the path.
    """
    try:
        from _blake2 import blake2b  # `hashlib` loads a library of ciphers
    except ImportError:
        from hashlib import blake2b
    named = given or os.environ.get("SIGNALBOX_STORE", "")
    folder = os.getcwd()  # noqa: PTH109
    location = "" if named else repr(found_from(folder))
    is_anywhere = named and (":/" in named or named.startswith("/")) and "," not in named and "=" not in named
    parts = (named, location, "" if is_anywhere else folder, config_path(), os.environ.get("XDG_STATE_HOME", ""))
    digest = blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return f"{cache_home()}/status/{digest}"
