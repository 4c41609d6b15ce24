"""Write into members' inboxes by the protocol of the program (docs/formats/omo.md#writing)."""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from mailstore.errors import DraftRefused, MailboxBusy, StoreError
from mailstore.files.append import refusal
from mailstore.files.durable import Pending
from mailstore.files.owned import look_of, make_folder
from mailstore.kinds.omo.entries import SeenFile, entry_of, is_wanted
from mailstore.kinds.omo.mail import RunMail
from mailstore.kinds.omo.places import INBOXES, TeamRun
from mailstore.kinds.omo.roster import state_of
from mailstore.kit.lock_files import is_running, read_lock, release, removed, taken
from mailstore.kit.team_folders.files import members
from mailstore.kit.team_folders.seen_store import full_name, is_member_name, sent_to_some
from mailstore.records.draft import Draft
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES

WRITER = "human"
KINDS = ("message", "announcement")
CLOSED = ("deleting", "deleted")
LARGEST_BODY = 32 * 1024
"""In bytes; the program refuses a longer one, and would not read it either."""
LARGEST_INBOX = 256 * 1024
"""In bytes of waiting messages, unless the program is set otherwise."""
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
"""What the program takes for a UUID: it passes over a message with any other correlation id."""

Target = tuple[TeamRun, str]
WrittenMessage = tuple[TeamRun, list[SeenFile]]
"""A run, and the files written to its inboxes."""
STALE_SECONDS = 300.0
PATIENCE_SECONDS = 15.0
PAUSE_SECONDS = 0.05


def write(runs: Sequence[TeamRun], draft: Draft) -> WrittenMessage:
    """Write a draft to the inbox of each recipient; return their run and what was written.

    All locks are held, and all checks made, before the first file appears. Raises DraftRefused, MailboxBusy and
    StoreError, which says who got the message if not all files could be written.
    """
    if draft.sender not in USER_NAMES:
        raise DraftRefused("from", f"{draft.sender!r} can't send here", "members send with their own program", "E509")
    if draft.type and draft.type not in KINDS:
        raise DraftRefused("type", f"{draft.type!r} is the program's own", f"use one of {', '.join(KINDS)}", "E464")
    if len(draft.content.encode()) > LARGEST_BODY:
        raise DraftRefused(
            "body", "is over 32 KiB, which the program does not read", "send the path of a file instead", "E465"
        )
    targets = _targets(runs, draft)
    run = targets[0][0]
    message = _message(run, draft)
    done: list[SeenFile] = []
    with ExitStack() as locks:
        for _, name in targets:
            inbox = run.inboxes / name
            _make(inbox)
            locks.enter_context(locked_member(inbox))
        for _, name in targets:
            _check(run.inboxes / name, _encoded(message, name))
        for _, name in targets:
            try:
                done.append(_put(run, name, message))
            except (OSError, StoreError) as error:
                if not done:
                    raise refusal(run.inboxes / name, error) if isinstance(error, OSError) else error from error
                missed = [name for _, name in targets[len(done) :]]
                raise sent_to_some([seen.inbox for seen in done], missed, error) from error
    return run, done


def _targets(runs: Sequence[TeamRun], draft: Draft) -> list[Target]:
    """Return the inboxes for a draft, sorted. Raises DraftRefused for anybody who is not a member."""
    known: dict[str, Target] = {}
    bare: dict[str, list[str]] = {}
    for run in runs:
        state = state_of(run)
        if state.problem is not None and len(runs) == 1:
            raise StoreError(
                f"{run.roster} can't be read ({state.problem.reason})", "this file lists the recipients", "E513"
            )
        is_closed = state.value.get("status") in CLOSED
        if is_closed and len(runs) == 1:
            raise DraftRefused("to", "names members of a run that is being deleted", "write to a running team", "E469")
        for name in () if is_closed else filter(is_member_name, members(state.value)):
            known[run.named(name)] = (run, name)
            bare.setdefault(name, []).append(run.named(name))
    known.pop("user", None)
    targets: dict[Target, None] = {}
    for recipient in draft.recipients:
        if recipient in BROADCAST_NAMES:
            raise DraftRefused(
                "to", "names all, to whom only the lead may write", "name the members, or write to the lead", "E470"
            )
        targets[known[full_name(recipient, known, bare)]] = None
    if len({run.folder for run, _ in targets}) > 1:
        raise DraftRefused("to", "names members of several runs", "send to each run separately", "E466")
    return sorted(targets, key=lambda target: target[1])


def _message(run: TeamRun, draft: Draft) -> dict[str, Any]:
    """Return the message, in the order of the program's fields."""
    message: dict[str, Any] = {
        "version": 1,
        "messageId": str(uuid.uuid4()),
        "from": WRITER,
        "to": "",
        "body": draft.content,
        "kind": draft.type or KINDS[0],
        "timestamp": time.time_ns() // 1_000_000,
    }
    if draft.thread is not None:
        message["correlationId"] = _correlation(run, draft.thread)
    return {**message, "summary": draft.subject} if draft.subject else message


def _correlation(run: TeamRun, thread: str) -> str:
    """Return the correlation id of an answer, which the program accepts only as a UUID. Raises DraftRefused."""
    mail = RunMail(run, is_keeping=False)
    known = mail.known_ids() | {path.stem.removeprefix(".delivering-") for path in run.inboxes.rglob("*.json")}
    if not ID.fullmatch(thread):
        raise DraftRefused(
            "thread", f"{thread!r} can't be answered, as it is not a UUID", "write a new message", "E471"
        )
    if thread not in known:
        raise DraftRefused(
            "thread", f"{thread!r} is not in this run", "answer a message of the recipient's run", "E467"
        )
    return thread


def _make(inbox: Path) -> None:
    try:
        for folder in (inbox.parent, inbox):
            if folder.is_symlink():
                raise StoreError(f"{folder} is a symbolic link", "links are not followed", "E290")
            make_folder(folder, look_of(folder.parent))
    except OSError as error:
        raise refusal(inbox, error) from error


def _encoded(message: dict[str, Any], to: str) -> bytes:
    return (json.dumps({**message, "to": to}, indent=2, ensure_ascii=False) + "\n").encode()


def _check(inbox: Path, data: bytes) -> None:
    """Refuse what the program would refuse. Raises StoreError."""
    try:
        with os.scandir(inbox) as entries:
            waiting = sum(entry.stat(follow_symlinks=False).st_size for entry in entries if is_wanted(entry.name))
    except OSError as error:
        raise refusal(inbox, error) from error
    if waiting + len(data) > LARGEST_INBOX:
        raise StoreError(f"the inbox of {inbox.name} is full", "try again once it has read its mail", "E468")


def _put(run: TeamRun, name: str, message: dict[str, Any]) -> SeenFile:
    stem, data = message["messageId"], _encoded(message, name)
    path = run.inboxes / name / f"{stem}.json"
    with Pending(path, data, look_of(path.parent)) as file:
        if not file.appear():
            raise StoreError(f"{path} already exists", "send it again", "E171")
    return SeenFile(name, stem, f"{run.prefix}{INBOXES}/{name}/{path.name}", entry_of(data), is_processed=False)


@contextmanager
def locked_member(inbox: Path) -> Iterator[None]:
    """Hold an inbox's lock; one whose holder has ended, and that is old, is removed. Raises MailboxBusy, StoreError."""
    lock = inbox.with_name(f"{inbox.name}.lock")
    busy = MailboxBusy(f"{inbox} is locked by another program", f"try again; the lock is {lock.name} beside it", "E391")
    token = taken(
        lambda: _claimed(lock, inbox.name),
        lambda: _is_stale(read_lock(lock) or b"") and removed(lock.unlink),
        busy,
        seconds=PATIENCE_SECONDS,
        pause=PAUSE_SECONDS,
    )
    try:
        yield
    finally:
        release(lock, token)


def _claimed(lock: Path, member: str) -> bytes:
    """Create the lock file; return its contents, or nothing if another process holds it."""
    if os.path.lexists(lock):
        return b""
    # dated back, so that the next writer removes it at once if this process is killed; it honours that of a living one
    taken = time.time_ns() // 1_000_000 - int((STALE_SECONDS + 1) * 1000)
    token = f"team-mailbox:{member}\n{os.getpid()}\n{max(taken, 1)}\n".encode()
    try:
        # whole from the start: the program never removes an empty one
        with Pending(lock, token, mode=0o644) as file:
            return token if file.appear() else b""
    except OSError as error:
        raise refusal(lock, error) from error


def _is_stale(data: bytes) -> bool:
    """Return whether a lock's holder has ended, and took it long ago; the program waits for any other."""
    lines = [line for line in data.decode("utf-8", "replace").splitlines() if line]
    if len(lines) != 3 or not (lines[1].isascii() and lines[1].isdecimal() and lines[2].isascii()):
        return False
    if not lines[2].isdecimal() or len(lines[1]) > 9 or len(lines[2]) > 18 or not int(lines[1]):
        return False
    return not is_running(int(lines[1])) and time.time() - int(lines[2]) / 1000 > STALE_SECONDS
