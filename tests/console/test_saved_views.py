"""Saved views: searches under a name, with counts that follow the mailbox."""

from __future__ import annotations

import asyncio
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from console.screens import drawing, saved_counts
from console.settings.config import Config
from console.state import saved_views
from console.state.saved_views import SavedViewHits
from mailstore.haak import HaakStore
from mailstore.queries.search_context import SearchContext
from mailstore.records.message import Message
from mailstore.state.views import View
from mailstore.steps import Steps
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.message("lamp", "ann-00000001", "bob-00000001", "The lamp.", ago=60, subject="Lamp")
    mail.message("ink", "ann-00000001", "bob-00000001", "The ink.", ago=50, subject="Ink")
    return mail


async def test_a_search_is_saved_counted_run_and_found_again(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.press("slash", *"lamp")
        await seat.sees("1 thread for lamp")
        await seat.press("escape", "w")
        assert "No saved views." in seat.text
        await seat.press("s", "enter", *"Lamps", "enter")
        await seat.sees("1 new  1")
        assert "Lamps" in seat.lines[2]
        mail.message("more", "ann-00000001", "bob-00000001", "A lamp again.", ago=0)
        await seat.sees("2 new  2")
        await seat.press("enter")
        await seat.sees("─ Lamps ─")
        await seat.sees(" 2 threads ")
        await seat.press("q")
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.sees("─ Lamps ─")
        await seat.sees(" 2 threads ")
        await seat.press("w")
        await seat.sees("2 new  2")
        await seat.press("X", "y")
        assert "No saved views." in seat.text
        await seat.press("z")
        await seat.sees("Lamps")


async def test_what_comes_while_it_is_counted_does_not_put_the_count_off(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data, config=Config(views={"Of light": "the"})) as seat:
        await seat.sees("Of light 2")
        reading, may_read = Event(), Event()
        store = seat.app.session.store
        assert isinstance(store, HaakStore)
        text = store.search_text

        def slow(message: Message) -> str:
            reading.set()
            may_read.wait(10)
            return text(message)

        store.search_text = slow  # type: ignore[method-assign]
        mail.message("more", "ann-00000001", "bob-00000001", "The lamp again.", ago=0, subject="Another")
        await asyncio.to_thread(reading.wait, 10)
        [counting] = [each for each in seat.app.workers if each.name == "_count"]
        for _ in range(3):
            seat.screen.redraw()
            seat.screen.tick()
        assert [each for each in seat.app.workers if each.name == "_count"] == [counting]
        may_read.set()
        await seat.sees("Of light 3")
        assert not counting.is_cancelled


async def test_what_comes_while_it_is_counted_and_is_drawn_with_the_count_is_counted_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = write_mail(tmp_path)
    shown: list[int] = []
    monkeypatch.setattr(saved_counts, "COST", 0)
    async with opened(mail.data, config=Config(views={"Of light": "lamp"})) as seat:
        await seat.sees("Of light 1")
        run = saved_views.run_saved_views

        def overtaken(context: SearchContext, *args: Any) -> Steps[tuple[str, SavedViewHits]]:
            yield from run(context, *args)
            if not shown:  # it is counted, and its last mail is not drawn yet
                shown.append(len(seat.app.session.live))
                monkeypatch.setattr(drawing, "FRAME_SECONDS", 3600.0)
                mail.message("more", "ann-00000001", "all", "A lamp again.", ago=0, subject="Another")
                while len(seat.app.session.live) == shown[0]:
                    yield None
                monkeypatch.undo()
                monkeypatch.setattr(saved_counts, "COST", 0)

        monkeypatch.setattr(saved_views, "run_saved_views", overtaken)
        seat.screen.redraw()
        await seat.sees("Of light 2")
        assert shown == [2]


async def test_a_saved_view_stands_in_the_sidebar_and_follows_the_mailbox(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    config = Config(views={"Of light": "lamp", "Broken": "is:nonsense"})
    async with opened(mail.data, config=config) as seat:
        await seat.sees("Of light 1")
        await seat.sees("Broken ✕")
        seat.screen.show_view(View("saved", "Of light"))
        await seat.sees(" 1 thread ")
        mail.message("more", "ann-00000001", "bob-00000001", "A lamp again.", ago=0, subject="Another")
        await seat.sees("Of light 2")
        await seat.sees(" 2 threads ")
        await seat.press("backslash", *"another", "enter")
        await seat.sees(" 1 thread ")
        await seat.press("escape", "A", "U")
        await seat.sees(" 1 thread ")
        seat.screen.show_view(View("saved", "Broken"))
        await seat.press("U")
        await seat.sees("Invalid query.")


async def test_views_of_the_settings_stand_there_and_a_query_that_can_not_be_read_is_refused(tmp_path: Path) -> None:
    config = Config(views={"Ink": "subject:ink"})
    async with opened(write_mail(tmp_path).data, config=config, size=(160, 40)) as seat:
        await seat.press("w")
        await seat.sees("1 new  1")
        assert "kept in  config.toml" in seat.text
        await seat.press("X")
        assert "This view is set in config.toml" in seat.lines[-1]
        await seat.press("s", *"is:nonsense", "enter")
        assert "nonsense" in seat.text
