"""A main screen that is none: it fulfils what the parts need, and notes what they do."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar, cast

from msgspec.structs import replace
from textual.screen import Screen
from textual.widget import Widget

from console.commands.command import Situation
from console.panes.footer import Footer
from console.panes.slider import Slider
from console.screens.location import ScreenLocation
from console.screens.mail_screen import Listing
from console.session import Session
from console.settings.config import Config
from console.state.composer_draft import ComposerDraft
from console.state.personal_state import PersonalState
from console.words.styles import TextStyles
from mailstore.haak import HaakStore
from mailstore.records.message import Message
from mailstore.state.views import View
from tests.mailboxes import NOW, MailFiles

T = TypeVar("T")


class FakePane:
    """A list, a conversation, a sidebar and a search bar in one: has a cursor and messages, and nothing to draw."""

    is_at_end = is_following = is_stream = is_above_stream = False
    root: str | None = None
    value, display, command = "", True, ""

    def __init__(self, screen: FakeScreen) -> None:
        self._screen = screen
        self.cursor_key: str | None = None
        self.keys: list[str] = []

    @property
    def message(self) -> Message | None:
        return self._screen.session.mailbox.message(self.cursor_key or "")

    @property
    def messages(self) -> Iterator[Message]:
        found = map(self._screen.session.mailbox.message, self.keys)
        return (message for message in found if message is not None)

    @property
    def messages_below(self) -> Iterator[Message]:
        return (message for message in self.messages if message.id != self.cursor_key)

    def show(self, root: str | None) -> None:
        self.root = root

    def move_to(self, message_id: str) -> bool:
        return False

    def next_unseen(self, step: int) -> str | None:
        return None

    def parent_key(self) -> str | None:
        return None

    def back_to_stream(self) -> None: ...

    def visible_keys(self) -> list[str]:
        return self.keys

    def select(self, key: str) -> bool:
        self.cursor_key = key
        return True

    scroll_to_key = select

    def begin(self, mode: str = "", text: str = "", history: object = None) -> None:
        self.value = text

    def tell(self, problem: object) -> None: ...
    def focus(self) -> None: ...
    def read_hidden(self) -> bool:
        return False

    def toggle_text(self) -> bool:
        return False

    toggle_whole = toggle_text

    def scroll_sideways(self, cells: int) -> bool:
        return False

    def action_page_down(self) -> None: ...
    def action_cursor_down(self) -> None: ...


class FakeComposer:
    """A composer that opens, closes and sends nothing."""

    is_open = stays_open = False
    writing = ComposerDraft("new")

    def open(self, writing: ComposerDraft) -> None:
        self.is_open, self.writing = True, writing

    def close(self) -> None:
        self.is_open = False

    discard = leave = close

    def set_body(self, text: str) -> None:
        self.writing = replace(self.writing, body=text)

    def take(self, writing: ComposerDraft) -> None:
        self.writing = writing

    def is_sendable(self) -> bool:
        return True

    def flush(self) -> None: ...
    def focus_field(self) -> None: ...
    def when_typed(self, then: Callable[[], None]) -> None:
        then()

    def send(self) -> None: ...


class FakeScreen:
    """Notes notices, errors, dialogs and tasks; `finish` runs the tasks."""

    is_unfocused = is_narrow = is_zoomed = is_streamed = False
    is_looked_at = is_current = True
    is_behind = False
    text_styles = TextStyles.of({"foreground": "white"}, "default")

    def __init__(self, session: Session, location: ScreenLocation) -> None:
        self.session, self.location = session, location
        self.listing = Listing(self)
        self.threads = self.conversation = self.sidebar = self.search_bar = FakePane(self)
        self.composer = FakeComposer()
        self.focused = "threads"
        self.notices: list[str] = []
        self.errors: list[str] = []
        self.copied: list[str] = []
        self.actions: list[str] = []
        self.drawn = 0
        self.above: list[Widget] = []
        self.footer = Footer(self.text_styles, "?")
        self.left = False
        self.dialogs: list[tuple[Screen[Any], Callable[[Any], None]]] = []
        self.answer: object = None
        self._tasks: list[Coroutine[Any, Any, object]] = []
        self.timers: list[Callable[[], object]] = []

    async def finish(self, which: int = 0) -> None:
        """Run what was begun, in order or, with -1, the last first."""
        while self._tasks:
            await self._tasks.pop(which)

    def tell(self, words: str, *, most_seconds: float = 0.0) -> None:
        self.notices.append(words)

    def report(self, error: object, title: str = "") -> None:
        self.errors.append(f"{title}: {error}" if title else str(error))

    def redraw(self) -> None:
        self.drawn += 1

    redraw_rows = redraw

    def run_task(self, work: Coroutine[Any, Any, object], *, group: str, exclusive: bool = False) -> None:
        self._tasks.append(work)

    def run_app_task(self, work: Coroutine[Any, Any, object], *, group: str) -> None:
        self._tasks.append(work)

    def ask(self, dialog: Screen[T], answered: Callable[[T | None], None]) -> None:
        self.dialogs.append((dialog, answered))

    async def ask_and_wait(self, dialog: Screen[T]) -> T | None:
        self.dialogs.append((dialog, lambda _: None))
        return cast("T | None", self.answer)

    def set_timer(self, delay: float, callback: Callable[[], object]) -> FakeTimer:
        self.timers.append(callback)
        return FakeTimer()

    def selected_message(self, otherwise: str = "nothing is selected") -> Message | None:
        if self.conversation.message is None:
            self.tell(otherwise)
        return self.conversation.message

    def show_thread(self, root: str | None, message: str | None = None) -> None:
        self.location = ScreenLocation(self.location.view, root, message)
        self.conversation.keys = [it.id for it in self.session.mailbox.thread_messages(root)] if root else []

    def show_message(self, message_id: str) -> None:
        self.show_thread(self.session.mailbox.root_of(message_id), message_id)

    def show_view(self, view: View, root: str | None = None) -> None:
        self.location = ScreenLocation(view, root)

    def full_location(self) -> ScreenLocation:
        return self.location

    def copy_to_clipboard(self, text: str) -> None:
        self.copied.append(text)

    def suspend(self) -> AbstractContextManager[None]:
        return nullcontext()

    def show_list(self) -> None: ...
    def retitle(self) -> None: ...

    def focus_pane(self, name: str) -> None:
        self.focused = name

    def pane(self) -> str:
        return self.focused

    def situation(self) -> Situation:
        return Situation()

    def toggle_zoom(self) -> None:
        self.is_zoomed = not self.is_zoomed

    def add_below(self, widget: Widget) -> None:
        self.above.append(widget)

    def add_above(self, widget: Widget) -> None:
        self.above.append(widget)

    def close_composer(self) -> None:
        self.composer.close()

    def close(self) -> None:
        """Close the files of its session."""
        assert self.session.personal.state
        self.session.personal.state.close()
        self.session.store.close()

    def add_slider(self, slider: Slider) -> None:
        self.slider = slider

    async def action_run(self, command: str) -> None:
        self.actions.append(command)

    def exit(self) -> None:
        self.left = True


class FakeTimer:
    def stop(self) -> None: ...


def fake_screen(mail: MailFiles, folder: Path, config: Config | None = None) -> FakeScreen:
    """Return a screen over a mailbox that is read at once, on all mail."""
    store = HaakStore.open(mail.data)
    session = Session(store, PersonalState(folder / "state.db"), config or Config(), clock=lambda: NOW)
    for batch in store.scan():
        session.live.fold(batch, NOW)
    session.is_loading = False
    return FakeScreen(session, ScreenLocation())
