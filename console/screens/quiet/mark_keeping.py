"""Change the user's marks, in memory at once, in the mailbox in steps, in their state from a thread; star messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from typing import Any

from console.quiet.marks import KindOfMark, Mark, changes
from console.quiet.snooze import Snooze
from console.running.stepping import stepped
from console.screens.base_screen import BaseScreen
from console.screens.mail_screen import MailScreen
from console.state.undo_history import UndoableAction
from mailstore.state.mailbox import Mailbox
from mailstore.steps import MailboxReloaded

MarkChange = Mapping[Mark, Snooze | bool | None]


class MarkKeeping:
    """Nothing of it is written into a mailbox, so it works wherever mail can be looked at."""

    def __init__(self, screen: BaseScreen[Any]) -> None:
        self._screen = screen

    def change(self, changes: MarkChange, words: str) -> None:
        """Set and remove marks, which can be undone, and say so."""
        quiet = self._screen.session.personal.quiet
        before: dict[Mark, Snooze | bool | None] = {mark: quiet.snooze(mark) or mark in quiet for mark in changes}
        self.apply(changes)
        history = self._screen.session.undo_history
        history.add(UndoableAction(words, lambda: self.apply(before), lambda: self.apply(changes)))
        self._screen.tell(words)

    def apply(self, changes: MarkChange) -> None:
        """Set and remove marks."""
        self._screen.session.personal.quiet.change(changes)
        self._screen.run_app_task(self._keep(), group="quiet")

    async def _keep(self) -> None:
        await self.take_over()
        await asyncio.to_thread(self._screen.session.personal.save_quiet)

    def begin(self) -> None:
        """Have the mailbox count by the marks as they are now, also if the caller is cancelled meanwhile."""
        self._screen.run_app_task(self.take_over(), group="quiet")

    async def take_over(self) -> None:
        """Have the mailbox count by the marks as they are now."""
        session = self._screen.session
        for mailbox in {id(it): it for it in (session.live, session.mailbox)}.values():
            await self._judge(mailbox)
        self._screen.redraw()

    async def _judge(self, mailbox: Mailbox) -> None:
        session = self._screen.session
        with suppress(MailboxReloaded):  # then everything was judged again
            marks = session.personal.quiet.own_marks()
            steps: AsyncGenerator[None] = stepped(mailbox.change_marks(marks), session.rest)
            async with aclosing(steps):
                async for _ in steps:
                    pass


def selected_threads(screen: MailScreen) -> list[str]:
    """Return the roots of the selected threads; the conversation may follow the list's cursor a moment later."""
    if screen.pane() == "conversation":
        message = screen.conversation.message
        root = None if message is None else screen.session.mailbox.root_of(message.id)
    elif marked := screen.listing.marked_roots():
        return marked
    else:
        root = screen.threads.cursor_key
    return [] if root is None else [root]


class Starring:
    """Stars the message in the conversation; in the list, the thread or all marked threads."""

    def __init__(self, screen: MailScreen, keeping: MarkKeeping) -> None:
        self._screen = screen
        self._keeping = keeping

    def toggle(self) -> None:
        """Star what is selected, or take its star away."""
        screen, quiet = self._screen, self._screen.session.personal.quiet
        marks: list[Mark]
        if screen.pane() == "conversation":
            if (message := screen.selected_message()) is None:
                return
            marks, what = [(KindOfMark.STARRED_MESSAGE, message.id)], "Message"
        else:
            marks = [(KindOfMark.STARRED_THREAD, root) for root in selected_threads(screen)]
            what = f"{len(marks)} threads" if len(marks) > 1 else "Thread"
        if not marks:
            screen.tell("No thread selected")
            return
        is_set = any(mark not in quiet for mark in marks)
        if not is_set:
            marks = [mark for mark in marks if mark in quiet]
        self._keeping.change(changes(marks, is_set), f"{what} {'starred' if is_set else 'no longer starred'}")
