"""`signalbox check` as a hook runs it: without folding the mailbox, at a few times the cost of an empty Python.

What the quick reading can't decide, and every other form of the command, is left to `console.cli.check`. Both print
and record the same. Imports next to nothing, see docs/decisions/0015.
"""

from __future__ import annotations

import gc
import os
import sys
import time

from console.cli.terminal_io import put, warn_unregistered
from console.handout.portion import MOST_CHARACTERS, portion
from console.hooks.log import log_unexpected
from console.hooks.options import options_in
from console.hooks.provenance import SentByUser
from console.hooks.sessions.printed import note_printed, printed_to
from mailstore.discovery import found_from
from mailstore.files.scan import Unusual
from mailstore.files.user_folders import user_folder
from mailstore.files.whole import open_binary
from mailstore.quick_answers import NotRegistered, quick_answers

LONGEST_NUMBER = 10
KIND, MAILBOX = "haak", "agent-mailbox.jsonl"
"""The kind of mailbox that is found by the name of its file, without opening it."""


def quick_check(words: list[str]) -> int | None:
    """Run `check` with its arguments the quick way; return its exit status, None where the mailbox must be folded."""
    try:
        found, others = options_in(words, ("--as", "--store", "--max-chars"), ("--dry-run",))
    except ValueError:
        return None
    reader, most = found.get("--as", ""), found.get("--max-chars", "0")
    if not reader or others or not (most.isascii() and most.isdecimal() and len(most) < LONGEST_NUMBER):
        return None
    gc.disable()  # everything made here stays until the end
    try:
        mailbox = _mailbox(found.get("--store", "") or os.environ.get("SIGNALBOX_STORE", ""))
        answers = quick_answers(KIND)
        if answers is None:
            return None
        url, now = f"{KIND}:{mailbox}", time.time()
        before = printed_to(url, reader, now)
        mail = answers.unread(mailbox, reader, now)
        messages = [message for message in mail.messages if message.id not in before]
    except NotRegistered:
        if not reader.strip():
            return None
        warn_unregistered(reader)
        return 0
    except Exception as error:  # whatever it was (nearly always Unusual), the fold meets it too, and can say what it is
        log_unexpected("check", "", error)
        return None
    finally:
        gc.enable()
    printed = portion(
        reader,
        messages,
        lambda places: (messages[at].content for at in places),
        int(most) if "--max-chars" in found else MOST_CHARACTERS,
        store=found.get("--store", ""),
        proof_of=SentByUser(url).proof,
    )
    if text := printed.text():
        put(text)
    if printed.whole and "--dry-run" not in found:
        sys.stdout.flush()  # what never reached its reader is not marked as read
        ids = [messages[at].id for at in printed.whole]
        if not note_printed(url, reader, ids, now):
            mail.record(ids)
    return 0


def _mailbox(url: str) -> str:
    """Return the path of the mailbox file. Raises Unusual for anything but a HAAK mailbox in its usual place."""
    settings = _settings()
    if b"user" in settings or (not url and b"store" in settings):
        raise Unusual("settings that matter")
    place = url.removeprefix(f"{KIND}:")
    if not url:
        place = _discovered()
    elif place.startswith("~") or (":" in place and not os.path.lexists(place)):
        raise Unusual("a place that is not spelled out")
    place = os.path.abspath(place)  # noqa: PTH100 - pathlib costs more than all of this
    for path in (place, f"{place}/{MAILBOX}", f"{place}/data/{MAILBOX}"):
        if os.path.basename(path) == MAILBOX and os.path.isfile(path):  # noqa: PTH113, PTH119
            return path
    raise Unusual("no mailbox file with the usual name")


def _discovered() -> str:
    location = found_from(os.getcwd())  # noqa: PTH109
    if location is None or location[0] != KIND:
        raise Unusual("another kind of mailbox, or none")
    return location[1]


def _settings() -> bytes:
    try:
        with open_binary(f"{user_folder('CONFIG')}/config.toml") as file:
            return file.read()
    except FileNotFoundError:
        return b""
