"""Planning, confirming and writing what settles dead letters, off the event loop, with a way back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from textual import work

from console.screens.ask import Ask
from console.screens.sheet import Sheet
from console.undoing import Deed
from mailstore.errors import MailError
from mailstore.message import Intervention
from mailstore.settling import Done, Step, overtaken, undo
from mailstore.store import Capability

__all__ = ["Settling"]

LISTED = 8

Plan = Callable[[], Sequence[Step]]


class Settling(Sheet):
    """A sheet that settles letters: a plan is shown, confirmed with `y`, written, and can be undone."""

    def may_settle(self) -> bool:
        """Say whether letters can be settled here; tell why where they can't."""
        reason = self.session.why_not(Capability.SEND) or self.session.why_not(Capability.RECORD)
        if reason:
            self.tell(f"can't settle letters here: {reason}")
        return not reason

    @work(group="settle", exclusive=True, exit_on_error=False)
    async def settle(self, plan: Plan, question: str) -> None:
        """Show what would be written, and write it when the person says so."""
        try:
            steps = await asyncio.to_thread(plan)
        except MailError as error:
            self.notify(str(error), title="Not done", severity="error", markup=False)
            return
        lines = [step.words for step in steps[:LISTED]]
        if len(steps) > LISTED:
            lines.append(f"… and {len(steps) - LISTED} more")
        if not await self.app.push_screen_wait(Ask(question, "\n".join(lines))):
            return
        if overtaken(self.session.mailbox, steps, self.session.now()):
            self.notify(
                "a letter was read or settled meanwhile: look again", title="Nothing was written", severity="error"
            )
            return
        await self._write(steps, question.rstrip("?"))

    async def _write(self, steps: Sequence[Step], words: str) -> None:
        done, error = await asyncio.to_thread(self.session.settle, steps)
        if done:
            self.marked.clear()
            deeds = [it.intervention for it in done if it.intervention is not None]
            self.session.deeds.add(Deed(words, lambda: self._take_back(deeds), lambda: self._do_again(steps, words)))
            self.tell(f"{len(done)} written · z undoes")
        if error is not None:
            title = f"{len(done)} of {len(steps)} written" if done else "Nothing was written"
            self.notify(str(error), title=title, severity="error", timeout=15, markup=False)

    def _take_back(self, deeds: Sequence[Intervention]) -> None:
        mailbox, now = self.session.mailbox, self.session.now()
        steps = [step for deed in deeds for step in undo(mailbox, deed, now, actor=self.session.user)]
        self.app.run_worker(self._written(steps), group="settle", exit_on_error=False)

    async def _written(self, steps: Sequence[Step]) -> list[Done]:
        done, error = await asyncio.to_thread(self.session.settle, steps)
        if error is not None:
            self.app.notify(str(error), title="Not undone", severity="error", timeout=15, markup=False)
        return done

    def _do_again(self, steps: Sequence[Step], words: str) -> None:
        self.app.run_worker(self._again(steps, words), group="settle", exit_on_error=False)

    async def _again(self, steps: Sequence[Step], words: str) -> None:
        written = await self._written(steps)
        deeds = [it.intervention for it in written if it.intervention is not None]
        self.session.deeds.replace(Deed(words, lambda: self._take_back(deeds), lambda: self._do_again(steps, words)))
