"""A tour of the whole console in a terminal: everything is where it should be, and no byte of the mailbox changes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from console.demo.history import write_history
from console.panes.sidebar import SidebarRow, sidebar_rows
from console.panes.titles import view_title
from console.session import Session
from console.settings.config import Config
from mailstore.records.message import Message
from mailstore.registry import open_store
from mailstore.state.views import OWN_KINDS, View
from tests.conftest import Open
from tests.console.touring import Tourist, contents
from tests.mailboxes import damaged, every_case


def damages(folder: Path) -> Path:
    return damaged(folder, time.time()).data


def demo(folder: Path) -> Path:
    write_history(folder / "data", time.time(), 1)
    return folder / "data"


Tour = Callable[..., Tourist]


@pytest.fixture
def tour(tmp_path: Path, open_console: Open) -> Tour:
    """Open a console on one of the mailboxes, and wait until it is read."""

    def start(make: Callable[[Path], Path], *words: str, size: tuple[int, int] = (120, 40)) -> Tourist:
        url = f"haak:{make(tmp_path)}"
        tourist = Tourist(open_console(url, *words, size=size), url)
        tourist.arrive()
        return tourist

    return start


def places(tourist: Tourist) -> tuple[Session, list[SidebarRow]]:
    """Return a session like the console's, and the rows of the sidebar that list threads."""
    with open_store(tourist.url) as store:
        session = Session(store, None, Config())
    session.live = tourist.mailbox
    return session, [row for row in sidebar_rows(session) if row.view is not None]


def all_mail(tourist: Tourist) -> int:
    """Return the row of the sidebar that lists all mail, from 0."""
    return next(at for at, row in enumerate(places(tourist)[1]) if row.view == View("all"))


def look_at_every_view(tourist: Tourist) -> None:
    tourist.go("1")
    tourist.terminal.press("g")
    session, rows = places(tourist)
    for at, row in enumerate(rows):
        if at:
            tourist.terminal.press("j")
        assert row.view is not None
        tourist.sees_title(view_title(session, row.view))
        if row.view.kind == "channel":  # a stream
            listed = len(tourist.mailbox.view_messages(row.view).look(1.0))
            tourist.terminal.wait_for(f" {listed} message{'s' * (listed != 1)} ")
        elif row.view.kind not in OWN_KINDS:
            listed = len(tourist.mailbox.threads(row.view))
            tourist.terminal.wait_for(f" {listed} thread{'s' * (listed != 1)} ")
        tourist.terminal.wait_for(row.label[:12])


def read_threads(tourist: Tourist) -> None:
    tourist.go_to_view(all_mail(tourist), "All mail")
    for root in tourist.walk(View("all"), most=12):
        arrows = {f"{message.sender} →" for message in tourist.mailbox.thread_messages(root)}
        tourist.sees_one_of(arrows)


def open_pages(tourist: Tourist) -> None:
    """Open a thread that is not for the person, and look at a message of it in every way."""
    newest = next(
        root
        for root in tourist.mailbox.threads(View("all"))
        if not any(map(tourist.mailbox.is_mine, tourist.mailbox.thread_messages(root)))
    )
    for root in tourist.walk(View("all")):
        if root == newest:
            break
    tourist.go("3")
    tourist.terminal.press("g")
    first = tourist.mailbox.tree(newest)[0].message
    assert isinstance(first, Message)
    assert first.location is not None
    tourist.look_up("i", first.id, first.sender, "recipients", "timeline", first.location.file)
    tourist.look_up("o", first.id, f"{first.location.file} at {first.location.offset:,}")
    tourist.look_up("?", "Keys", "Move")
    tourist.terminal.press("f")
    tourist.terminal.wait_gone("All mail")
    tourist.terminal.press("f")
    tourist.terminal.wait_for("All mail")
    tourist.terminal.press("t")
    tourist.sees_notice("Threads, sorted by time")
    tourist.terminal.press("t")
    tourist.sees_notice("One stream, the newest at the bottom")
    tourist.terminal.press("t")
    tourist.sees_notice("Threads, each as a tree of replies")
    tourist.terminal.press(":")
    tourist.terminal.wait_for("a command, a view")
    tourist.terminal.press("escape")
    tourist.terminal.wait_gone("a command, a view")
    tourist.go("2")


def search_and_filter(tourist: Tourist) -> None:
    agent = next(iter(tourist.mailbox.roster)).session_id
    for query in ("the", f"from:{agent}", "is:dead", "is:unread -the", "has:code OR is:waiting", "xyzzy"):
        tourist.ask(query)
    tourist.filter("no such thread", "Nothing matches.")
    tourist.filter(agent, agent)


def make_it_small_and_large(tourist: Tourist) -> None:
    terminal = tourist.terminal
    terminal.resize(80, 24)
    terminal.wait_for(lambda terminal: len(terminal.lines) == 24 and terminal.line(1).count("╭") == 2)
    terminal.resize(60, 20)
    terminal.wait_for(lambda terminal: terminal.line(1).count("╭") == 1)
    terminal.resize(120, 40)
    terminal.wait_for(lambda terminal: terminal.line(1).count("╭") == 3)


def open_every_list(tourist: Tourist) -> None:
    terminal, messages = tourist.terminal, tourist.mailbox.dead_letters(tourist.now)
    terminal.press("D")
    terminal.wait_for("╭─ Dead letters ─")
    for item in messages[:3]:
        terminal.wait_for(item.recipient)
    if not messages:
        terminal.wait_for("No dead letters")
    terminal.press("q")
    terminal.wait_gone("╭─ Dead letters ─")
    for key, title in (("p", "Needs attention"), ("L", "Journal"), ("w", "Saved views"), ("a", "Archive")):
        terminal.press(key)
        terminal.wait_for(f"╭─ {title}")
        terminal.press("escape")
        terminal.wait_gone(f"╭─ {title}")


def travel(tourist: Tourist) -> None:
    terminal = tourist.terminal
    terminal.press("T")
    terminal.wait_for("◷ as of ")
    terminal.press(",")
    terminal.press("T")
    terminal.wait_gone("◷ as of ")


@pytest.mark.parametrize(
    ("make", "unreadable", "words", "state"),
    [
        pytest.param(damages, 6, ("--observe",), "observing", id="damages-observing"),
        pytest.param(demo, 1, (), "live", id="demo-live"),
    ],
)
def test_a_tour_changes_no_byte(
    make: Callable[[Path], Path], unreadable: int, words: tuple[str, ...], state: str, tmp_path: Path, tour: Tour
) -> None:
    tourist = tour(make, *words)
    before = contents(tmp_path / "data")
    tourist.terminal.wait_for(lambda terminal: f" {state}  " in terminal.line(0))
    if unreadable:
        tourist.terminal.wait_for(f"{unreadable} line{'s' * (unreadable != 1)} unreadable")
    look_at_every_view(tourist)
    read_threads(tourist)
    open_pages(tourist)
    search_and_filter(tourist)
    make_it_small_and_large(tourist)
    open_every_list(tourist)
    travel(tourist)
    tourist.quit()
    assert contents(tmp_path / "data") == before


def test_only_opened_mail_to_the_person_is_recorded_as_read(tmp_path: Path, open_console: Open) -> None:
    mail, _ = every_case(tmp_path, time.time())
    before = contents(mail.data)
    tourist = Tourist(open_console(mail.url), mail.url)
    tourist.arrive()
    for root in tourist.walk(View("all")):
        if root in ("user-unread", "direct-unread"):
            tourist.terminal.press("enter")
            tourist.await_pane("3")
            tourist.terminal.wait_for(f"{37 - (1 if root == 'direct-unread' else 2)} new")
            tourist.go("2")
    tourist.quit()
    after = contents(mail.data)
    was, now = before.pop(mail.reads.name)[0], after.pop(mail.reads.name)[0]
    assert after == before
    assert now.startswith(was)
    (record,) = now[len(was) :].decode().splitlines()
    assert (json.loads(record)["message_id"], json.loads(record)["reader_session_id"]) == ("user-unread", "user")
