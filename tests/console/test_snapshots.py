"""Four pictures of the console: the three themes, and the smallest common terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import SignalboxApp
from console.settings.config import Config
from console.state.personal_state import PersonalState
from mailstore.haak import HaakStore
from tests.console.screen_text import settle, until
from tests.mailboxes import HOUR, NOW, MailFiles, iso

ANSWER = """Yes, but only after the migration:

1. move the *old* field
2. check with `make check`

```python
def migrate(rows: list[Row]) -> int:
    return sum(move(row) for row in rows)
```

| table | rows |
|-------|------|
| mail  | 1204 |
"""


@pytest.fixture(autouse=True)
def _standing_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    seen = iso(NOW - 60)
    mail.agent("architect-new", role="architect", tags=["project:inscription"], last_seen=seen)
    mail.agent("librarian", role="librarian", tags=["project:inscription", "concern:governance"], last_seen=seen)
    mail.agent("steward", "frozen", role="steward", tags=["concern:governance"])
    mail.agent("old-steward", "dead", role="steward", ended_at=iso(NOW - 5 * HOUR))
    mail.message(
        "s",
        "architect-new",
        "librarian",
        "The draft drops `read_by`; can you live with it?",
        ago=1800,
        subject="Schema change",
        type="question",
    )
    mail.message("s1", "librarian", "architect-new", ANSWER, ago=1700, thread="s", subject="Re: Schema change")
    mail.message(
        "s2",
        "architect-new",
        ["librarian", "steward"],
        "Good. I begin at three.",
        ago=600,
        thread="s1",
        subject="Re: Schema change",
    )
    mail.message("n", "steward", "project:inscription", "Nightly ingest is done.", ago=660, subject="Nightly ingest")
    mail.message("d", "librarian", "old-steward", "Who holds the key?", ago=6 * HOUR, subject="The key")
    mail.message("u", "librarian", "user", "May I archive March?", ago=300, subject="Archive of March", type="question")
    mail.message("w", "architect-new", "indexer", "Please index the messages.", ago=4000, subject="Index")
    for message_id, reader in (("s", "librarian"), ("s1", "architect-new"), ("n", "librarian")):
        mail.read(message_id, reader, ago=500)
    return mail


@contextmanager
def console(folder: Path, theme: str) -> Iterator[SignalboxApp]:
    mail = write_mail(folder)
    state = PersonalState(folder / "state.db")
    with HaakStore.open(mail.data) as store:
        app = SignalboxApp(store, Config(theme=theme), state=state, clock=lambda: NOW)
        app.animation_level = "none"
        yield app
    state.close()


async def look_at_the_thread(pilot: Pilot[Any]) -> None:
    app: Any = pilot.app
    await until(pilot, lambda: app.main_screen is not None and not app.session.is_loading)
    await settle(pilot)
    app.main_screen.threads.select("s")
    await settle(pilot)
    await pilot.press("enter")
    await settle(pilot)


@pytest.mark.parametrize("theme", ["night-box", "timetable", "blackout"])
def test_a_thread_is_read_in_each_theme(theme: str, snap_compare: Any, tmp_path: Path) -> None:
    """The thread about the schema, with a table, code, receipts and what waits."""
    with console(tmp_path, theme) as app:
        assert snap_compare(app, terminal_size=(120, 40), run_before=look_at_the_thread)


def test_an_answer_is_written_in_a_small_terminal(snap_compare: Any, tmp_path: Path) -> None:
    """Stepping in between two agents at 80 by 24, with the line that says whom it reaches."""

    async def write(pilot: Pilot[Any]) -> None:
        await look_at_the_thread(pilot)
        app: Any = pilot.app
        for field in ("#to", "#subject"):
            app.main_screen.query_one(field).cursor_blink = False
        app.main_screen.query_one("#body").cursor_blink = False
        await pilot.press("R", *"Go ahead, but keep the old field.")
        await until(pilot, lambda: app.session.personal.draft_count == 1)
        await settle(pilot)

    with console(tmp_path, "night-box") as app:
        assert snap_compare(app, terminal_size=(80, 24), run_before=write)
