"""Going from pane to pane, row to row and place to place."""

from __future__ import annotations

import asyncio

from console import later
from console.screens.counting import Counting
from mailstore.errors import StoreError
from mailstore.state.views import View, ViewKind

__all__ = ["Moving"]

ORDER = ("sidebar", "threads", "conversation", "composer")


class Moving(Counting):
    """Actions that move and change nothing."""

    def action_go_pane(self, number: int) -> None:
        """Go to a pane by its number; the fourth is the composer, which opens."""
        name = ORDER[number - 1]
        if name != "composer":
            self.set_focus(self.query_one(f"#{name}"))
        elif self.composer.is_open:
            self.composer.focus_field()
        else:
            self.action_compose()

    def action_next_pane(self, step: int = 1) -> None:
        """Go to the pane to the right (or left), round and round; in the composer, from field to field first."""
        if self.pane() == "composer" and self.composer.next_field(step):
            return
        panes = [name for name in ORDER if name != "composer" or self.composer.is_open]
        pane = self.pane()
        at = panes.index(pane) if pane in panes else 0
        self.action_go_pane(ORDER.index(panes[(at + step) % len(panes)]) + 1)

    def action_move(self, how: str) -> None:
        """Move the cursor of the focused pane; what it comes to in a conversation is seen."""
        super().action_move(how)
        if self.pane() == "conversation":
            self.see(self.conversation.visible_keys())

    def action_scroll_conversation(self, lines: int) -> None:
        """Scroll the conversation while the list keeps the focus."""
        self.conversation.scroll_relative(y=lines, animate=False)

    def action_enter(self) -> None:
        """Open what is under the cursor: the view's threads, the thread's conversation."""
        pane = self.pane()
        if pane == "sidebar":
            self.set_focus(self.threads)
        elif pane == "threads" and self.look.root is not None:
            self.set_focus(self.conversation)
            self.start_reading()

    def action_back(self) -> None:
        """Go back one step: out of full screen, of the composer, of a search, to the pane at the left."""
        pane = self.pane()
        if self.has_class("-zoomed"):
            self.action_zoom()
        elif pane == "composer":
            self.composer.flush()
            kept = not self.composer.writing.is_blank
            self.composer.close()
            self.set_focus(self.conversation if self.composer.writing.thread else self.threads)
            self.tell("the draft is kept" if kept else "")
        elif pane == "conversation":
            self.set_focus(self.threads)
        elif not (pane == "threads" and self.take_marks_away()) and not self.take_search_away():
            self.set_focus(self.sidebar)

    def action_left(self) -> None:
        """Fold the replies, else go to what the message answers, else to the pane at the left."""
        pane = self.pane()
        if pane == "conversation":
            parent = self.conversation.parent_key()
            if self.conversation.fold(True):
                return
            if parent is not None:
                self.conversation.scroll_to_key(parent)
                return
        if pane == "sidebar":
            self.tell("nothing further left")
            return
        self.action_go_pane(ORDER.index(pane))

    def action_right(self) -> None:
        """Unfold the replies, else go to the first of them; in a list, open."""
        if self.pane() != "conversation":
            self.action_enter()
        elif not self.conversation.fold(False) and (reply := self.conversation.first_reply()) is not None:
            self.conversation.scroll_to_key(reply)

    def action_history(self, step: int) -> None:
        """Go back or forward through the views that were looked at."""
        if not self.step_history(step):
            self.tell("nothing further back" if step < 0 else "nothing further forward")

    def action_show(self, kind: ViewKind) -> None:
        """Go to a view."""
        self.show_view(View(kind))
        self.set_focus(self.threads)

    def jump(self, message_id: str) -> bool:
        """Go to a message wherever it is listed; say whether it is in the mailbox."""
        mailbox = self.session.mailbox
        message = mailbox.message(message_id)
        if message is None:
            return False
        self.show_message(message_id)
        self.set_focus(self.conversation)
        return True

    def action_zoom(self) -> None:
        """Give the focused pane the whole screen, or take it back."""
        pane = self.pane()
        is_on = not self.has_class("-zoomed")
        self.set_class(is_on, "-zoomed")
        for name in ORDER:
            self.set_class(is_on and name == pane, f"-zoom-{name}")

    def action_follow(self) -> None:
        """Go to the newest message of the conversation and follow it; where that is done already, stop."""
        pane = self.conversation
        pane.is_following = not (pane.is_following and pane.is_at_newest())
        if pane.is_following:
            pane.show_newest()
        self.redraw()
        self.tell("following the newest" if pane.is_following else "no longer following")

    def action_toggle_tree(self) -> None:
        """Show the thread as a tree of replies, or in the order of time."""
        self.conversation.toggle_flat()
        self.tell("in the order of time" if self.conversation.is_flat else "as a tree of replies")

    def action_details(self) -> None:
        """Tell everything that is known of a message."""
        message = self.conversation.message
        if message is None:
            self.tell("no message is chosen")
            return
        self.show_page("details", "Details", later.details(self.session.mailbox, message, self.session.now()))

    def action_record(self) -> None:
        """Show a message's record as it stands in its file."""
        message = self.conversation.message
        if message is None:
            self.tell("no message is chosen")
            return
        self.run_worker(self._show_record(message.id), group="record", exclusive=True)

    async def _show_record(self, message_id: str) -> None:
        message = self.session.mailbox.message(message_id)
        if message is None:
            return
        try:
            raw = await asyncio.to_thread(self.session.store.raw, message)
        except StoreError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        where = message.location
        title = f"{where.file} at {where.offset:,}" if where is not None else "Record"
        self.show_page("record", title, later.record(raw))

    def action_copy(self, what: str) -> None:
        """Copy the message's text or id to the clipboard, through the terminal (OSC 52)."""
        message = self.conversation.message
        if message is None:
            self.tell("no message is chosen")
        elif what == "id":
            self.app.copy_to_clipboard(message.id)
            self.tell(f"id copied: {message.id}")
        else:
            self.run_worker(self._copy_text(message.id), group="copy", exclusive=True)

    async def _copy_text(self, message_id: str) -> None:
        message = self.session.mailbox.message(message_id)
        if message is None:
            return
        body = await asyncio.to_thread(self.session.body, message)
        self.app.copy_to_clipboard(body)
        self.tell(f"text copied: {len(body):,} characters")
