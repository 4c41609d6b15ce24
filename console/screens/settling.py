"""Plan, confirm and write what settles dead letters, off the event loop, with a way to undo it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Protocol, TypeVar

from textual.content import Content
from textual.screen import Screen

from console.panes.reach_line import reach_line
from console.render.safe import visible_line
from console.render.short_text import shorten_end
from console.screens.ask import Ask
from console.session import Session
from console.stepping import stepped
from console.undo_history import UndoableAction
from mailstore.errors import MailError
from mailstore.records.message import Intervention, Message
from mailstore.state.views import DeadLetter
from mailstore.steps import BackgroundWork, Steps
from mailstore.store import Capability
from mailstore.writing.settling import Done, ReadBody, Step, overtaken, undo

__all__ = ["Settling", "SettlingScreen"]

LISTED = 8
LONGEST_BODY = 160
"""Characters of the text that are shown of what will be written."""
ERROR_SECONDS = 15.0

Texts = Mapping[str, BackgroundWork[str]]
"""The work of reading letters' texts, by id."""

Plan = Callable[[Sequence[DeadLetter], ReadBody], Sequence[Step]]
AT_ONCE = 8
"""Letters that are planned for in one step."""
T = TypeVar("T")


class SettlingScreen(Protocol):
    """What settling needs of a screen."""

    session: Session
    marked: set[str]

    def tell(self, words: str) -> None: ...
    def report(self, error: object, title: str = ..., timeout: float | None = ...) -> None: ...
    async def ask_and_wait(self, dialog: Screen[T]) -> T | None: ...
    def run_task(self, work: Coroutine[Any, Any, object], *, group: str, exclusive: bool = ...) -> None: ...
    def run_app_task(self, work: Coroutine[Any, Any, object], *, group: str) -> None: ...


class Settling:
    """Shows a plan, writes it once it is confirmed, and makes it an action that can be undone."""

    def __init__(self, screen: SettlingScreen) -> None:
        self._screen = screen
        self._session = screen.session

    def is_possible(self) -> bool:
        """Return whether letters can be settled here; say why where they can't."""
        reason = self._session.why_not(Capability.SEND) or self._session.why_not(Capability.RECORD)
        if reason:
            self._screen.tell(f"Can't settle letters here: {reason}")
        return not reason

    def settle(
        self,
        letters: Sequence[DeadLetter],
        plan: Plan,
        question: str,
        verb: str,
        done: str,
        *,
        is_reading: bool = True,
        enter_confirms: bool = False,
    ) -> None:
        """Show what a plan would write, and write it when it is confirmed; with `is_reading` it may ask for texts.

        `done` says what was done, once it is.
        """
        question_of = partial(Ask, question, verb=verb, enter_confirms=enter_confirms)
        work = self._settle(letters, plan, (question.rstrip("?"), done), question_of, is_reading=is_reading)
        self._screen.run_task(work, group="settle", exclusive=True)

    async def _settle(
        self,
        letters: Sequence[DeadLetter],
        plan: Plan,
        words: tuple[str, str],
        question_of: Callable[[Content], Ask],
        *,
        is_reading: bool,
    ) -> None:
        screen, session = self._screen, self._session
        planning = self._planned(letters, plan, is_reading=is_reading)
        try:
            async with aclosing(stepped(planning, session.rest)) as found:
                steps = [step async for some in found for step in some]
        except MailError as error:
            screen.report(error, title="Nothing was written")
            return
        if not await screen.ask_and_wait(question_of(self._preview(steps))):
            screen.tell("Nothing was written")
            return
        if overtaken(session.mailbox, steps, session.now()):
            screen.report("A letter was read or settled meanwhile: check again", title="Nothing was written")
            return
        await self._write(steps, words)

    def _planned(self, letters: Sequence[DeadLetter], plan: Plan, *, is_reading: bool) -> Steps[Sequence[Step]]:
        for at in range(0, len(letters), AT_ONCE):
            some = letters[at : at + AT_ONCE]
            texts = {it.message.id: BackgroundWork(partial(self._session.store.content, it.message)) for it in some}
            if is_reading:
                yield BackgroundWork(partial(_read_all, texts))
            yield plan(some, partial(_text_of, texts))

    def _preview(self, steps: Sequence[Step]) -> Content:
        """Return what steps would write: a line for each, and the first message with those it reaches."""
        lines = [visible_line(step.words) for step in steps[:LISTED]]
        if len(steps) > LISTED:
            lines.append(f"… and {len(steps) - LISTED} more")
        parts = [Content("\n".join(lines))]
        if (wanted := next((step.draft for step in steps if step.draft is not None), None)) is not None:
            label = self._session.mailbox.label
            to = ", ".join(map(label, wanted.recipients))
            body = shorten_end(visible_line(wanted.content[:LONGEST_BODY]), LONGEST_BODY)
            first = f"{wanted.sender} → {to} · {wanted.subject or '(no subject)'}"
            parts.append(Content(f"\n{visible_line(first)}\n{body}"))
            parts.append(reach_line(self._session.preview(wanted), "", now=self._session.now()))
        return Content("\n").join(parts)

    async def _write(self, steps: Sequence[Step], words: tuple[str, str]) -> None:
        screen = self._screen
        done, error = await asyncio.to_thread(self._session.settle, steps)
        if done:
            screen.marked.clear()
            records = [it.intervention for it in done if it.intervention is not None]
            self._session.undo_history.add(self._undoable(words[0], records, steps))
            number = f" ({len(done)} letters)" if len(done) > 1 else ""
            screen.tell(f"{words[1]}{number} · z: undo")
        if error is not None:
            title = f"{len(done)} of {len(steps)} written" if done else "Nothing was written"
            screen.report(error, title=title, timeout=ERROR_SECONDS)

    def _undoable(self, words: str, records: Sequence[Intervention], steps: Sequence[Step]) -> UndoableAction:
        """Return the action that writing these records was."""

        def take_back() -> None:
            self._screen.run_app_task(self._write_steps(self._undoing(records)), group="settle")

        def redo() -> None:
            self._screen.run_app_task(self._write_again(steps, words), group="settle")

        def writes(is_undo: bool) -> list[str]:
            return [visible_line(it.words) for it in (self._undoing(records) if is_undo else steps)]

        return UndoableAction(words, take_back, redo, writes)

    def _undoing(self, records: Sequence[Intervention]) -> list[Step]:
        """Plan to undo what some records did; raises MailError."""
        mailbox, now = self._session.mailbox, self._session.now()
        return [step for record in records for step in undo(mailbox, record, now, actor=self._session.user)]

    async def _write_steps(self, steps: Sequence[Step]) -> list[Done]:
        done, error = await asyncio.to_thread(self._session.settle, steps)
        if error is not None:
            self._screen.report(error, title="Not undone", timeout=ERROR_SECONDS)
        return done

    async def _write_again(self, steps: Sequence[Step], words: str) -> None:
        written = await self._write_steps(steps)
        records = [it.intervention for it in written if it.intervention is not None]
        self._session.undo_history.replace(self._undoable(words, records, steps))


def _read_all(texts: Texts) -> None:
    for each in texts.values():
        each.do()


def _text_of(texts: Texts, message: Message) -> str:
    return texts[message.id].found()
