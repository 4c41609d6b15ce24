"""Open the desks, go from them to messages and to the composer, and come back to the same row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from console.render.safe import visible_line
from console.screens.location import ScreenLocation
from console.screens.mail_screen import MailScreen
from mailstore.state.views import View

if TYPE_CHECKING:
    from console.screens.desks.attention_watch import AttentionWatch
    from console.screens.desks.desk import Desk
    from console.screens.reading import Reading
    from console.screens.writing.composing import Composing
    from console.screens.writing.sending import Sending
    from console.state.composer_draft import ComposerDraft
    from mailstore.state.views import DeadLetter

DESKS = ("attention", "dead")
"""The views whose list is a desk."""
QUOTED = 60
"""Characters of a reply that its row shows."""


class Left(Struct, frozen=True):
    """Where a desk was left for a message: the row there, and the thread that was opened."""

    kind: type[Desk]
    key: str
    root: str


class Desks:
    """Pushes a desk over the mail; a message that is opened there, or answered, leads back to its row."""

    def __init__(
        self,
        screen: MailScreen,
        reading: Reading,
        composing: Composing,
        sending: Sending,
        watch: AttentionWatch,
    ) -> None:
        self._screen = screen
        self._composing = composing
        self._sending = sending
        self._reading = reading
        self._watch = watch
        self._origin: tuple[ScreenLocation, str] | None = None
        self._left: Left | None = None

    def attention(self) -> None:
        """Open the list of what needs attention."""
        from console.screens.desks.desk import AttentionDesk

        self._open(AttentionDesk)

    def dead_letters(self) -> None:
        """Open the list of dead letters."""
        from console.screens.desks.desk import DeadLetterDesk

        self._open(DeadLetterDesk)

    def redirect_or_quote(self) -> None:
        """Redirect the selected message where it is a dead letter; of any other, reply with its text quoted."""
        screen, session = self._screen, self._screen.session
        message = screen.conversation.message
        found: list[DeadLetter] = []
        if message is not None and session.moment is None:
            dead_letters = session.mailbox.dead_letters_in(session.mailbox.root_of(message.id), session.now())
            found = [dead_letter for dead_letter in dead_letters if dead_letter.message.id == message.id]
        if not found:
            self._composing.quote()
            return
        from console.screens.desks.dead_letter_actions import DeadLetterActions

        actions = DeadLetterActions(screen, self._settled)
        if actions.is_possible():
            actions.redirect(found)

    def _settled(self, dead_letters: Sequence[DeadLetter], words: str) -> None:
        """Show in the rows of the desk to which one comes back what was done."""
        if self._left is not None:
            self._screen.session.attention.note_settled(dead_letters, words)
        self._watch.mail_changed()

    def is_desk(self, view: View) -> bool:
        """Return whether the list of a view is a desk."""
        return view.kind in DESKS

    def open_view(self, view: View) -> None:
        """Open the desk of a view, at the row where it was left."""
        if not self.come_back():
            self.attention() if view.kind == "attention" else self.dead_letters()

    def leave_start(self) -> None:
        """Go to the sidebar where the console was left on the list of a desk, which is a glance at it only."""
        if self.is_desk(self._screen.location.view) and self._screen.pane() == "threads":
            self._screen.focus_pane("sidebar")

    def _open(self, kind: type[Desk], key: str | None = None) -> None:
        screen = self._screen
        if self._origin is None or key is None:
            self._origin = screen.location, screen.pane()
        desk = kind(screen.session, screen.text_styles, self._reading, self._watch, self._sending, key)
        screen.ask(desk, lambda message_id: self._closed(desk, message_id))
        self._watch.check()

    def come_back(self) -> bool:
        """Return to the desk that was left for the message that is shown; return whether there is one."""
        left, self._left = self._left, None
        if left is None or left.root != self._screen.location.root:
            return False
        self._open(left.kind, left.key)
        return True

    def _closed(self, desk: Desk, message_id: str | None) -> None:
        screen = self._screen
        mailbox = screen.session.mailbox
        if message_id is None or message_id not in mailbox:
            self._end_shift(desk)
            screen.session.attention.forget_deeds()
            self._left = None
            self._return()
            return
        key = desk.place or ""
        self._left = Left(type(desk), key, mailbox.root_of(message_id))
        screen.show_message(message_id)
        screen.focus_pane("conversation")
        if desk.is_replying:
            self._composing.reply(lambda sent: self._answered(key, sent))

    def _end_shift(self, desk: Desk) -> None:
        """Offer to hand over what was done one at a time, if anything was."""
        concerns, session = self._screen.session.attention, self._screen.session
        left, done = desk.progress()
        if concerns.shift_since is None or not done:
            return
        from console.screens.desks.shift import ShiftEnd, hand_over

        seconds = session.clock() - concerns.shift_since
        over = hand_over(session, list(concerns.results.values()), left + desk.left_out(), seconds)
        self._screen.call_next(ShiftEnd(self._screen, self._composing.write).offer, over)

    def _return(self) -> None:
        """Show what was shown before the desk was opened."""
        origin, self._origin = self._origin, None
        if origin is None:
            return
        screen, (place, pane) = self._screen, origin
        if place.view != screen.location.view:
            screen.show_view(place.view, place.root)
        elif place.root is not None and place.root != screen.location.root:
            screen.threads.select(place.root)
        screen.focus_pane("threads" if pane == "composer" else pane)

    def _answered(self, key: str, sent: ComposerDraft | None) -> None:
        """Go back to the desk after a reply was sent, or put off."""
        concerns = self._screen.session.attention
        concern = next((it for it in concerns.every if it.key == key), None)
        if sent is not None and concern is not None:
            words = " ".join(visible_line(sent.body).split())
            concerns.note(concern, f"Replied: {words[:QUOTED]}{'…' * (len(words) > QUOTED)}")
        self.come_back()
