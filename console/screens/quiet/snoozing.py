"""Snooze threads, and bring them back when it is time."""

from __future__ import annotations

from console.panes.quiet_rows import returned_threads
from console.quiet.marks import KindOfMark, Mark
from console.quiet.snooze import Occurrence, Snooze
from console.render.safe import visible_line
from console.screens.mail_screen import MailScreen
from console.screens.quiet.mark_keeping import MarkKeeping, selected_threads
from console.screens.quiet.snooze_menu import SnoozeMenu, is_awake
from console.session import PAST


class Snoozing:
    """Looks once a second, and whenever mail came, at what every snooze waits for."""

    def __init__(self, screen: MailScreen, keeping: MarkKeeping) -> None:
        self._screen = screen
        self._keeping = keeping
        self._menu = SnoozeMenu(screen, keeping)
        self._looked_at: dict[Mark, tuple[object, ...]] = {}
        self._opened: set[str] = set()

    def snooze(self) -> None:
        """Ask for how long to snooze the thread, or all marked threads."""
        if self._screen.session.moment is not None:
            self._screen.tell(f"Can't snooze here: {PAST}")
        else:
            self._menu.threads(selected_threads(self._screen))

    def look(self) -> None:
        """End the snoozes whose time has come, or for which what they waited for has happened."""
        screen, session = self._screen, self._screen.session
        over: dict[Mark, Snooze | bool | None] = {}
        for mark, snooze in session.personal.quiet.snoozes():
            if not snooze.ended and (ended := self._ended(mark, snooze)) is not None:
                over[mark] = ended if mark[0] is KindOfMark.SNOOZED_THREAD else None
        if over:
            self._keeping.apply(over)
            self._announce({name: value for (_, name), value in over.items() if isinstance(value, Snooze)})
        if screen.pane() == "conversation" and screen.location.root in returned_threads(session):
            self._opened.add(screen.location.root or "")

    def _ended(self, mark: Mark, snooze: Snooze) -> Snooze | None:
        session = self._screen.session
        mailbox, (kind, name) = session.live, mark
        root = name if kind is KindOfMark.SNOOZED_THREAD else ""
        now, is_unchanged = session.clock(), session.is_loading
        is_due = snooze.until is Occurrence.READ or bool(snooze.due and now >= snooze.due)
        if root and not is_unchanged:
            try:
                summary = mailbox.summary(mailbox.root_of(root))
            except KeyError:
                is_unchanged = True
            else:
                seen = id(mailbox.contents), summary.messages, summary.latest.id, snooze
                is_unchanged = self._looked_at.get(mark) == seen and not is_due
                self._looked_at[mark] = seen
        awake = self._is_awake
        return snooze.over(root, mailbox, now, awake, is_loading=is_unchanged)

    def _is_awake(self, name: str) -> bool:
        return is_awake(self._screen.session, name)

    def _announce(self, over: dict[str, Snooze]) -> None:
        mailbox = self._screen.session.live
        for name, snooze in over.items():
            try:
                subject = mailbox.summary(mailbox.root_of(name)).subject
            except KeyError:
                continue
            self._screen.tell(visible_line(f"{subject or '(no subject)'}: {snooze.back_words()}"))

    def place_left(self) -> None:
        """List threads that were back, and have been opened, no longer at the top."""
        if self._opened:
            opened, self._opened = self._opened, set()
            mailbox, quiet = self._screen.session.live, self._screen.session.personal.quiet
            done = [mark for mark, snooze in quiet.snoozes() if snooze.ended and mailbox.root_of(mark[1]) in opened]
            self._keeping.apply(dict.fromkeys(done, None))
