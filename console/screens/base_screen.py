"""What the main screen and the list screens have in common: a footer for notices, dialogs, and tasks."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from textual.app import SuspendNotSupported
from textual.binding import Binding
from textual.screen import Screen
from textual.worker import Worker

from console.commands.command import ANYWHERE, WRITE, Situation
from console.commands.table import BY_ID, COMMANDS
from console.panes.footer import Footer, count_keys
from console.running.process import stop_until_continued, typed_signals_ignored
from console.running.workers import start_worker, tell_failure
from console.screens.counting import CURRENT, MOVES, CommandRun, KeyCount, Move, move
from console.screens.dialog import ClosesOnce
from console.session import Session
from console.widgets.line_view import LineView
from console.widgets.selectable_view import SelectableView
from console.words.styles import TextStyles
from mailstore.errors import log_step

if TYPE_CHECKING:
    from textual.events import Key

Action = Callable[[], Awaitable[None] | None]
"""What runs for a command."""
FOREVER = float("inf")
R = TypeVar("R")
T = TypeVar("T")


def situation_of(session: Session, *, has_row: bool) -> Situation:
    """Return what decides which commands can act, on a screen with or without something under the cursor."""
    is_past, history = session.moment is not None, session.undo_history
    return Situation(
        is_past,
        has_row,
        can_undo=not is_past and history.last_done is not None,
        can_redo=not is_past and history.last_undone is not None,
    )


def copied_words(text: str) -> str:
    """Return the notice that a text was copied."""
    lines = text.count("\n") + 1
    return f"Copied {lines:,} lines" if lines > 1 else f"Copied {len(text):,} character{'s' * (len(text) != 1)}"


def bindings(panes: frozenset[str] = ANYWHERE) -> list[Binding]:
    """Return the bindings, under their ids, of the commands that have keys in any of some panes."""
    return [
        Binding(
            command.keys,
            command.screen_action,
            command.label,
            id=command.id,
            show=False,
            priority=command.panes == WRITE,  # text fields have ctrl+e and others of their own
        )
        for command in COMMANDS
        if command.keys and command.panes & panes
    ]


class BaseScreen(ClosesOnce[R], Generic[R]):
    """A screen over a session's mail, which runs commands."""

    def __init__(self, session: Session, styles: TextStyles) -> None:
        super().__init__()
        self.session = session
        self.text_styles = styles
        self._count = KeyCount(session.keymap)
        self._action_below = ""

    @abstractmethod
    def redraw(self) -> None:
        """Draw everything that may have changed, without moving a cursor or scrolling."""

    @abstractmethod
    def pane(self) -> str:
        """Return the name of the pane that has the focus, under which its keys are declared."""

    @abstractmethod
    def situation(self) -> Situation:
        """Return what decides which commands can act now."""

    # Commands

    @abstractmethod
    def move(self, how: Move) -> None:
        """Move the cursor."""

    def actions(self) -> Mapping[str, Action]:
        """Return what runs for each command of this screen, by the command's id."""
        return {
            **{command: partial(self.move, how) for command, how in MOVES.items()},
            "palette": self._open_palette,
            "redraw": self._without_terminal,
            "suspend": partial(self._without_terminal, stop_until_continued, "No shell to return to"),
        }

    def _open_palette(self) -> None:
        self.app.action_command_palette()

    def _without_terminal(self, work: Callable[[], bool] = lambda: True, otherwise: str = "") -> None:
        """Suspend, do some work, then set the terminal up and redraw it; show a notice if that was not possible."""
        try:
            with self.suspend():
                is_done = work()
        except SuspendNotSupported:
            self.tell("Only in a terminal")
        else:
            self.tell("" if is_done else otherwise)

    async def action_run(self, command: str) -> None:
        """Run a command; what this screen doesn't have, it leaves to the mail below."""
        action = self.actions().get(command)
        if action is not None:
            await self.run(command, action)
        else:
            self.run_below(BY_ID[command].screen_action)

    async def run(self, command: str, action: Action) -> None:
        """Run what a command does, unless the console ends: the key that ends it overtakes keys typed before."""
        if self.app.return_code is not None:
            return
        log_step(command)
        this = CommandRun(command, BY_ID[command].label, self.session.keys)
        if not this.only_reads:
            self.session.undo_history.end_passing()
        token = CURRENT.set(this)
        try:
            if isawaitable(done := action()):
                await done
        finally:
            this.is_starting = False
            CURRENT.reset(token)

    def run_below(self, action: str) -> None:
        """Close this screen, and run an action on the mail below once whoever asked knows that it is closed."""
        self._action_below = action
        self.dismiss(None)

    async def action_go_view(self, kind: str) -> None:
        """Go back to the mail and show a view, which the header names."""
        self.run_below(f"go_view({kind!r})")

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Give the terminal to another program within a context, whatever is raised there.

        Raises SuspendNotSupported.
        """
        failure: Exception | None = None
        with typed_signals_ignored(), self.app.suspend():  # takes the terminal back only where nothing is raised
            try:
                yield
            except Exception as error:
                failure = error
        if failure is not None:
            raise failure

    def new_footer(self) -> Footer:
        """Return a footer for this screen."""
        keymap = self.session.keymap
        return Footer(self.text_styles, BY_ID["help"].key_label(keymap), count_keys(keymap), id="footer")

    @property
    def footer(self) -> Footer:
        return self.query_one("#footer", Footer)

    def tell(self, words: str, *, most_seconds: float = FOREVER) -> None:
        """Show a notice in the footer until it was read or the next key comes, for so many seconds at most."""
        self.footer.most_seconds = most_seconds
        self.footer.notice = words

    def report(self, error: object, title: str = "", timeout: float | None = None) -> None:
        """Show an error in a notification for some seconds, over whichever screen is shown."""
        self.app.notify(str(error), title=title, severity="error", timeout=timeout, markup=False)

    def ask(self, dialog: Screen[T], answered: Callable[[T | None], None]) -> None:
        """Show a dialog and call back with its answer; then run what a list left to the mail below."""

        def closed(answer: T | None) -> None:
            answered(answer)
            if isinstance(dialog, BaseScreen) and dialog._action_below:
                below = self.app.screen_stack[0]
                below.call_later(below.run_action, dialog._action_below)

        with self._asking(dialog):
            self.app.push_screen(dialog, closed)

    async def ask_and_wait(self, dialog: Screen[T]) -> T | None:
        """Show a dialog and return its answer; only within a task."""
        # push_screen_wait would first await screens that close: of one that closes meanwhile, which ends this task
        # with it, that ends the console
        with self._asking(dialog):
            return await asyncio.shield(self.app.push_screen(dialog, wait_for_dismiss=True))

    @contextmanager
    def _asking(self, dialog: Screen[T]) -> Iterator[None]:
        """Keep a dialog that comes late from taking keys; what runs in it belongs to no command that led to it."""
        command = CURRENT.get()
        if command is None:
            yield
            return
        if isinstance(dialog, ClosesOnce) and command.is_late(self.session.keys):
            dialog.comes_late()
        token, command.is_asking = CURRENT.set(None), True
        try:
            yield
        finally:
            command.is_asking = False
            command.goes_on(self.session.keys)
            CURRENT.reset(token)

    def run_task(self, work: Coroutine[Any, Any, object], *, group: str, exclusive: bool = False) -> None:
        """Run a coroutine beside other work until this screen closes; an exclusive one cancels others of its group."""
        self._follow(start_worker(self, work, group=group, exclusive=exclusive))

    def run_app_task(self, work: Coroutine[Any, Any, object], *, group: str) -> None:
        """Run a coroutine that continues when this screen closes."""
        self._follow(start_worker(self.app, work, group=group))

    def _follow(self, worker: Worker[object]) -> None:
        if (command := CURRENT.get()) is not None and command.is_starting:
            command.watch(worker, self._show_busy)

    def _show_busy(self, words: str) -> bool:
        if self.is_mounted and self.is_attached:
            self.footer.busy = words
        return self.is_attached

    def on_key(self, event: Key) -> None:
        """Clear the footer's notice with the next key, and collect counts; what the key does comes after this."""
        self.footer.notice = ""
        if isinstance(self.focused, SelectableView) and self._count.takes(event.key):
            event.stop()
        self.footer.count = self._count.digits

    def move_in(self, view: LineView, how: Move) -> None:
        """Move the cursor of a list or a conversation, as often as was typed."""
        move(view, how, self._count.take())
        self.footer.count = ""

    def action_drop_count(self) -> None:
        """Drop the count that was begun."""
        self._count.take()
        self.footer.count = ""

    def on_selectable_view_copied(self, event: SelectableView.Copied) -> None:
        """Copy what was selected with the mouse, through the terminal."""
        event.stop()
        self.app.copy_to_clipboard(event.text)
        self.tell(copied_words(event.text))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Report a worker that failed."""
        tell_failure(self.app, event)
