"""Looks at mailboxes on servers, of which nothing on this machine tells whether there is mail.

Each takes a connection and a fifth of a second. So between tools there is one every fifteen seconds, and a quick end
otherwise; a server that could not be reached is left alone for as long (docs/decisions/0062). Imports nothing, because
every hook does.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PAUSE_SECONDS = 15.0
LOOKED = "server_looked"
SEVERAL = "several"
SERVER, SERVER_AMONG_SEVERAL = "//", "%3A%2F%2F"


def is_on_server(mailbox: str) -> bool:
    """Say whether a mailbox, or one of several, is on a server."""
    kind, _, place = mailbox.partition(":")
    return SERVER_AMONG_SEVERAL in place if kind == SEVERAL else place.startswith(SERVER)


def note_look(mailbox: str, extra: dict[str, Any], now: float) -> None:
    """Note in what is remembered of a session that its mailbox was looked at, or that this failed."""
    if is_on_server(mailbox):
        extra[LOOKED] = now


def next_look(mailbox: str, extra: dict[str, Any]) -> float:
    """Return from when on a look between tools is due again; 0 for a mailbox in files."""
    looked = extra.get(LOOKED)
    return looked + PAUSE_SECONDS if isinstance(looked, int | float) and is_on_server(mailbox) else 0.0


def is_recent(mailbox: str, extra: dict[str, Any], now: float) -> bool:
    """Say whether the last look was so short a time ago that the next one can wait."""
    due = next_look(mailbox, extra)
    return due - PAUSE_SECONDS <= now < due
