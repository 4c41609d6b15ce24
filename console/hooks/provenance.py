"""Which mail the user wrote in their console: hooks and `check` say so, because the console noted what it sent.

The proof is a file in the user's state folder, not the mailbox, which any agent can write. Any process of the same
user can write that file, too (docs/decisions/0099). Imports next to nothing, because hooks ask.
"""

from __future__ import annotations

import os

from console.hooks.state_folder import hooks_folder
from mailstore.files.scan import ascii_json
from mailstore.files.whole import open_binary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

USER = "user"
"""The folder of what the user wrote, in that of a mailbox's hooks."""
SENT = "sent"
ID_BYTES, BYTES = 8, 16
MOST_BYTES = 1 << 20
"""How much is kept of the file; about twenty thousand messages."""
KNOWN_BY = "this machine's record of what the console sent"


def words_digest(recipients: Sequence[str], subject: str, kind: str, text: str) -> str:
    """Return what distinguishes what a message says, and to whom, from everything else."""
    return _digest(ascii_json([sorted(recipients), subject.strip(), kind, text.strip()]), BYTES)


def note_sent(mailbox: str, message_id: str, words: str) -> None:
    """Note that the console sent a message, given the digest of its words, to a mailbox. Blocks; raises OSError."""
    from console.hooks.sessions.session_state import locked_file

    folder = f"{hooks_folder(mailbox)}/{USER}"
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    fd = locked_file(f"{folder}/{SENT}")
    try:
        known = os.pread(fd, MOST_BYTES, 0)
        if len(known) >= MOST_BYTES:
            kept = known[MOST_BYTES // 2 :].partition(b"\n")[2]
            os.pwrite(fd, kept, 0)
            os.ftruncate(fd, len(kept))
        os.lseek(fd, 0, os.SEEK_END)
        os.write(fd, f"{_digest(message_id, ID_BYTES)} {_digest(message_id + words, BYTES)}\n".encode())
    finally:
        os.close(fd)


def unproven(message: Any) -> str:
    """Return that a mailbox proves nothing of who wrote a message."""
    return ""


class SentByUser:
    """Which messages of a mailbox the user wrote; `by_mailbox` returns how the mailbox itself proves it.

    What the console sent is read when it is first asked for.
    """

    __slots__ = ("_by_mailbox", "_known", "_path")

    def __init__(self, mailbox: str, by_mailbox: Callable[[Any], str] = unproven) -> None:
        self._path = f"{hooks_folder(mailbox)}/{USER}/{SENT}"
        self._known: dict[str, str] | None = None
        self._by_mailbox = by_mailbox

    def may_have(self, message: Any) -> bool:
        """Say whether the console sent a message of this id, whatever it said."""
        if self._known is None:
            self._known = _read(self._path)
        return bool(self._known) and _digest(message.id, ID_BYTES) in self._known

    def proof(self, message: Any, text: str) -> str:
        """Return according to what the user wrote a message with a text; empty if that is not known.

        Only what `may_have` says the console sent needs the text.
        """
        if self.may_have(message) and self._known is not None:
            words = words_digest(message.recipients, message.subject, message.type, text)
            if self._known[_digest(message.id, ID_BYTES)] == _digest(message.id + words, BYTES):
                return KNOWN_BY
        return self._by_mailbox(message)


def _digest(text: str, size: int) -> str:
    try:
        from _blake2 import blake2b  # `hashlib` loads a library of ciphers
    except ImportError:
        from hashlib import blake2b
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=size).hexdigest()


def _read(path: str) -> dict[str, str]:
    try:
        with open_binary(path) as file:
            lines = file.read(2 * MOST_BYTES).decode("ascii", "replace").splitlines()
    except OSError:
        return {}
    return {parts[0]: parts[1] for line in lines if len(parts := line.split(" ")) == 2}
