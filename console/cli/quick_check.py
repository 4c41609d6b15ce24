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
from console.hooks.sessions.printed import note_printed, printed_to
from mailstore.discovery import found_from
from mailstore.files.user_folders import user_folder
from mailstore.files.whole import open_binary
from mailstore.haak.quick.quick_reads import record_reads
from mailstore.haak.quick.quick_unread import MAILBOX, NotRegistered, Unusual, quick_unread

OPTIONS = ("--as", "--store", "--max-chars")

LONGEST_NUMBER = 10


def quick_check(words: list[str]) -> int | None:
    """Run `check` with its arguments the quick way; return its exit status, None where the mailbox must be folded."""
    found = _options(words)
    if found is None or not found["--as"]:
        return None
    gc.disable()  # everything made here stays until the end
    try:
        mailbox = _mailbox(found["--store"] or os.environ.get("SIGNALBOX_STORE", ""))
        url, now = f"haak:{mailbox}", time.time()
        before = printed_to(url, found["--as"], now)
        letters = [each for each in quick_unread(mailbox, found["--as"], now) if each.id not in before]
    except NotRegistered:
        if not found["--as"].strip():
            return None
        warn_unregistered(found["--as"])
        return 0
    except Exception:  # whatever it was (nearly always Unusual), the fold meets it too, and can say what it is
        return None
    finally:
        gc.enable()
    printed = portion(
        found["--as"],
        letters,
        lambda places: (letters[at].content for at in places),
        int(found["--max-chars"] or MOST_CHARACTERS),
        store=found["--store"],
    )
    if text := printed.text():
        put(text)
    if printed.whole and not found["--dry-run"]:
        sys.stdout.flush()  # what never reached its reader is not marked as read
        ids = [letters[at].id for at in printed.whole]
        if not note_printed(url, found["--as"], ids, now):
            record_reads(mailbox, found["--as"], ids)
    return 0


def _options(words: list[str]) -> dict[str, str] | None:
    """Return what the options say; None for any other option."""
    found = {"--as": "", "--store": "", "--max-chars": "", "--dry-run": ""}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--dry-run":
            found[word] = "yes"
        elif name in OPTIONS:
            found[name] = value if equals else next(rest, "")
            if not found[name] or found[name].startswith("-"):
                return None
        else:
            return None
    most = found["--max-chars"]
    return found if not most or (most.isascii() and most.isdecimal() and len(most) < LONGEST_NUMBER) else None


def _mailbox(url: str) -> str:
    """Return the path of the mailbox file. Raises Unusual for anything but a HAAK mailbox in its usual place."""
    settings = _settings()
    if b"user" in settings or (not url and b"store" in settings):
        raise Unusual("settings that matter")
    place = url.removeprefix("haak:")
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
    found = found_from(os.getcwd())  # noqa: PTH109
    if found is None or found[0] != "haak":
        raise Unusual("another kind of mailbox, or none")
    return found[1]


def _settings() -> bytes:
    try:
        with open_binary(f"{user_folder('CONFIG')}/config.toml") as file:
            return file.read()
    except FileNotFoundError:
        return b""
