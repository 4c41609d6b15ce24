"""Deliver a letter to another agent of the same mailbox: a copy of its file."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.decode import Copy, id_of, who
from mailstore.kinds.agentazall.letter_file import InvalidSignedFile, SignedFile, parse
from mailstore.kinds.agentazall.places import INBOX, is_agent_name
from mailstore.kinds.agentazall.spools import FOLDER
from mailstore.kinds.agentazall.sync.keeping import put_letter
from mailstore.kinds.agentazall.sync.outbox import OutboxLetter


def folders_of(root: Path) -> frozenset[str]:
    """Return the names of the agents' folders: a recipient must be one of these exactly. Raises OSError."""
    with os.scandir(root) as entries:
        return frozenset(
            entry.name for entry in entries if is_agent_name(entry.name) and entry.is_dir(follow_symlinks=False)
        )


def deliver(root: Path, sent: OutboxLetter, recipient: str) -> None:
    """Put a copy into an inbox, unless it is there. Raises OSError and StoreError."""
    box = root / recipient / sent.place.day / INBOX
    letter = parse(sent.data)
    data = sent.data if letter.get("Status").lower() != "read" else _unread(sent.data)
    files = [(each.name, each.path) for each in sent.letter.attachments]
    digest = hashlib.blake2b(letter.body.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    for stem in (sent.place.stem, f"{sent.place.stem[:80]}-{digest}"):
        if put_letter(root, box, stem, data, files, root / sent.place.owner / FOLDER) or _is_there(
            box / f"{stem}.txt", letter, sent.place
        ):
            return
    raise FileExistsError(17, "another letter has this name", str(box / sent.place.file))


def _is_there(path: Path, letter: SignedFile, place: Copy) -> bool:
    try:
        found = parse(read_whole(path))
    except (OSError, NotAFile, InvalidSignedFile):
        return False
    return (found.body, id_of(found, place), who(found, place)) == (
        letter.body,
        id_of(letter, place),
        who(letter, place),
    )


def _unread(data: bytes) -> bytes:
    head, separator, body = data.partition(b"\n---\n")
    lines = [b"Status: new" if line.lower().startswith(b"status:") else line for line in head.split(b"\n")]
    return b"\n".join(lines) + separator + body
