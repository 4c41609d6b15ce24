"""Join and leave channels."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from console.panes.sidebar import Sidebar
from console.screens.mail_screen import MailScreen
from console.state.undo_history import UndoableAction

if TYPE_CHECKING:
    from mailstore.state.views import View


class Channels:
    """Joins and leaves channels: in those that are joined, read records tell the senders that the user read."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen

    def toggle_joined(self) -> None:
        """Join the channel whose mail is shown, or leave it."""
        view = self._screen.location.view
        if view.kind != "channel":
            self._screen.tell("Select a channel first")
            return

        def toggle() -> None:
            self._toggle(view)

        toggle()
        self._screen.session.undo_history.add(UndoableAction(f"{view.name} joined or left", toggle, toggle))

    def _toggle(self, view: View) -> None:
        screen = self._screen
        is_joined = screen.session.personal.toggle_joined(view.name)
        screen.run_task(self._keep(view.name), group="marks")
        screen.redraw()
        screen.sidebar.select(Sidebar.key_of(screen.location.view))
        screen.tell(
            "Joined: agents see that you read it" if is_joined else "Left: agents no longer see that you read it"
        )

    async def _keep(self, tag: str) -> None:
        await asyncio.to_thread(self._screen.session.personal.save_joined, tag)
