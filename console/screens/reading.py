"""Mark messages as seen by the user, and go on to the next new one."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from console.screens.counting import CURRENT
from console.screens.mail_screen import MailScreen
from console.session import PAST
from console.state.undo_history import UndoableAction
from mailstore.errors import StoreError
from mailstore.records.events import Seen, Unseen
from mailstore.records.message import Message
from mailstore.state.views import View

Place = tuple[View, str | None]


class Reading:
    """Keeps the user's read marks in the console's state; writes a read record where a sender waits for one."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._read_here: tuple[Place, list[str], UndoableAction] | None = None
        self._unread_here: tuple[Place, frozenset[str]] | None = None

    @property
    def _place(self) -> Place:
        """What is being read: a view, and the thread in it unless it is read as a stream."""
        location = self._screen.location
        return location.view, None if self._screen.conversation.is_stream else location.root

    def message_highlighted(self, key: str) -> None:
        """Mark the message under the cursor as seen while the conversation has the focus."""
        if self._screen.pane() == "conversation":
            self._see_reading([key])

    def moved(self) -> None:
        """Mark what is in sight as seen after a key moved the cursor of the conversation."""
        if self._screen.pane() == "conversation":
            self._see_reading(self._screen.conversation.visible_keys())

    def _see_reading(self, message_ids: Iterable[str]) -> None:
        """Mark what was read in passing; one undo takes back what was read in one place."""
        here, history = self._place, self._screen.session.undo_history
        if self._unread_here is not None and self._unread_here[0] != here:
            self._unread_here = None
        kept = self._unread_here[1] if self._unread_here is not None else frozenset()
        fresh = self.see(key for key in message_ids if key not in kept)
        if not fresh or ((command := CURRENT.get()) is not None and not command.only_reads):
            return
        place, read, action = self._read_here or (None, [], None)
        is_more = place == here and action is history.last_done
        read = [*read, *fresh] if is_more else fresh
        words = f"{len(read)} message{'s' * (len(read) != 1)} read"
        action = UndoableAction(words, lambda: self.unsee(read), lambda: self.see(read))
        history.pass_by(action)
        self._read_here = here, read, action

    def see(self, message_ids: Iterable[str]) -> list[str]:
        """Mark messages as seen by the user; return those that were unseen. The past is not changed."""
        if self._screen.session.moment is not None:
            return []
        fresh, due = self.note_seen(message_ids)
        if fresh:
            self._screen.run_task(self.keep_seen(due), group="marks")
            self._screen.redraw()
        return fresh

    def note_seen(self, message_ids: Iterable[str]) -> tuple[list[str], list[str]]:
        """Fold that messages were seen; return those that were unseen, and those whose senders wait for a record.

        `keep_seen` follows, and drawing.
        """
        session, mailbox = self._screen.session, self._screen.session.live
        fresh = [
            message
            for key in message_ids
            if (message := mailbox.message(key)) is not None and mailbox.is_unseen(message)
        ]
        mailbox.fold([Seen(message.id) for message in fresh], session.clock())
        session.personal.set_seen([message.id for message in fresh], is_seen=True)
        return [it.id for it in fresh], [it.id for it in fresh if session.waits_for_user(it)]

    def see_answered(self, arrived: Iterable[Message]) -> None:
        """Mark as seen what the user's messages that arrived reply to, wherever they were written."""
        live = self._screen.session.live
        fresh, due = self.note_seen(
            message.thread for message in arrived if message.thread is not None and live.is_own(message)
        )
        if fresh:
            self._screen.run_task(self.keep_seen(due), group="marks")

    def unsee(self, message_ids: list[str]) -> None:
        """Take the user's marks back; reading on in the same place doesn't set them again."""
        session = self._screen.session
        if session.moment is not None:
            return
        self._unread_here = self._place, frozenset(message_ids)
        self.note_unseen(message_ids)
        self._screen.run_task(self.keep_seen(), group="marks")
        self._screen.redraw()

    def note_unseen(self, message_ids: Collection[str]) -> None:
        """Fold that messages are unseen; `keep_seen` follows, and drawing."""
        session = self._screen.session
        session.personal.set_seen(message_ids, is_seen=False)
        session.live.fold([Unseen(key) for key in message_ids], session.clock())

    def mark_seen(self, message_ids: Iterable[str]) -> int:
        """Mark messages as seen, which can be undone; return how many were unseen."""
        fresh = self.see(message_ids)
        if fresh:
            words = "1 message marked as seen" if len(fresh) == 1 else f"{len(fresh)} messages marked as seen"
            action = UndoableAction(words, lambda: self.unsee(fresh), lambda: self.see(fresh))
            self._screen.session.undo_history.add(action)
        return len(fresh)

    async def keep_seen(self, due: Sequence[str] = ()) -> None:
        """Save the marks, and record reads in the mailbox of messages whose senders wait for that."""
        session = self._screen.session
        owed = {each for each in due if session.live.cut_off_of(each) is not None}
        session.owed |= owed

        def keep() -> StoreError | None:
            session.personal.save_seen()
            try:
                session.write_read_records([each for each in due if each not in owed])
            except StoreError as error:
                return error
            return None

        if (error := await asyncio.to_thread(keep)) is not None:
            self._screen.report(error)

    def start(self) -> None:
        """Go to the first unseen message of the thread, if there is one."""
        pane, mailbox = self._screen.conversation, self._screen.session.mailbox
        self._unread_here = None
        if pane.is_stream:
            self._see_reading(pane.visible_keys())
            return
        fresh = next((message for message in pane.messages if mailbox.is_unseen(message)), None)
        if fresh is not None:
            pane.scroll_to_key(fresh.id)
        if pane.cursor_key is not None:
            self._see_reading([pane.cursor_key])

    def may_mark(self) -> bool:
        """Return whether marks can be set; say why where they can't."""
        if self._screen.session.moment is not None:
            self._screen.tell(f"Can't mark here: {PAST}")
        return self._screen.session.moment is None

    def toggle_seen(self) -> None:
        """Mark the message as seen, or as unseen where it was seen; in the list, the whole threads."""
        if not self.may_mark():
            return
        screen, session = self._screen, self._screen.session
        if screen.pane() == "threads":
            self._toggle_threads(screen.listing.marked_roots() or list(filter(None, [screen.threads.cursor_key])))
            return
        message = screen.conversation.message
        if message is None:
            screen.tell("No message selected")
        elif session.mailbox.is_unseen(message):
            self.mark_seen([message.id])
        elif message.sender == session.user or message.archived:
            screen.tell("Your own and archived mail is never new")
        else:
            key = message.id
            self.unsee([key])
            words = "1 message marked as unseen"
            session.undo_history.add(UndoableAction(words, lambda: self.see([key]), lambda: self.unsee([key])))
            screen.tell("Marked as unseen by you; agents' reads don't change")

    def _toggle_threads(self, roots: list[str]) -> None:
        screen, mailbox = self._screen, self._screen.session.mailbox
        mail = [message for root in roots for message in mailbox.thread_messages(mailbox.root_of(root))]
        if self.mark_seen([message.id for message in mail]):
            return
        keys = [message.id for message in mail if not mailbox.is_own(message) and not message.archived]
        if not keys:
            screen.tell("Your own and archived mail is never new" if mail else "No thread selected")
            return
        self.unsee(keys)
        words = f"{len(keys)} message{'s' * (len(keys) != 1)} marked as unseen"
        screen.session.undo_history.add(UndoableAction(words, lambda: self.see(keys), lambda: self.unsee(keys)))
        screen.tell(f"{words} by you; agents' reads don't change")

    def thread_seen(self) -> None:
        """Mark the thread as seen and go on to the next one with news; or mark all marked threads, and stay."""
        if not self.may_mark():
            return
        screen, mailbox = self._screen, self._screen.session.mailbox
        roots = screen.listing.marked_roots()
        if roots:
            number = self.mark_seen(
                thread_message.id for root in roots for thread_message in mailbox.thread_messages(root)
            )
            screen.tell(f"{number} marked as seen in {len(roots)} threads" if number else "Nothing unread here")
            return
        number = self.mark_seen([message.id for message in screen.conversation.messages])
        done = f"{number} marked as seen" if number else "Nothing unread here"
        screen.tell(done if self._go_on() else f"{done} · nothing else is new in this list")

    def _go_on(self) -> bool:
        """Go to the next thread with news; in the conversation, to its first new message. Return whether one is."""
        screen = self._screen
        if screen.conversation.is_stream:
            return self._next_in_stream(1)
        root = self._next_root_with_news()
        if root is None:
            return False
        screen.threads.select(root)
        screen.show_thread(root)
        if screen.pane() == "conversation":
            self.start()
        return True

    def only_unread(self) -> None:
        """List only threads with messages new to the user, or all threads again."""
        listing = self._screen.listing
        listing.only_unread = not listing.only_unread
        listing.release_read()
        self._screen.redraw()
        self._screen.tell("Only threads with new messages" if listing.only_unread else "All threads")

    def next_unread(self, step: int = 1) -> None:
        """Go to the next new message (or the one before); during a search, to the next hit."""
        screen, mailbox = self._screen, self._screen.session.mailbox
        if screen.listing.found is not None:
            self._next_hit(screen.listing.found, step)
            return
        if screen.conversation.is_stream:
            if not self._next_in_stream(step):
                screen.tell("Nothing unread here")
            return
        if step > 0 and (message := self._unseen_below()) is not None:
            self._read(message)
            return
        root = self._next_root_with_news(step)
        if root is not None:
            screen.threads.select(root)
            screen.show_thread(root)
            fresh = next((message for message in screen.conversation.messages if mailbox.is_new(message)), None)
            if fresh is not None:
                self._read(fresh)
                return
        screen.tell("Nothing unread here")

    def _next_in_stream(self, step: int) -> bool:
        """Go to the next new message of the stream, or the one before; return whether there is one."""
        screen = self._screen
        key = screen.conversation.next_unseen(step)
        if key is None:
            return False
        screen.conversation.focus()
        screen.conversation.scroll_to_key(key)
        self._see_reading([key])
        return True

    def _next_root_with_news(self, step: int = 1) -> str | None:
        """Return the next listed thread with unseen messages, or the one before; None if there is none."""
        screen, mailbox = self._screen, self._screen.session.mailbox
        roots = screen.listing.roots()
        at = roots.index(screen.location.root) if screen.location.root in roots else -1
        order = chain(range(at + 1, len(roots)), range(at + 1))
        if step < 0:
            order = chain(range(at - 1, -1, -1), range(len(roots) - 1, max(at, 0) - 1, -1))
        return mailbox.first_new(roots, order) if mailbox.counts().unseen else None

    def _unseen_below(self) -> Message | None:
        mailbox = self._screen.session.mailbox
        return next((message for message in self._screen.conversation.messages_below if mailbox.is_new(message)), None)

    def _read(self, message: Message) -> None:
        self._screen.conversation.focus()
        self._screen.conversation.scroll_to_key(message.id)
        self._see_reading([message.id])

    def _next_hit(self, messages: Mapping[str, Message], step: int) -> None:
        screen, pane = self._screen, self._screen.conversation
        hits = pane.source.keys if pane.is_stream else list(messages)
        if not hits:
            screen.tell("No hits")
            return
        if pane.is_stream:
            at = pane.place_of(pane.cursor_key)
        else:
            at = hits.index(screen.location.root) if screen.location.root in hits else None
        place = ((-1 if at is None else at) + step) % len(hits)
        screen.tell(f"Hit {place + 1:,} of {len(hits):,}")
        if pane.is_stream:
            pane.scroll_to_key(hits[place])
            pane.seek(hits[place])
        else:
            screen.threads.select(hits[place])
            screen.show_thread(hits[place], messages[hits[place]].id)

    def read_on(self) -> None:
        """Go on by a page, and at the end of the thread to the next new message."""
        screen = self._screen
        if screen.pane() != "conversation":
            screen.conversation.focus()
            self.start()
        elif screen.conversation.read_hidden():
            self._see_reading(screen.conversation.visible_keys())
        elif screen.conversation.is_at_end:
            pane = screen.conversation
            self._see_reading(pane.visible_keys() if pane.is_stream else [message.id for message in pane.messages])
            self.next_unread()
        else:
            screen.conversation.action_page_down()
            self._see_reading(screen.conversation.visible_keys())
