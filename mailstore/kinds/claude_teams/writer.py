"""Write to inboxes by the protocol of the teams' own program (docs/formats/claude-teams.md#writing)."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from mailstore.errors import DraftRefused, MailboxBusy, StoreError
from mailstore.files.append import refusal, replace_file
from mailstore.files.owned import look_of, make_folder
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.claude_teams.entries import cut
from mailstore.kinds.claude_teams.places import Team
from mailstore.kinds.claude_teams.roster import read_config
from mailstore.kit.lock_files import removed, taken
from mailstore.kit.team_folders.files import members
from mailstore.kit.team_folders.seen_store import full_name, is_member_name, sent_to_some
from mailstore.kit.timestamps import isoformat
from mailstore.records.draft import Draft
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES

WRITER = "human"
"""The program shows `user`, `system` and the lead's name as forged unless they are signed."""

Target = tuple[Team, str]
STALE_SECONDS = 10.0
PATIENCE_SECONDS = STALE_SECONDS + 2
"""Longer than an abandoned lock lasts, so that none makes a write fail."""
FIRST_PAUSE_SECONDS = 0.005
LONGEST_PAUSE_SECONDS = 0.1


class Written(NamedTuple):
    """A new entry in one inbox: the recipient's name in the team, its offset, and its bytes."""

    name: str
    offset: int
    raw: bytes


def write(teams: Sequence[Team], draft: Draft) -> tuple[Team, list[Written]]:
    """Append a draft to the inbox of each recipient; return their team and what was written.

    All checks come before the first write. Raises DraftRefused, MailboxBusy and StoreError, which says who got the
    message if not all inboxes could be written.
    """
    if draft.sender not in USER_NAMES:
        raise DraftRefused(
            "from", f"{draft.sender!r} can't send here", "leave out --from: agents send with their own program", "E509"
        )
    targets = _targets(teams, draft)
    for team, name in targets:
        _read(team.inbox_of(name))
    entry = _entry(draft)
    done: list[Written] = []
    for team, name in targets:
        try:
            done.append(Written(name, *_append(team.inbox_of(name), entry)))
        except StoreError as error:
            if not done:
                raise
            missed = [name for _, name in targets[len(done) :]]
            raise sent_to_some([written.name for written in done], missed, error) from error
    return targets[0][0], done


def _targets(teams: Sequence[Team], draft: Draft) -> list[Target]:
    """Return the inboxes for a draft. Raises DraftRefused for anybody who is not a member."""
    known: dict[str, Target] = {}
    bare: dict[str, list[str]] = {}
    for team in teams:
        config = read_config(team)
        if config.problem is not None or not config.value:
            why = config.problem.reason if config.problem else "the team has no roster: it is gone"
            if len(teams) == 1:
                raise StoreError(
                    f"{team.roster} can't be read ({why})", "fix this file, which lists the recipients", "E513"
                )
            continue
        for name in filter(is_member_name, members(config.value)):
            known[team.named(name)] = (team, name)
            bare.setdefault(name, []).append(team.named(name))
            bare.setdefault(f"{name}@{team.name}", []).append(team.named(name))
    known.pop("user", None)
    targets: dict[Target, None] = {}
    for recipient in draft.recipients:
        if recipient in BROADCAST_NAMES and len(teams) == 1:
            targets.update(dict.fromkeys(known.values()))
        else:
            targets[known[full_name(recipient, known, bare)]] = None
    if not targets:
        raise DraftRefused("to", "names a team without members", "name an agent of another team", "E510")
    if len({team.name for team, _ in targets}) > 1:
        raise DraftRefused("to", "names agents of several teams", "send to each team separately", "E511")
    return list(targets)


def _entry(draft: Draft) -> dict[str, Any]:
    entry = {
        "from": WRITER,
        "text": draft.content,
        "timestamp": isoformat(time.time()),
        "read": False,
        "msgV": 1,
        "msg_id": str(uuid.uuid4()),
        "type": "message",
    }
    return {**entry, "summary": draft.subject} if draft.subject else entry


def _read(inbox: Path) -> bytes:
    """Return an inbox's bytes, empty if there is none yet. Raises StoreError if nothing can be added to it."""
    if inbox.parent.is_symlink():
        raise StoreError(
            f"{inbox.parent} is a symbolic link", "links are not followed: use the folder it points to", "E392"
        )
    try:
        data = read_whole(inbox)
    except FileNotFoundError:
        return b""
    except NotAFile as error:
        raise StoreError(
            f"{inbox} can't be written ({error})",
            "check its permissions and the free space; nothing was written",
            "E394",
        ) from error
    except OSError as error:
        raise refusal(inbox, error) from error
    if data.strip() and not _is_array(data):
        raise StoreError(f"{inbox} is not a JSON array", "try again: it may be half-written", "E393")
    return data


def _is_array(data: bytes) -> bool:
    """Return whether the teams' own program can read an inbox; it accepts invalid UTF-8."""
    try:
        return isinstance(json.loads(data.decode("utf-8", "replace"), parse_constant=_refuse), list)
    except (ValueError, RecursionError):
        return False


def _refuse(name: str) -> None:
    raise ValueError(name)


def _append(inbox: Path, entry: dict[str, Any]) -> tuple[int, bytes]:
    """Append an entry without changing the bytes of the others; return its offset and bytes."""
    try:
        if inbox.parent.parent.is_dir():
            make_folder(inbox.parent, look_of(inbox.parent.parent))
    except OSError as error:
        raise refusal(inbox, error) from error
    with locked_inbox(inbox):
        data = _read(inbox).rstrip()
        raw = json.dumps(entry, indent=2, ensure_ascii=False).replace("\n", "\n  ").encode()
        elements = cut(data).elements if data else []
        end = elements[-1][0] + len(elements[-1][1]) if elements else data.find(b"[") + 1
        head = (data[:end] if data else b"[") + (b",\n  " if elements else b"\n  ")
        replace_file(inbox, head + raw + b"\n]", look_of(inbox.parent.parent / "config.json", inbox.parent))
    return len(head), raw


@contextmanager
def locked_inbox(inbox: Path) -> Iterator[None]:
    """Hold an inbox's lock; an abandoned one is taken over. Raises MailboxBusy and StoreError."""
    lock = inbox.with_name(f"{inbox.name}.lock")
    busy = MailboxBusy(f"{inbox} is locked by another program", f"try again; the lock is {lock.name} beside it", "E391")
    taken(
        lambda: _claimed(lock),
        lambda: _is_stale(lock) and removed(lock.rmdir),
        busy,
        seconds=PATIENCE_SECONDS,
        pause=FIRST_PAUSE_SECONDS,
        longest_pause=LONGEST_PAUSE_SECONDS,
    )
    try:
        yield
    finally:
        removed(lock.rmdir)


def _claimed(lock: Path) -> bool:
    try:
        lock.mkdir()
    except FileExistsError:
        return False
    except OSError as error:
        raise refusal(lock, error) from error
    return True


def _is_stale(lock: Path) -> bool:
    try:
        return time.time() - lock.lstat().st_mtime > STALE_SECONDS
    except OSError:
        return False
