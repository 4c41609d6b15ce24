"""A draft as it stands in the composer."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct

MOST_NAMES = 2


class SendOptions(Struct, frozen=True):
    """How a message is sent: its type, in how many hours it expires, for how many seconds it is held, when to remind.

    0 hours are no end, and without seconds it is held as the settings say. The user is reminded after so many
    minutes (0: never) if nobody has answered.
    """

    type: str = ""
    ttl_hours: int = 0
    hold_seconds: int | None = None
    remind_minutes: int = 0


class ComposerDraft(Struct, frozen=True):
    """A draft as it stands in the composer; `key` names where it belongs, `action` how it is journalled."""

    key: str
    recipients: str = ""
    subject: str = ""
    body: str = ""
    thread: str | None = None
    action: str = ""
    updated: float = 0.0
    """When it was changed last, in seconds since the epoch."""
    attachments: tuple[str, ...] = ()
    """Paths of the files to send with it."""
    metadata: dict[str, int | str] = {}
    """What its record says besides: which option of a question it takes. Such a reply is never a draft."""
    options: SendOptions = SendOptions()

    @property
    def is_blank(self) -> bool:
        """Say whether nothing worth keeping was written."""
        return not self.body.strip() and not self.attachments


def in_words(body: str) -> str:
    """Return how many words the user wrote, and how many they quote."""
    own = quoted = 0
    for line in body.splitlines():
        if line.startswith(">"):
            quoted += len(line.lstrip("> ").split())
        else:
            own += len(line.split())
    return f"{own} word{'s' * (own != 1)}" + (f", {quoted} quoted" if quoted else "")


def in_files(paths: Sequence[str]) -> list[str]:
    """Return the names of the files that go with a message, or how many they are; nothing if there are none."""
    if len(paths) > MOST_NAMES:
        return [f"{len(paths)} files"]
    return [", ".join(os.path.basename(path) for path in paths)] if paths else []  # noqa: PTH119 - any text
