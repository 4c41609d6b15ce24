"""Mark everything that is listed as seen, however much it is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from itertools import islice
from typing import TYPE_CHECKING

from console.running.stepping import stepped
from console.screens.mail_screen import MailScreen
from console.state.undo_history import UndoableAction
from mailstore.steps import MailboxReloaded, Steps

if TYPE_CHECKING:
    from console.screens.reading import Reading
    from mailstore.state.mailbox import Mailbox

ASKED = 100
"""More messages than this are marked only after asking."""
AT_ONCE = 200
"""Messages or threads that one step takes."""


class AllSeen:
    """Marks the listed messages in steps; one undo takes all of it back."""

    def __init__(self, screen: MailScreen, reading: Reading) -> None:
        self._screen = screen
        self._reading = reading

    def mark(self) -> None:
        """Mark everything in the list as seen, and say how much it was."""
        if self._reading.may_mark():
            self._screen.run_task(self._find(), group="marks")

    async def _find(self) -> None:
        """Find what is unseen in the list, and mark it: much of it only after asking."""
        from console.screens.ask import Ask

        screen, session = self._screen, self._screen.session
        roots = screen.listing.all_roots()
        listed: dict[str, None] = {}
        threads = 0
        try:
            async with aclosing(stepped(_unseen(session.mailbox, roots), session.rest)) as unseen:
                async for some in unseen:
                    threads += some[0] not in listed  # a thread that mail came to meanwhile may come twice
                    listed.update(dict.fromkeys(some))
        except MailboxReloaded:
            screen.tell("The mailbox was reloaded: nothing was marked")
            return
        found = list(listed)
        if not found:
            screen.tell("Nothing unread here")
            return
        where = f"{len(found):,} message{'s' * (len(found) != 1)} in {threads:,} thread{'s' * (threads != 1)}"

        def answered(is_sure: bool | None) -> None:
            if is_sure:
                self._mark(found, f"{where} marked as seen")
            else:
                screen.tell("Nothing was marked")

        if len(found) <= ASKED:
            answered(True)
        else:
            detail = "Agents' reads don't change. This can be undone."
            screen.ask(Ask(f"Mark {where} as seen?", detail, verb="mark"), answered)

    def _mark(self, message_ids: Sequence[str], words: str) -> None:
        def see() -> None:
            self._screen.run_task(self._see(message_ids), group="marks")

        def take_back() -> None:
            self._screen.run_task(self._unsee(message_ids), group="marks")

        see()
        self._screen.session.undo_history.add(UndoableAction(words, take_back, see))
        self._screen.tell(words)

    async def _see(self, message_ids: Sequence[str]) -> None:
        due: list[str] = []
        for some in _portions(message_ids):
            due += self._reading.note_seen(some)[1]
            await asyncio.sleep(0)
        self._screen.redraw()
        await self._reading.keep_seen(due)

    async def _unsee(self, message_ids: Sequence[str]) -> None:
        for some in _portions(message_ids):
            self._reading.note_unseen(some)
            await asyncio.sleep(0)
        self._screen.redraw()
        await self._reading.keep_seen()


def _unseen(mailbox: Mailbox, roots: Sequence[str]) -> Steps[list[str]]:
    """Yield the unseen messages of each thread that has some, and None now and then."""
    for at, root in enumerate(roots):
        if mailbox.unseen_in(root) or mailbox.quiet_in(root):
            if ids := [message.id for message in mailbox.thread_messages(root) if mailbox.is_unseen(message)]:
                yield ids
        elif at % AT_ONCE == 0:
            yield None


def _portions(message_ids: Sequence[str]) -> Iterator[list[str]]:
    every = iter(message_ids)
    while some := list(islice(every, AT_ONCE)):
        yield some
