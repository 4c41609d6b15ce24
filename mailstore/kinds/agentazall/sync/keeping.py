"""Write a message into a box, attachments first and all of it on the disk before it has a name; deliver one here."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from mailstore.files.durable import Pending, sync_folder, write_durably
from mailstore.files.owned import look_of
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.attached import attachment_names
from mailstore.kinds.agentazall.decode import Copy, id_of, split, who
from mailstore.kinds.agentazall.message_file import InvalidSignedFile, SignedFile, parse
from mailstore.kinds.agentazall.places import DAY, INBOX, is_agent_name, make_box
from mailstore.kinds.agentazall.spools import FOLDER
from mailstore.kinds.agentazall.sync.outbox import OutboxMessage

MODE = 0o640
MOST_FILES = 1000
NOTE_BYTES = 1 << 12
NEW, NOTE = "new-", "placing-"


def put_message(
    root: Path, box: Path, stem: str, data: bytes, files: Sequence[tuple[str, bytes | Path]], desk: Path
) -> bool:
    """Write a message and its attachments; return False if a name is taken. Raises OSError, StoreError.

    `desk` is a folder on the same disk where attachments are written before they are moved. What a crash leaves there,
    and attachments without their message, are removed by `clear_desk`.
    """
    path = box / f"{stem}.txt"
    if path.exists() or (files and stem.endswith(".txt")):  # the folder's name may be another message's file
        return False
    make_box(root, box)
    note = _put_files(root, box, stem, files, desk) if files else None
    with Pending(path, data, look_of(box), MODE) as pending:
        has_appeared = pending.appear()
    sync_folder(box)
    if note is not None:
        note.unlink(missing_ok=True)
    return has_appeared


def clear_desk(root: Path, desk: Path) -> None:
    """Remove what an interrupted run left; only its owner may call this. Raises OSError."""
    if not desk.is_dir() or desk.is_symlink():
        return
    for path in desk.glob(f"{NEW}*"):
        _remove(path)
    for note in desk.glob(f"{NOTE}*"):
        place = split(_note(note))
        if (
            place
            and is_agent_name(place.owner)
            and DAY.fullmatch(place.day)
            and place.box == INBOX
            and ".." not in place
        ):
            folder = root / "/".join(place)
            is_linked = any(parent.is_symlink() for parent in [folder, *list(folder.parents)[:3]])
            if not is_linked and folder.is_dir() and not folder.with_name(f"{folder.name}.txt").exists():
                shutil.rmtree(folder)
        _remove(note)


def _put_files(root: Path, box: Path, stem: str, files: Sequence[tuple[str, bytes | Path]], desk: Path) -> Path:
    """Write attachments and move them into place; return the note that says so until the message is there."""
    make_box(root, desk)
    digest = hashlib.blake2b(str(box / stem).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    new, final, note = desk / f"{NEW}{digest}", box / stem, desk / f"{NOTE}{digest}"
    _remove(new)
    if final.is_dir():
        _remove(final)  # a crash left it: there is no message of this name yet
    new.mkdir(0o750)
    names = attachment_names([name for name, _ in files[:MOST_FILES]])
    for name, (_, content) in zip(names, files, strict=False):
        try:
            data = read_whole(content) if isinstance(content, Path) else content
        except NotAFile as error:
            raise OSError(5, str(error), str(content)) from error
        write_durably(new / name, data, MODE)
    sync_folder(new)
    write_durably(note, "/".join(final.relative_to(root).parts).encode("utf-8", "surrogateescape"), MODE)
    sync_folder(desk)
    new.rename(final)
    sync_folder(box)
    return note


def _note(path: Path) -> str:
    """Return what a note says; nothing if it is none of ours."""
    try:
        return read_whole(path, NOTE_BYTES).decode("utf-8", "replace")
    except (OSError, NotAFile):
        return ""


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def folders_of(root: Path) -> frozenset[str]:
    """Return the names of the agents' folders: a recipient must be one of these exactly. Raises OSError."""
    with os.scandir(root) as entries:
        return frozenset(
            entry.name for entry in entries if is_agent_name(entry.name) and entry.is_dir(follow_symlinks=False)
        )


def deliver(root: Path, sent: OutboxMessage, recipient: str) -> None:
    """Put a copy into an inbox, unless it is there. Raises OSError and StoreError."""
    box = root / recipient / sent.place.day / INBOX
    message = parse(sent.data)
    data = sent.data if message.get("Status").lower() != "read" else _unread(sent.data)
    files = [(attachment.name, attachment.path) for attachment in sent.message.attachments]
    digest = hashlib.blake2b(message.body.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    for stem in (sent.place.stem, f"{sent.place.stem[:80]}-{digest}"):
        if put_message(root, box, stem, data, files, root / sent.place.owner / FOLDER) or _is_there(
            box / f"{stem}.txt", message, sent.place
        ):
            return
    raise FileExistsError(17, "another message has this name", str(box / sent.place.file))


def _is_there(path: Path, signed: SignedFile, place: Copy) -> bool:
    try:
        file = parse(read_whole(path))
    except (OSError, NotAFile, InvalidSignedFile):
        return False
    return (file.body, id_of(file, place), who(file, place)) == (
        signed.body,
        id_of(signed, place),
        who(signed, place),
    )


def _unread(data: bytes) -> bytes:
    head, separator, body = data.partition(b"\n---\n")
    lines = [b"Status: new" if line.lower().startswith(b"status:") else line for line in head.split(b"\n")]
    return b"\n".join(lines) + separator + body
