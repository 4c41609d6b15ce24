"""Planning, confirming and writing what settles dead letters, off the event loop, with a way back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import partial

from textual import work
from textual.content import Content

from console.panes.reach_line import reach_line
from console.render.safe import visible_line
from console.render.short_text import shorten_end
from console.screens.ask import Ask
from console.screens.list_screen import ListScreen
from console.stepping import stepped
from console.undo_history import UndoableAction
from mailstore.errors import MailError
from mailstore.records.message import Intervention
from mailstore.state.views import DeadLetter
from mailstore.steps import Aside, Steps
from mailstore.store import Capability
from mailstore.writing.settling import Done, ReadBody, Step, overtaken, undo

__all__ = ["Settling"]

LISTED = 8
LONGEST_BODY = 160
"""Characters of the text that are shown of what will be written."""

Plan = Callable[[Sequence[DeadLetter], ReadBody], Sequence[Step]]
AT_ONCE = 8
"""Letters that are planned for in one step."""


class Settling(ListScreen):
    """A sheet that settles letters: a plan is shown, confirmed with `y`, written, and can be undone."""

    def may_settle(self) -> bool:
        """Say whether letters can be settled here; tell why where they can't."""
        reason = self.session.why_not(Capability.SEND) or self.session.why_not(Capability.RECORD)
        if reason:
            self.tell(f"can't settle letters here: {reason}")
        return not reason

    @work(group="settle", exclusive=True, exit_on_error=False)
    async def settle(
        self,
        letters: Sequence[DeadLetter],
        plan: Plan,
        question: str,
        verb: str,
        *,
        is_reading: bool = True,
        enter_confirms: bool = False,
    ) -> None:
        """Show what would be written, and write it when the person says so; a plan may ask for the letters' texts."""
        try:
            async with aclosing(
                stepped(self._planned(letters, plan, is_reading=is_reading), self.session.rest)
            ) as found:
                steps = [step async for some in found for step in some]
        except MailError as error:
            self.notify(str(error), title="Not done", severity="error", markup=False)
            return
        detail = self._told(steps)
        if not await self.app.push_screen_wait(Ask(question, detail, verb=verb, enter_confirms=enter_confirms)):
            self.tell("nothing was written")
            return
        if overtaken(self.session.mailbox, steps, self.session.now()):
            self.notify(
                "a letter was read or settled meanwhile: look again", title="Nothing was written", severity="error"
            )
            return
        await self._write(steps, question.rstrip("?"))

    def _planned(self, letters: Sequence[DeadLetter], plan: Plan, *, is_reading: bool) -> Steps[Sequence[Step]]:
        for at in range(0, len(letters), AT_ONCE):
            some = letters[at : at + AT_ONCE]
            texts = {it.message.id: Aside(partial(self.session.store.content, it.message)) for it in some}
            if is_reading:
                yield Aside(lambda texts=texts: [each.do() for each in texts.values()])  # type: ignore[misc]
            yield plan(some, lambda message, texts=texts: texts[message.id].found())  # type: ignore[misc]

    def _told(self, steps: Sequence[Step]) -> Content:
        """Say what steps write: each in a line, and what the first message says and whom it reaches."""
        lines = [visible_line(step.words) for step in steps[:LISTED]]
        if len(steps) > LISTED:
            lines.append(f"… and {len(steps) - LISTED} more")
        parts = [Content("\n".join(lines))]
        if (wanted := next((step.draft for step in steps if step.draft is not None), None)) is not None:
            label = self.session.mailbox.label
            to = ", ".join(map(label, wanted.recipients))
            body = shorten_end(visible_line(wanted.content[:LONGEST_BODY]), LONGEST_BODY)
            first = f"{wanted.sender} → {to} · {wanted.subject or '(no subject)'}"
            parts.append(Content(f"\n{visible_line(first)}\n{body}"))
            parts.append(reach_line(self.session.preview(wanted), "", now=self.session.now()))
        return Content("\n").join(parts)

    async def _write(self, steps: Sequence[Step], words: str) -> None:
        done, error = await asyncio.to_thread(self.session.settle, steps)
        if done:
            self.marked.clear()
            deeds = [it.intervention for it in done if it.intervention is not None]
            self.session.undo_history.add(self._deed(words, deeds, steps))
            self.tell(f"{len(done)} written · z undoes")
        if error is not None:
            title = f"{len(done)} of {len(steps)} written" if done else "Nothing was written"
            self.notify(str(error), title=title, severity="error", timeout=15, markup=False)

    def _deed(self, words: str, deeds: Sequence[Intervention], steps: Sequence[Step]) -> UndoableAction:
        return UndoableAction(
            words,
            lambda: self._take_back(deeds),
            lambda: self._redo(steps, words),
            lambda is_undo: [visible_line(it.words) for it in (self._undoing(deeds) if is_undo else steps)],
        )

    def _undoing(self, deeds: Sequence[Intervention]) -> list[Step]:
        """Plan to take deeds back; raises MailError."""
        mailbox, now = self.session.mailbox, self.session.now()
        return [step for deed in deeds for step in undo(mailbox, deed, now, actor=self.session.user)]

    def _take_back(self, deeds: Sequence[Intervention]) -> None:
        self.app.run_worker(self._written(self._undoing(deeds)), group="settle", exit_on_error=False)

    async def _written(self, steps: Sequence[Step]) -> list[Done]:
        done, error = await asyncio.to_thread(self.session.settle, steps)
        if error is not None:
            self.app.notify(str(error), title="Not undone", severity="error", timeout=15, markup=False)
        return done

    def _redo(self, steps: Sequence[Step], words: str) -> None:
        self.app.run_worker(self._written_again(steps, words), group="settle", exit_on_error=False)

    async def _written_again(self, steps: Sequence[Step], words: str) -> None:
        written = await self._written(steps)
        deeds = [it.intervention for it in written if it.intervention is not None]
        self.session.undo_history.replace(self._deed(words, deeds, steps))
