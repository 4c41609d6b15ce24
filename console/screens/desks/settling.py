"""Plan, confirm and write what settles dead letters, off the event loop, with a way to undo it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct
from textual.content import Content
from textual.screen import Screen

from console.panes.reach_line import reach_line
from console.render.safe import visible_line
from console.render.short_text import count, shorten_end
from console.running.stepping import aside, stepped
from console.screens.base_screen import BaseScreen
from console.sending.delivery import delivery_of
from console.state.undo_history import UndoableAction
from mailstore.errors import MailError
from mailstore.records.message import Intervention, Message
from mailstore.state.views import DeadLetter
from mailstore.steps import BackgroundWork, Steps
from mailstore.store import Capability
from mailstore.writing.settling import Done, NotSettled, ReadBody, Step, overtaken, undo

LONGEST_BODY = 160
"""Characters of the text that are shown of what will be written."""
ERROR_SECONDS = 15.0
EMPTY = Content()

Texts = Mapping[str, BackgroundWork[str]]
"""The work of reading messages' texts, by id."""

Plan = Callable[[Sequence[DeadLetter], str, ReadBody], Sequence[Step]]
"""Plans what settles messages, from an answer (an address, a number of hours) and their texts."""
AT_ONCE = 8
"""Messages that are planned for in one step."""
T = TypeVar("T")


class DeadLetterPreview(Struct, frozen=True):
    """What an answer would write: the record, the message in a line, its text, and whom it reaches; or a problem."""

    record: Content = EMPTY
    message: Content = EMPTY
    body: Content = EMPTY
    reach: Content = EMPTY
    problem: str = ""

    def content(self, *, is_short: bool) -> Content:
        """Return it as text, without record and text where there is little room."""
        if self.problem:
            return Content.styled(visible_line(self.problem), "$warning")
        if not self.message.plain:
            return self.record
        parts = [self.message, self.reach] if is_short else [self.record, EMPTY, self.message, self.body, self.reach]
        return Content("\n").join(parts)


class Settlement(Struct, frozen=True):
    """One way to settle messages: what to call it, how to plan it, and what to say once it is done."""

    words: str
    plan: Plan
    done: Callable[[str], str]
    is_reading: bool = True


Settled = Callable[[Sequence[DeadLetter], str], None]
"""Hears of dead letters that were settled, and what was done; no words: that was undone."""

Preview = Callable[[str], DeadLetterPreview]
"""Returns what an answer would write, or what is wrong with it."""

Asking = Callable[[Preview], Screen[Any]]
"""Makes the dialog that asks for the answer: a text, or only yes or no."""


class Settling:
    """Shows what will be written, writes it once it is confirmed, and makes it an action that can be undone."""

    def __init__(self, screen: BaseScreen[Any], settled: Settled) -> None:
        self._screen = screen
        self._settled = settled
        self._session = screen.session

    def is_possible(self) -> bool:
        """Return whether messages can be settled here; say why where they can't."""
        reason = self._session.why_not(Capability.SEND) or self._session.why_not(Capability.RECORD)
        if reason:
            self._screen.tell(f"Can't settle messages here: {reason}")
        return not reason

    def settle(self, dead_letters: Sequence[DeadLetter], how: Settlement, asking: Asking) -> None:
        """Ask in one dialog, which shows the line that will be written, and write it when it is confirmed."""
        self._screen.run_task(self._settle(dead_letters, how, asking), group="settle", exclusive=True)

    async def _settle(self, dead_letters: Sequence[DeadLetter], how: Settlement, asking: Asking) -> None:
        screen, session = self._screen, self._session
        texts = self._texts(dead_letters[:1]) if how.is_reading else {}
        await aside(BackgroundWork(partial(_read_all, texts)))
        answer = await screen.ask_and_wait(asking(partial(self._preview, dead_letters, how, texts)))
        if answer is None or answer is False:
            screen.tell("Nothing was written")
            return
        answer = "" if answer is True else answer
        planning = self._planned(dead_letters, how, answer)
        try:
            async with aclosing(stepped(planning, session.rest)) as results:
                steps = [step async for some in results for step in some]
        except MailError as error:
            screen.report(error, title="Nothing was written")
            return
        if overtaken(session.mailbox, steps, session.now()):
            screen.report("A message was read or settled meanwhile: check again", title="Nothing was written")
            return
        await self._write(dead_letters, steps, how, answer)

    def _texts(self, dead_letters: Sequence[DeadLetter]) -> Texts:
        return {
            dead_letter.message.id: BackgroundWork(partial(self._session.store.content, dead_letter.message))
            for dead_letter in dead_letters
        }

    def _planned(self, dead_letters: Sequence[DeadLetter], how: Settlement, answer: str) -> Steps[Sequence[Step]]:
        for at in range(0, len(dead_letters), AT_ONCE):
            some = dead_letters[at : at + AT_ONCE]
            texts = self._texts(some) if how.is_reading else {}
            yield BackgroundWork(partial(_read_all, texts))
            yield how.plan(some, answer, partial(_text_of, texts))

    def _preview(
        self, dead_letters: Sequence[DeadLetter], how: Settlement, texts: Texts, answer: str
    ) -> DeadLetterPreview:
        """Return the record that an answer would write for the first message, and whom it reaches; or what is wrong."""
        try:
            step = how.plan(dead_letters[:1], answer, partial(_text_of, texts))[0]
        except MailError as error:
            return DeadLetterPreview(problem=str(error))
        more = len(dead_letters) - 1
        record = Content(f"{visible_line(step.words)}" + (f", and {count(more)} more" if more else ""))
        if step.draft is None:
            return DeadLetterPreview(record)
        draft, label = step.draft, self._session.mailbox.label
        to = ", ".join(map(label, draft.recipients))
        first = f"{draft.sender} → {to} · {draft.subject or '(no subject)'}"
        body = shorten_end(visible_line(draft.content[:LONGEST_BODY]), LONGEST_BODY)
        reach = reach_line(delivery_of(self._session).reach(draft), "", now=self._session.now())
        return DeadLetterPreview(record, Content(visible_line(first)), Content(body), reach)

    async def _write(
        self, dead_letters: Sequence[DeadLetter], steps: Sequence[Step], how: Settlement, answer: str
    ) -> None:
        screen = self._screen
        done, error = await self._carried_out(steps)
        if done:
            records = [it.intervention for it in done if it.intervention is not None]
            settled = dead_letters[: len(records)]
            words = how.done(answer)
            self._session.undo_history.add(self._undoable(how.words, records, steps, settled, words))
            number = f" ({len(done)} messages)" if len(done) > 1 else ""
            self._settled(settled, words)
            screen.tell(f"{words}{number} · z: undo")
        if error is not None:
            title = f"{len(done)} of {len(steps)} written" if done else "Nothing was written"
            screen.report(error, title=title, timeout=ERROR_SECONDS)

    def _undoable(
        self,
        words: str,
        records: Sequence[Intervention],
        steps: Sequence[Step],
        dead_letters: Sequence[DeadLetter],
        done: str,
    ) -> UndoableAction:
        """Return the action that writing these records was."""

        def take_back() -> None:
            self._screen.run_app_task(self._write_steps(self._undoing(records)), group="settle")
            self._settled(dead_letters, "")

        def redo() -> None:
            self._screen.run_app_task(self._write_again(words, steps, dead_letters, done), group="settle")
            self._settled(dead_letters, done)

        def writes(is_undo: bool) -> list[str]:
            return [visible_line(step.words) for step in (self._undoing(records) if is_undo else steps)]

        return UndoableAction(words, take_back, redo, writes)

    def _undoing(self, records: Sequence[Intervention]) -> list[Step]:
        """Plan to undo what some records did; raises MailError, also while a message that was sent is not read yet."""
        mailbox, now = self._session.mailbox, self._session.now()
        if any(sent not in mailbox for record in records if (sent := str(record.details.get("sent") or ""))):
            raise NotSettled("the message that was sent is not in the mailbox yet", "undo it again in a moment", "E252")
        return [step for record in records for step in undo(mailbox, record, now, actor=self._session.user)]

    async def _write_steps(self, steps: Sequence[Step]) -> list[Done]:
        done, error = await self._carried_out(steps)
        if error is not None:
            self._screen.report(error, title="Not undone", timeout=ERROR_SECONDS)
        return done

    async def _carried_out(self, steps: Sequence[Step]) -> tuple[list[Done], MailError | None]:
        """Write steps, and show at once what was sent: as read from the file later, it is a repetition."""
        done, error = await asyncio.to_thread(self._session.settle, steps)
        self._session.live.fold([it.sent for it in done if it.sent is not None], self._session.clock())
        return done, error

    async def _write_again(
        self, words: str, steps: Sequence[Step], dead_letters: Sequence[DeadLetter], done: str
    ) -> None:
        written = await self._write_steps(steps)
        records = [it.intervention for it in written if it.intervention is not None]
        self._session.undo_history.replace(self._undoable(words, records, steps, dead_letters, done))


def _read_all(texts: Texts) -> None:
    for text in texts.values():
        text.do()


def _text_of(texts: Texts, message: Message) -> str:
    return texts[message.id].found()
