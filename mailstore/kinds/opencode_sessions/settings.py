"""What there is to set for the server: the table [opencode] of config.toml. Read without anything else of the kind."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct


class OpenCodeSettings(Struct, frozen=True):
    """The table [opencode]: a server of OpenCode, by which messages are sent to its sessions."""

    url: Annotated[
        str, 'Where opencode serve listens, such as "http://127.0.0.1:4096"; empty: its sessions can only be read.'
    ] = ""
    password_file: Annotated[str, "A file with its password on the first line, which only you can read."] = ""
