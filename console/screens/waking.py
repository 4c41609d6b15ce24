"""Wake the agent whose mail is shown, with the person's own command."""

from __future__ import annotations

import asyncio
from typing import Protocol

from console.render.safe import visible_line
from console.screens.location import ScreenLocation
from console.screens.needs import PartScreen

__all__ = ["Waking", "WakingScreen"]


class WakingScreen(PartScreen, Protocol):
    """What waking needs of the screen."""

    location: ScreenLocation


class Waking:
    """Runs the command of the table [wake] for an agent with unread mail, after asking."""

    def __init__(self, screen: WakingScreen) -> None:
        self._screen = screen

    def wake(self) -> None:
        """Wake the agent whose mail is shown."""
        view, session = self._screen.location.view, self._screen.session
        if view.kind != "agent":
            self._screen.tell("Select an agent first")
        elif session.moment is not None:
            self._screen.tell("Can't wake agents while showing the past")
        elif session.observe:
            self._screen.tell("Can't wake agents: observing")
        else:
            self._screen.run_task(self._wake(view.name), group="wake", exclusive=True)

    async def _wake(self, session_id: str) -> None:
        from console.screens.ask import Ask
        from console.unread_mail import shown_to, unread_mail
        from console.wake_command import wake
        from mailstore.rules.waking import waking_mail

        screen, session, name = self._screen, self._screen.session, visible_line(session_id)
        shown = await asyncio.to_thread(shown_to, session.store, session_id)
        unread = unread_mail(session.store, session.mailbox, session_id, session.now(), shown)
        mail = waking_mail(unread, session.config.wake.types)
        command = session.config.wake.command
        if not mail:
            screen.tell(f"{name} has no unread mail that would wake it")
            return
        if not command:
            screen.tell("No wake command: set command under [wake] in config.toml")
            return
        number = f"{len(mail)} message{'s' * (len(mail) != 1)}"
        detail = f"{' '.join(command)}\nfor {number}"
        if not await screen.ask_and_wait(Ask(f"Wake {name}?", visible_line(detail), verb="wake")):
            return
        screen.tell(f"Waking {name}…")
        status, seconds = await wake(command, session.store.url, session_id, mail, is_quiet=True)
        if status:
            screen.report(f"{command[0]} ended with {status}", title="Not woken")
        else:
            screen.tell(f"{name} woken in {seconds:.1f} s")
