"""Files and folders of every kind that may not be read: what they hold is missing only if that is said."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from mailstore.errors import StoreError
from mailstore.kit.watched_store import WatchedStore
from mailstore.records.events import Event
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from tests.hostile.kill import Told, told
from tests.hostile.samples import SAMPLES
from tests.refused import refused

ESSENTIAL = {
    *("agent-mail", "agent-mail/archive", "agent-mail/archive/projects", "agent-mail/archive/projects/srv-backend"),
    *("agent-mail/storage.sqlite3", "agent-mail/archive/projects/srv-backend/messages", ".gemini/tmp/repo"),
    *("agentazall", "agentazall/data", "agentazall/data/mailboxes"),
    *("agenties", "agenties/.agenties", "agenties/.agenties/mailbox.jsonl", "channels", "channels/channels"),
    *("town", "town/.beads", "town/.beads/archive.jsonl", "town/.beads/issues.jsonl", "town/.beads/beads.db"),
    *(".claude", ".claude/projects", "claude-teams", "teams", ".codex", ".copilot", ".gemini", ".gemini/tmp"),
    *("data", "hcom.db", ".hcom", ".hcom/hcom.db", "mapping.toml", ".overstory", ".overstory/mail.db", "spool"),
    *("repository", "repository/.neo-ai-data", "repository/.neo-ai-data/sqlite", "omo", "omo/runtime", "opencode"),
    "repository/.neo-ai-data/sqlite/memory-core-graph.sqlite",
}
"""Without which a mailbox is none, or not known as one; and every file of a HAAK mailbox, which are one record."""


def hidden(url: str, whole: Told) -> list[object]:
    """Return what mail is missing, and of what mail reads are missing or more, without a word. Raises StoreError."""
    found = told(url)
    if found.faults > whole.faults:
        return []
    # a reader may be called otherwise
    reads, others = (Counter(message for message, _ in each.reads) for each in (whole, found))
    return [*(whole.messages - found.messages), *(reads - others), *(others - reads)]


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_may_not_be_read_is_not_taken_for_nothing(
    sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "box"
    folder.mkdir()
    url = SAMPLES[sample](folder)
    whole = told(url)
    found = []
    for number, place in enumerate(sorted(folder.rglob("*"))):
        name = place.relative_to(folder).as_posix()
        for listing in (False, True) if place.is_dir() else (False,):
            monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"state-{number}-{listing}"))  # nothing is remembered
            with refused(place, listing=listing):
                try:
                    missing: object = hidden(url, whole)
                except StoreError as error:
                    is_named = place.is_dir() or f"{place} can't be read" in str(error)
                    missing = None if is_named and (name in ESSENTIAL or name.startswith("data/")) else error
            if missing:
                found.append((name, listing, missing))
    assert not found


SEVERAL = ["agent-mail-archive", "agentazall", "channels", "claude-teams", "gemini-sessions", "mapped-files", "omo"]
"""Samples that are more than one folder."""


@pytest.mark.parametrize("sample", SEVERAL)
def test_what_may_be_read_again_is_there_again_and_what_was_read_stays(
    sample: str, tmp_path: Path, run_seed: int
) -> None:
    folder = tmp_path / "box"
    folder.mkdir()
    url = SAMPLES[sample](folder)
    whole = told(url).messages.total()
    long_ago = time.time() - 60
    for place in folder.rglob("*"):
        os.utime(place, (long_ago, long_ago), follow_symlinks=False)
    folders = {place.parent for place in folder.rglob("*") if place.is_file()} - {folder}
    places = sorted(place for place in folders if place.relative_to(folder).as_posix() not in ESSENTIAL)
    place = random.Random(run_seed).choice(places)
    mailbox = Mailbox("user")

    def take(batches: Iterable[list[Event]]) -> int:
        taken = list(batches)
        for batch in taken:
            mailbox.fold(batch, time.time())
        return len(taken)

    with open_store(url) as store:
        assert isinstance(store, WatchedStore)
        reader = store._reader
        with refused(place):
            assert take(reader.scan())
            assert not take(reader.changes(True))  # nothing changes as long as it stays so
        take(reader.changes(True))
        assert (len(mailbox), mailbox.counts().unreadable) == (whole, 0)
        with refused(place):
            take(reader.changes(True))
        assert len(mailbox) == whole
