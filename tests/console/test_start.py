"""The start: the first frame holds the newest mail and needs little; the rest comes after it, and keys wait for it."""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import pytest
from textual.events import Key, MouseDown, MouseScrollDown
from textual.worker import Worker

from console import feed, preload
from console.cli import open as open_command
from console.running import prefetch
from console.running.prefetch import Prefetch
from console.screens import drawing
from console.screens.location import ScreenLocation
from console.state.personal_state import PersonalState
from mailstore.errors import StoreError
from mailstore.haak import HaakStore
from mailstore.memory import MemoryStore
from mailstore.records.events import Event, Progress, Seen
from tests.conftest import Open, Start
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles, every_case

HEAVY = (
    "argparse",
    "console.cli.dispatch",
    "console.commands.keymap",
    "console.panes.composer",
    "console.panes.reader",
    "console.panes.search_bar",
    "console.screens.palette",
    "console.screens.ask",
    "console.screens.parts",
    "console.screens.reading",
    "console.screens.list_screen",
    "console.screens.viewer",
    "console.state.personal_state",
    "gzip",
    "hashlib",
    "importlib.metadata",
    "json",
    "mailstore.writing.archiving",
    "mailstore.records.draft",
    "mailstore.folding",
    "mailstore.queries.query",
    "mailstore.queries.search",
    "markdown_it",
    "pydantic",
    "pygments",
    "rich.markdown",
    "sqlite3",
    "statistics",
    "textual.document",
    "tomllib",
    "watchfiles",
)
MOUSE = {"click": MouseDown, "wheel": MouseScrollDown}
AT_THE_TEXT = 100, 10, 0, 0, 1, False, False, False
"""Where the mouse is used: on the conversation; with the first button and nothing else."""
AT_THE_FIRST_FRAME = """
import sys
import threading
from pathlib import Path
from textual.drivers.linux_driver import LinuxDriver
told, write = Path(sys.argv.pop()), LinuxDriver.write
def watched(driver, data):
    if " threads " in data and not told.exists():
        told.write_text("\\n".join(sys.modules))
    write(driver, data)
LinuxDriver.write = watched
from console.cli import main
main(sys.argv[1:])
"""


def test_the_first_frame_holds_mail_and_nothing_heavy_was_imported_for_it(tmp_path: Path, terminal: Start) -> None:
    mail, _ = every_case(tmp_path)
    told = tmp_path / "modules"
    shown = terminal([sys.executable, "-c", AT_THE_FIRST_FRAME, "open", mail.url, str(told)])
    shown.wait_for("The text of")
    assert b"0 threads" not in shown.raw
    assert b"Backdrop" not in shown.raw
    assert not set(HEAVY) & set(told.read_text().split())


def test_keys_and_conversations_need_nothing_heavy_either() -> None:
    heavy = "console.panes.query_input", "mailstore.queries.search_context", "pydantic", "pygments"
    code = "import sys, console.app, console.screens.parts, console.panes.reader; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not set(heavy) & set(loaded.split())


@pytest.mark.parametrize("module", preload.MODULES)
def test_what_is_imported_after_the_first_frame_exists(module: str) -> None:
    assert find_spec(module) is not None


def test_opening_plainly_is_opening_without_options() -> None:
    parser = argparse.ArgumentParser()
    open_command.add_arguments(parser)
    assert vars(parser.parse_args(["x"])) == {"url": ["x"], **open_command.PLAINLY}


class Slices(MemoryStore):
    """Hands out what it is given, and then fails if it is told to."""

    batches: ClassVar[list[list[Event]]] = [[Seen("a")], [Seen("b"), Progress(1, 2)], [Seen("c")], [Progress(2, 2)]]
    fails = False

    def scan(self) -> Iterator[list[Event]]:
        yield from self.batches
        if self.fails:
            raise StoreError("it is gone", "look for it")


def test_a_scan_is_handed_out_once_the_newest_ahead_of_the_rest(tmp_path: Path) -> None:
    ahead = Prefetch(Slices.create(tmp_path / "lines"))
    assert ahead.head() == Slices.batches[:2]
    assert list(ahead.rest()) == Slices.batches[2:]


def test_a_scan_that_nobody_looked_ahead_in_is_whole(tmp_path: Path) -> None:
    assert list(Prefetch(Slices.create(tmp_path / "lines")).rest()) == Slices.batches


def test_what_fails_ahead_is_told_by_the_rest(tmp_path: Path) -> None:
    store = Slices.create(tmp_path / "lines")
    store.batches, store.fails = [[Seen("a")]], True  # type: ignore[misc]
    ahead = Prefetch(store)
    assert ahead.head() == [[Seen("a")]]
    with pytest.raises(StoreError, match="it is gone"):
        list(ahead.rest())


def test_a_preview_that_the_first_frame_did_not_wait_for_comes_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail, _ = every_case(tmp_path)
    may_go = threading.Event()
    usual = HaakStore.glimpse
    monkeypatch.setattr(prefetch, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(HaakStore, "is_long", lambda store: True)
    monkeypatch.setattr(HaakStore, "glimpse", lambda store: usual(store) if may_go.wait(10) else [])
    with HaakStore.open(mail.mailbox) as store:
        ahead = Prefetch(store)
        assert ahead.head() == []
        may_go.set()
        assert ahead.late_preview() == usual(store) != []
        assert ahead.late_preview() == []


def test_keys_typed_at_the_first_frame_reach_the_pane_that_they_open(tmp_path: Path, open_console: Open) -> None:
    mail, _ = every_case(tmp_path)
    shown = open_console(mail.url)
    shown.wait_for("threads")
    shown.send("c")
    shown.wait_for("Write")
    shown.send("ann-00000001")
    shown.wait_for("Write → ann-00000001")


def test_a_list_is_moved_in_at_the_first_frame(tmp_path: Path, open_console: Open) -> None:
    mail, _ = every_case(tmp_path)
    shown = open_console(mail.url)
    shown.wait_for("threads")
    shown.send("jj")
    subject = shown.line(6)[28:40].strip("▌ ")
    shown.wait_for(lambda terminal: f"─ {subject}" in terminal.line(1)[60:])


@pytest.mark.parametrize("left_at", ["", "m7", "m50", "gone"])
@pytest.mark.parametrize("key", ["", "j", "l", "click", "wheel"])
async def test_the_newest_mail_stays_at_the_top_while_all_is_read_until_the_user_does_something(
    key: str, left_at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = MailFiles(tmp_path)
    for number in range(60):
        mail.message(f"m{number}", "ann-00000001", "user", "A word.", ago=60 - number)
    places = list[tuple[str | None, int]]()
    fold = feed.MailFeed.fold

    def folded(self: feed.MailFeed, batch: list[Event]) -> None:
        fold(self, batch)
        threads = self._screen.threads
        places.append((threads.cursor_key, threads.rows_above()))
        if key and len(self._session.live) == 30 and not self._session.keys:
            done = MOUSE[key](None, *AT_THE_TEXT) if key in MOUSE else Key(key, key)
            self._app.post_message(done)  # type: ignore[attr-defined]

    monkeypatch.setattr(Prefetch, "head", lambda ahead: [])
    monkeypatch.setattr(feed, "SLICE_EVENTS", 1)
    monkeypatch.setattr(feed, "SLICE_SECONDS", -1.0)
    for pause in ("FRAME_SECONDS", "STORM_SECONDS", "LOADING_SECONDS", "SHARE"):
        monkeypatch.setattr(drawing, pause, 0)
    monkeypatch.setattr(feed.MailFeed, "fold", folded)
    if left_at:
        kept = PersonalState(tmp_path / "kept.db")
        with HaakStore.open(mail.data) as store:
            kept.save_session(store.url, ScreenLocation(root=left_at).plain())
        kept.close()
    async with opened(mail.data, size=(120, 20), state=tmp_path / "kept.db") as seat:
        threads = seat.screen.threads
        at, above = threads.cursor_key or "", threads.rows_above()
        seen = {cursor for cursor, _ in places}
        if not key:
            assert (at, above > 0) == ((left_at, True) if left_at[:1] == "m" else ("m59", False))
        elif left_at in ("", "m7"):
            assert int(at[1:]) < 35, "where it was when the key was pressed, or the row below"
        if not left_at:
            assert len(seen) > 5, "it was drawn while mail was read"
            assert {above for _, above in places[:25]} == {0}


async def test_what_was_seen_before_is_seen_in_the_first_frame(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data, state=tmp_path / "kept.db") as seat:
        url, key = seat.app.session.store.url, next(iter(seat.app.session.live.ids()))
    kept = PersonalState(tmp_path / "kept.db")
    kept.mark_seen(url, [key])
    assert kept.seen_of(url, ["nobody", key]) == [key]
    kept.close()


async def test_a_console_that_ends_while_its_work_begins_says_nothing_of_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, groups = set[str](), {"hooks", "usage", "themes"}
    start = Worker._start

    def cancelled(worker: Worker[Any], *needs: Any) -> None:
        start(worker, *needs)
        if worker.group in groups:
            worker.cancel()  # before its first step
            ended.add(worker.group)

    monkeypatch.setattr(Worker, "_start", cancelled)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        async with opened(every_case(tmp_path)[0].data) as seat:
            await seat.until(lambda: ended == groups)
        del seat
        gc.collect()
    assert not [str(warning.message) for warning in said]
