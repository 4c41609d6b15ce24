"""The main screen: everything together, and the way out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from textual import work
from textual.events import Key

from console import later
from console.panes.sidebar import Sidebar
from console.screens.waking import Waking
from console.undo_history import UndoableAction
from mailstore.state.views import View

if TYPE_CHECKING:
    from console.app import SignalboxApp
    from console.screens.list_screen import ListScreen

__all__ = ["MainScreen"]

SHEETS: dict[str, Callable[[], type[ListScreen]]] = {
    "attention": lambda: later.NeedsAttention,
    "dead-letters": lambda: later.DeadLetters,
    "journal": lambda: later.Journal,
    "views": lambda: later.SavedViews,
}


class MainScreen(Waking):
    """What the person sees all day."""

    def action_help(self) -> None:
        """Show the keys of this pane, made from the commands themselves."""
        self.show_page("help", "Keys", later.help_page(self.pane(), self.session.keymap, self.session.why_not))

    def action_problems(self, is_asked_for: bool = True) -> None:
        """Show all that is wrong in the settings, by file."""

        def closed(key: Key | None) -> None:
            if key is not None:
                self.app.post_message(key)

        page = later.problem_page(cast("SignalboxApp", self.app).problems)
        self.app.push_screen(later.Viewer("Problems in the settings", page, is_asked_for=is_asked_for), closed)

    def action_sheet(self, name: str) -> None:
        """Open one of the lists over the mail; a message that is chosen there is gone to."""

        def chosen(found: str | None) -> None:
            if found is not None and name == "views":
                self.show_view(View("saved", found))
            elif found is not None:
                self.jump(found)

        self.app.push_screen(SHEETS[name]()(self.session, self.text_styles), chosen)

    def action_unreadable(self) -> None:
        """Show what can't be read, and why."""
        self.app.push_screen(later.Unreadable(self.session, self.text_styles))

    def action_archive(self) -> None:
        """Show what may leave for the archive."""
        self.app.push_screen(later.Archive(self.session, self.text_styles))

    async def leave(self) -> None:
        """Quit, and remember where the person left off; what is being written is kept."""
        self.composer.flush()
        await asyncio.to_thread(self.session.leave, self.place().remembered())
        self.app.exit()

    @work(group="close", exclusive=True, exit_on_error=False)
    async def action_close(self) -> None:
        """Close what is open; at the root, quit, asking when a draft is open."""
        if self.composer.is_open and not self.composer.writing.is_blank:
            self.composer.flush()
            if await self.app.push_screen_wait(
                later.Ask("Leave with a draft open?", "It is kept and will be here again.", verb="leave")
            ):
                await self.leave()
        else:
            await self.leave()

    def action_join(self) -> None:
        """Join the channel that is looked at, or leave it: joined, reading it is told to its senders."""
        view = self.look.view
        if view.kind != "channel":
            self.tell("go to a channel first")
            return
        self._turn_joined(view)
        self.session.undo_history.add(
            UndoableAction(
                f"{view.name} joined or left", lambda: self._turn_joined(view), lambda: self._turn_joined(view)
            )
        )

    def _turn_joined(self, view: View) -> None:
        is_joined = self.session.join(view.name)
        self._keep_joined(view.name)
        self.redraw()
        self.sidebar.select(Sidebar.key_of(self.look.view))
        self.tell("joined: agents see that you read it" if is_joined else "left: agents no longer see that you read it")

    @work(thread=True, group="marks", exit_on_error=False)
    def _keep_joined(self, tag: str) -> None:
        self.session.keep_joined(tag)
