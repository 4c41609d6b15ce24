"""Waking the agent that is looked at, by the person's own command."""

from __future__ import annotations

import asyncio

from textual import work

from console import later
from console.render.safe import visible_line
from console.screens.travelling import Travelling

__all__ = ["Waking"]


class Waking(Travelling):
    """Runs the command of the table [wake] for an agent that sleeps on mail; asks before."""

    def action_wake(self) -> None:
        """Wake the agent that is looked at."""
        view, session = self.look.view, self.session
        if view.kind != "agent":
            self.tell("go to an agent first")
            return
        if session.moment is not None or session.observe:
            self.tell("nobody is woken from the past" if session.moment is not None else "observing: nobody is woken")
        else:
            self._wake(view.name)

    @work(group="wake", exclusive=True, exit_on_error=False)
    async def _wake(self, session_id: str) -> None:
        session = self.session
        shown = await asyncio.to_thread(later.shown_to, session.store, session_id)
        unread = later.unseen(session.store, session.mailbox, session_id, session.now(), shown)
        mail = later.waking_mail(unread, session.config.wake.types)
        command = session.config.wake.command
        if not mail:
            self.tell(f"{visible_line(session_id)} has no unread mail that would wake it")
            return
        if not command:
            self.tell("no command wakes agents yet: set command under [wake] in config.toml")
            return
        number = f"{len(mail)} message{'s' * (len(mail) != 1)}"
        detail = f"{' '.join(command)}\nfor {number}"
        if not await self.app.push_screen_wait(
            later.Ask(f"Wake {visible_line(session_id)}?", visible_line(detail), verb="wake")
        ):
            return
        self.tell(f"waking {visible_line(session_id)} …")
        status, seconds = await later.wake(command, self.session.store.url, session_id, mail, is_quiet=True)
        if status:
            self.notify(f"{command[0]} ended with {status}", title="Not woken", severity="error", markup=False)
        else:
            self.tell(f"{visible_line(session_id)} was woken, in {seconds:.1f} s")
