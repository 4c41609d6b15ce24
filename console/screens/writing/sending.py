"""Send what is in the composer: at once, or held for a while, so that sending can be undone."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from console.commands.table import BY_ID
from console.panes.held_line import HeldLine
from console.quiet.offers import reminder
from console.render.safe import visible_line
from console.screens.mail_screen import MailScreen
from console.screens.quiet.mark_keeping import MarkKeeping
from console.screens.writing.draft_keeping import DraftKeeping
from console.state.undo_history import UndoableAction
from mailstore.errors import MailError
from mailstore.steps import MailboxReloaded

if TYPE_CHECKING:
    from console.screens.writing.composing import Answered, Composing
    from console.sending.delivery import Prepared, Sent
    from console.sending.held_messages import HeldMessage, HeldMessages
    from console.state.composer_draft import ComposerDraft

T = TypeVar("T")
ONE_KEY_SECONDS = 5.0
"""How long what was written with one key can be taken back, whatever the settings say of other mail."""
HASTE_SECONDS = 0.7
"""A second press of the key that sends, so soon after the first, sends neither what is held nor what is doubtful."""


class Sending:
    """Sends messages; those that are held are in the user's state until sent, or drafts again, also after a crash."""

    def __init__(self, screen: MailScreen, composing: Composing) -> None:
        self._screen = screen
        self._composing = composing
        self._keeping = DraftKeeping(screen)
        self._held: dict[str, HeldMessage] = {}
        self._undo: dict[str, UndoableAction] = {}
        self._line: HeldLine | None = None
        self._since = float("-inf")
        self._has_looked = self._is_sending = False
        self._turn = asyncio.Lock()

    @property
    def number(self) -> int:
        """How many messages are held."""
        return len(self._held)

    async def _stored(self, use: Callable[[HeldMessages], T]) -> T:
        """Use the stored messages, in turn: one that is taken back may still be on its way into them."""
        from console.sending.held_messages import HeldMessages

        session = self._screen.session
        async with self._turn:
            messages = HeldMessages(session.personal.state.database, session.url)
            return await asyncio.to_thread(use, messages)

    async def _forget(self, message: HeldMessage) -> None:
        await self._stored(lambda stored: stored.forget(message.id))

    def send(self) -> None:
        """Send what is in the composer, or else what is held."""
        composer = self._screen.composer
        if composer.is_open:
            composer.when_typed(self._send_open)
        elif not self.send_now():
            self._screen.tell("No open draft · c: write, r: reply")

    def _send_open(self) -> None:
        composer, seconds = self._screen.composer, self._screen.session.config.send.undo_seconds
        if self._is_sending or not composer.is_open or (prepared := composer.prepared()) is None:
            return
        if not self._is_sure(prepared):
            return
        self._is_sending = True
        writing = composer.writing
        if writing.options.hold_seconds is not None:
            seconds = writing.options.hold_seconds
        if seconds:
            self._hold(writing, seconds)
        else:
            self._screen.run_task(self._send_at_once(writing, prepared), group="send")

    def _is_sure(self, prepared: Prepared) -> bool:
        """Say what will become of a message that few would send on purpose; return whether the user was told before."""
        from console.sending.delivery import doubts

        composer, session = self._screen.composer, self._screen.session
        most = 0 if composer.is_in_place else session.config.send.confirm_above
        questions = doubts(session, prepared, most)
        if not questions:
            return True
        key = BY_ID["compose.send"].key_label(session.keymap)
        line = f"{'; '.join(questions)} · {key} again: send it all the same"
        if composer.refused == line:
            return monotonic() >= self._since + HASTE_SECONDS
        composer.refuse(line)
        self._since = monotonic()
        return False

    def send_reply(self, writing: ComposerDraft, then: Answered) -> float:
        """Send a reply that was written with one key, held for some seconds at least; return for how many.

        `then` hears when it was sent, or with None that it was taken back or refused.
        """
        from console.sending.delivery import prepare_writing

        try:
            prepare_writing(self._screen.session, writing)
        except MailError as error:
            self._screen.report(str(error), title="Not sent")
            then(None)
            return 0.0
        self._composing.expect(writing, then)
        seconds = max(ONE_KEY_SECONDS, self._screen.session.config.send.undo_seconds)
        self._hold(writing, seconds)
        return seconds

    async def _send_at_once(self, writing: ComposerDraft, prepared: Prepared) -> None:
        from console.sending.delivery import delivery_of

        screen = self._screen
        try:
            sent = await asyncio.to_thread(delivery_of(screen.session).send, prepared, action=writing.action)
        except MailError as error:
            if screen.composer.writing == writing:
                screen.composer.refuse(str(error))
            screen.report(str(error), title="Not sent")
            return
        finally:
            self._is_sending = False
        self._put_away(writing)
        await self._tell_sent(writing, prepared, sent)

    def _put_away(self, writing: ComposerDraft) -> None:
        """Close the composer on what is on its way, and go back to the mail."""
        composer = self._screen.composer
        if composer.writing == writing:
            composer.leave()
        elif composer.is_open and composer.writing.key == writing.key:
            composer.refuse("On its way without your last changes: this is a new draft")
        if not writing.metadata:
            self._composing.put_away(writing)

    async def _tell_sent(self, writing: ComposerDraft, prepared: Prepared, sent: Sent) -> None:
        """Say that a message was sent, show it, and wake whom it calls."""
        from console.sending.delivery import delivery_of

        screen = self._screen
        self._composing.delivered(sent.message.id, writing, prepared.hearing_lines)
        if sent.unrecorded is not None:
            screen.report(str(sent.unrecorded), title="Sent, but not in the journal")
        if minutes := writing.options.remind_minutes:
            mark, snooze = reminder(screen.session.live, sent.message, screen.session.clock(), minutes)
            MarkKeeping(screen).apply({mark: snooze})
        for failed in await asyncio.to_thread(delivery_of(screen.session).wake, prepared, sent):
            screen.report(f"{failed.agent_id}: {failed.problem}", title=failed.title)

    # Holding

    def _hold(self, writing: ComposerDraft, seconds: float) -> None:
        """Hold a message from now on, so that it can be taken back, and store it."""
        from console.sending.held_messages import HeldMessage

        screen = self._screen
        message = HeldMessage(str(uuid.uuid4()), writing, screen.session.clock() + seconds)
        self._held[message.id] = message
        self._since = monotonic()
        action = UndoableAction(
            f"sending to {visible_line(writing.recipients)}", partial(self._take_back, message), lambda: None
        )
        self._undo[message.id] = action
        screen.session.undo_history.add_urgent(action)
        screen.run_task(self._store(message, seconds), group="send")

    async def _store(self, message: HeldMessage, seconds: float) -> None:
        """Store a message in the user's state, and leave the composer to wait until it is to be sent."""
        try:
            await self._stored(lambda stored: stored.hold(message))
        except Exception:
            if message.id in self._held:
                self._end(message)
            if message.writing.metadata:
                self._composing.taken_back(message.writing, message.writing, is_shown=False)
            raise
        finally:
            self._is_sending = False
        if message.id in self._held:  # it may have been taken back meanwhile
            self._screen.set_timer(seconds, partial(self._send, message))
            self._put_away(message.writing)
        self._screen.redraw()
        self._draw()

    def _send(self, message: HeldMessage) -> None:
        if message.id in self._held:
            self._end(message)
            self._screen.run_task(self._deliver(message), group="send")

    def send_now(self) -> bool:
        """Send what is held at once; return whether anything was."""
        messages = list(self._held.values())
        if monotonic() < self._since + HASTE_SECONDS:
            return bool(messages)
        for message in messages:
            self._send(message)
        return bool(messages)

    def send_held(self) -> None:
        """Send what is held at once; say so if nothing is."""
        if not self.send_now():
            self._screen.tell("No message is held")

    def _take_back(self, message: HeldMessage) -> None:
        if message.id in self._held:
            self._end(message)
            work = self._drop(message) if message.writing.metadata else self._give_back(message, is_claimed=False)
            self._screen.run_task(work, group="send")

    async def _drop(self, message: HeldMessage) -> None:
        """Forget a message that can be written again with one key."""
        now = self._screen.session.clock()
        if await self._stored(lambda stored: stored.claim(message.id, now)):
            await self._forget(message)
            self._composing.taken_back(message.writing, message.writing, is_shown=False)

    def _end(self, message: HeldMessage) -> None:
        """Stop holding a message, which is sent now, or not at all."""
        del self._held[message.id]
        self._screen.session.undo_history.end_urgent(self._undo.pop(message.id))
        self._draw()

    async def _give_back(self, message: HeldMessage, *, is_claimed: bool, is_shown: bool = True) -> None:
        """Make a message a draft again, and open it."""
        draft = self._keeping.placed(message.writing)
        if await self._stored(lambda stored: stored.give_back(message.id, draft, is_claimed=is_claimed)):
            self._screen.session.personal.set_draft(draft)
            self._composing.taken_back(message.writing, draft, is_shown=is_shown)
            self._screen.redraw()

    async def _deliver(self, held: HeldMessage) -> bool:
        """Send a message unless another console has taken it; if that fails, make it a draft again and return False."""
        from console.sending.delivery import delivery_of, prepare_writing

        screen, session, writing = self._screen, self._screen.session, held.writing
        if not await self._stored(lambda stored: stored.claim(held.id, session.clock())):
            screen.tell("The held message was taken over by another console")
            return True
        try:
            prepared = prepare_writing(session, writing)
            sent = await asyncio.to_thread(delivery_of(session).send, prepared, action=writing.action)
        except MailError as error:
            await self._give_back(held, is_claimed=True, is_shown=False)
            screen.report(str(error), title="Not sent, kept as a draft")
            return False
        await self._forget(held)
        await self._tell_sent(writing, prepared, sent)
        return True

    # Leaving, and what a crash left

    async def send_all(self) -> bool:
        """Send everything that is held and wait for it; return whether all of it could be sent."""
        messages = list(self._held.values())
        for message in messages:
            self._end(message)
        return all([await self._deliver(message) for message in messages])

    async def keep_as_drafts(self) -> None:
        """Make drafts of everything that is held."""
        messages = list(self._held.values())
        for message in messages:
            self._end(message)
            await self._give_back(message, is_claimed=False, is_shown=False)

    def ticked(self) -> None:
        """Count down; once all mail is read, look for messages that a console left that crashed."""
        session = self._screen.session
        if self._held:
            self._draw()
        if not self._has_looked and not session.is_loading and not session.observe:
            self._has_looked = True
            self._screen.run_task(self._recover(), group="drafts")

    async def _recover(self) -> None:
        session, screen = self._screen.session, self._screen
        messages = await self._stored(lambda stored: stored.take_over(session.clock()))
        kept = sent = 0
        for message in messages:
            if message.is_sending and await self._was_sent(message):
                await self._forget(message)
                sent += 1
            else:
                await self._give_back(message, is_claimed=message.is_sending, is_shown=False)
                kept += 1
        if kept:
            screen.report(f"{_messages(kept)} held when the console ended, and kept in Drafts.", title="Not sent")
        elif sent:
            screen.tell(f"{_messages(sent)} sent as the console ended")

    async def _was_sent(self, held: HeldMessage) -> bool:
        """Return whether a message that was being sent is in the mailbox: by its text, a recipient and its time."""
        from console.sending.delivery import prepare_writing

        session, writing = self._screen.session, held.writing
        try:
            recipients = set(prepare_writing(session, writing).draft.recipients)
            for message in session.live.newest(held.due - 1):
                if session.live.is_own(message) and not recipients.isdisjoint(message.recipients):
                    text = await asyncio.to_thread(session.body, message)
                    if text.strip() == writing.body.strip():
                        return True
        except (MailError, MailboxReloaded):  # then it becomes a draft, and the user decides
            pass
        return False

    # What is shown

    def _draw(self) -> None:
        screen, now = self._screen, self._screen.session.clock()
        if self._line is None and self._held:
            self._line = HeldLine(screen.text_styles, id="held")
            screen.add_below(self._line)
        if self._line is not None:
            self._line.messages = tuple(
                replace(message, due=max(0.0, message.due - now)) for message in self._held.values()
            )
            self._line.display = bool(self._held)
        soonest = min((message.due - now for message in self._held.values()), default=0.0)
        number = f"{len(self._held)} messages " if len(self._held) > 1 else ""
        key = BY_ID["undo"].key_label(screen.session.keymap)
        words = f"{number}sent in {max(0, round(soonest))} s · {key}: undo"
        screen.footer.held = words if self._held else ""


def _messages(number: int) -> str:
    return "1 message was" if number == 1 else f"{number} messages were"
