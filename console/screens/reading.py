"""Reading: what the person has seen, and going on to what they have not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from textual import on, work

from console.screens.desk import Desk
from console.session import PAST
from console.undo_history import UndoableAction
from console.widgets.block_view import BlockView
from mailstore.errors import StoreError
from mailstore.records.events import Seen, Unseen
from mailstore.records.message import Message

__all__ = ["Reading"]


class Reading(Desk):
    """My marks, kept in the console's own state; the mailbox is told only where its sender waits for it."""

    @on(BlockView.Highlighted, "#conversation")
    def _message_highlighted(self, event: BlockView.Highlighted) -> None:
        if self.pane() == "conversation":
            self.see([event.key])

    def see(self, message_ids: Iterable[str]) -> list[str]:
        """Mark messages as seen by the person; return those that were not before. The past leaves no marks."""
        if self.session.moment is not None:
            return []
        mailbox = self.session.mailbox
        fresh = [
            message
            for key in message_ids
            if (message := mailbox.message(key)) is not None and mailbox.is_unseen(message)
        ]
        if fresh:
            mailbox.fold([Seen(message.id) for message in fresh], self.session.now())
            due = [message.id for message in fresh if self.session.waits_for_user(message)]
            self._keep_seen([message.id for message in fresh], due)
            self.redraw()
        return [message.id for message in fresh]

    def unsee(self, message_ids: list[str]) -> None:
        """Take the person's own marks back."""
        if self.session.moment is not None:
            return
        self.session.mailbox.fold([Unseen(key) for key in message_ids], self.session.now())
        self._keep_unseen(message_ids)
        self.redraw()

    def mark_seen(self, message_ids: Iterable[str]) -> int:
        """Mark messages as seen because the person said so, which can be undone; say how many were not before."""
        fresh = self.see(message_ids)
        if fresh:
            words = "one message marked as seen" if len(fresh) == 1 else f"{len(fresh)} messages marked as seen"
            self.session.undo_history.add(UndoableAction(words, lambda: self.unsee(fresh), lambda: self.see(fresh)))
        return len(fresh)

    @work(thread=True, group="marks", exit_on_error=False)
    def _keep_seen(self, seen: list[str], due: list[str]) -> None:
        self.session.keep_seen(seen)
        try:
            self.session.write_read_records(due)
        except StoreError as error:
            self.app.call_from_thread(self.notify, str(error), severity="error", markup=False)

    @work(thread=True, group="marks", exit_on_error=False)
    def _keep_unseen(self, message_ids: list[str]) -> None:
        self.session.keep_unseen(message_ids)

    def start_reading(self) -> None:
        """Go to the first message of the thread that the person has not seen, else stay."""
        pane, mailbox = self.conversation, self.session.mailbox
        fresh = next((message for message in pane.messages if mailbox.is_unseen(message)), None)
        if fresh is not None:
            pane.scroll_to_key(fresh.id)
        if pane.cursor_key is not None:
            self.see([pane.cursor_key])

    def _may_mark(self) -> bool:
        """Say whether marks can be set; tell why where they can't."""
        if self.session.moment is not None:
            self.tell(f"can't mark here: {PAST}")
        return self.session.moment is None

    def action_toggle_seen(self) -> None:
        """Mark the message as seen, or take the mark back."""
        if not self._may_mark():
            return
        message = self.conversation.message
        if message is None:
            self.tell("no message is chosen")
        elif self.session.mailbox.is_unseen(message):
            self.mark_seen([message.id])
        elif message.sender == self.session.user or message.archived:
            self.tell("your own and archived mail is never unread")
        else:
            key = message.id
            self.unsee([key])
            back = UndoableAction("one message marked as unread", lambda: self.see([key]), lambda: self.unsee([key]))
            self.session.undo_history.add(back)
            self.tell("unread again, for you: what agents read is not touched")

    def action_thread_seen(self) -> None:
        """Mark the whole thread as seen, or all threads that are marked."""
        if not self._may_mark():
            return
        mailbox = self.session.mailbox
        roots = self.marked_roots()
        if roots:
            mail = [message for root in roots for message in mailbox.thread_messages(root)]
        else:
            mail = list(self.conversation.messages)
        number = self.mark_seen(message.id for message in mail)
        where = f" in {len(roots)} threads" if roots else ""
        self.tell(f"{number} marked as seen{where}" if number else "you have seen all of it")

    def action_all_seen(self) -> None:
        """Mark everything that the list shows as seen, and say how much it was."""
        if not self._may_mark():
            return
        mailbox = self.session.mailbox
        roots = self.all_roots()
        mail = [message.id for root in roots for message in mailbox.thread_messages(root)]
        number = self.mark_seen(mail)
        self.tell(f"{number} messages in {len(roots)} threads marked as seen")

    def action_only_unread(self) -> None:
        """List only threads with something unread, or all of them again."""
        self.only_unread = not self.only_unread
        self.let_go()
        self.redraw()
        self.tell("only unread" if self.only_unread else "everything again")

    def action_next_unread(self, step: int = 1) -> None:
        """Go to the next message that the person has not seen (or the one before), or the next hit."""
        if self.found is not None:
            self._next_hit(step)
            return
        if step > 0 and (message := self._unseen_below()) is not None:
            self._read(message)
            return
        mailbox = self.session.mailbox
        roots = self.roots()
        at = roots.index(self.look.root) if self.look.root in roots else -1
        order = chain(range(at + 1, len(roots)), range(at + 1))
        if step < 0:
            order = chain(range(at - 1, -1, -1), range(len(roots) - 1, max(at, 0) - 1, -1))
        for place in order if mailbox.counts().unseen else ():
            root = roots[place]
            if mailbox.unseen_in(root):
                self.threads.select(root)
                self.show_thread(root)
                fresh = next((message for message in self.conversation.messages if mailbox.is_unseen(message)), None)
                if fresh is not None:
                    self._read(fresh)
                    return
        self.tell("nothing here is unread")

    def _unseen_below(self) -> Message | None:
        mailbox = self.session.mailbox
        return next((message for message in self.conversation.messages_below if mailbox.is_unseen(message)), None)

    def _read(self, message: Message) -> None:
        self.conversation.focus()
        self.conversation.scroll_to_key(message.id)
        self.see([message.id])

    def _next_hit(self, step: int) -> None:
        hits = list(self.found or {})
        if not hits:
            self.tell("no hits")
            return
        at = hits.index(self.look.root) if self.look.root in hits else -1
        root = hits[(at + step) % len(hits)]
        self.threads.select(root)
        self.show_thread(root, (self.found or {})[root].id)

    def action_read_on(self) -> None:
        """Read on: a page, and at the end of the thread the next unread."""
        if self.pane() != "conversation":
            self.conversation.focus()
            self.start_reading()
        elif self.conversation.is_at_end:
            self.see([message.id for message in self.conversation.messages])
            self.action_next_unread()
        else:
            self.conversation.action_page_down()
            self.see(self.conversation.visible_keys())
