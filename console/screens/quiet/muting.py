"""Mute threads, channels, agents and types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.quiet.marks import KindOfMark, Mark, changes
from console.render.safe import visible_line
from console.render.short_text import count, shorten_end
from console.screens.mail_screen import MailScreen
from console.screens.quiet.mark_keeping import MarkKeeping, selected_threads
from mailstore.records.address import is_channel, party
from mailstore.records.scope import label_of

if TYPE_CHECKING:
    from console.session import Session
    from mailstore.state.views import View

KEYS = "tcsykglodefhinpruvwxz"
"""The keys of the menu: those of a kind first (thread, channel, sender, type), then any."""
LONGEST_NAME = 60
KEY_OF = {
    KindOfMark.MUTED_THREAD: "t",
    KindOfMark.MUTED_CHANNEL: "c",
    KindOfMark.MUTED_AGENT: "s",
    KindOfMark.MUTED_TYPE: "y",
}


class Muting:
    """Mutes what the cursor is on; where that may be several things, a menu asks which."""

    def __init__(self, screen: MailScreen, keeping: MarkKeeping) -> None:
        self._screen = screen
        self._keeping = keeping

    def mute(self) -> None:
        """Mute what is selected, or take its mute back."""
        screen = self._screen
        view = self._place()
        roots = [] if view is not None else selected_threads(screen)
        if view is not None and view.kind == "muted":
            self.list_all()
            return
        if len(roots) > 1:
            self._toggle([(KindOfMark.MUTED_THREAD, root) for root in roots])
            return
        kinds = {"channel": KindOfMark.MUTED_CHANNEL, "agent": KindOfMark.MUTED_AGENT}
        marks = self._choices(roots[0]) if roots else []
        if view is not None:
            marks = [(kinds[view.kind], view.name)] if view.kind in kinds else []
        if not marks:
            screen.tell("Nothing to mute here: select a thread, a channel or an agent")
        elif len(marks) == 1:
            self._toggle(marks)
        else:
            self._ask("Mute or unmute", marks)

    def list_all(self) -> None:
        """List everything that is muted; what is chosen there is muted no longer."""
        muted = self._screen.session.personal.quiet.muted
        if muted:
            self._ask("Muted: choose what to unmute", muted)
        else:
            self._screen.tell("Nothing is muted")

    def _place(self) -> View | None:
        """Return the view at the cursor of the sidebar, None in another pane."""
        sidebar = self._screen.sidebar
        is_there = self._screen.pane() == "sidebar" and sidebar.cursor_key is not None
        return sidebar.view_of(sidebar.cursor_key or "") if is_there else None

    def _choices(self, root: str) -> list[Mark]:
        """Return what can be muted of the message at the cursor; in the list, of the newest one of a thread."""
        screen, mailbox = self._screen, self._screen.session.mailbox
        message = screen.conversation.message if screen.pane() == "conversation" else None
        if message is None:
            try:
                message = mailbox.summary(root).latest
            except KeyError:
                return []
        marks: list[Mark] = [(KindOfMark.MUTED_THREAD, mailbox.root_of(message.id))]
        marks += [(KindOfMark.MUTED_CHANNEL, name) for name in message.recipients if is_channel(name)]
        if not mailbox.is_own(message):
            marks.append((KindOfMark.MUTED_AGENT, party(message.sender, mailbox.roster, mailbox.user)))
        if message.type:
            label = label_of(message.id) if mailbox.roster.scopes else ""
            marks.append((KindOfMark.MUTED_TYPE, f"{label}/{message.type}" if label else message.type))
        return marks

    def _ask(self, question: str, marks: list[Mark]) -> None:
        from console.screens.menu import Menu, MenuChoice

        session = self._screen.session
        keys: dict[Mark, str] = {}
        for mark in marks:
            wanted = KEY_OF[mark[0]]
            free = (key for key in (wanted, *KEYS) if key not in keys.values() and key not in "jkq")
            keys[mark] = next(free, "")
        choices = [MenuChoice(keys[mark], mute_name(session, mark), self._note(mark)) for mark in marks]

        def answered(at: int | None) -> None:
            if at is not None:
                self._toggle([marks[at]])

        self._screen.ask(Menu(question, choices, self._screen.text_styles), answered)

    def _note(self, mark: Mark) -> str:
        session = self._screen.session
        if mark not in session.personal.quiet:
            return ""
        number = _quiet_in(session, mark)
        return f"muted · {count(number)} unseen" if number else "muted"

    def _toggle(self, marks: list[Mark]) -> None:
        session = self._screen.session
        quiet = session.personal.quiet
        is_set = any(mark not in quiet for mark in marks)
        names = mute_name(session, marks[0]) if len(marks) == 1 else f"{len(marks)} threads"
        words = f"{'Muted' if is_set else 'No longer muted'}: {names}"
        self._keeping.change(changes(marks, is_set), words)


def _quiet_in(session: Session, mark: Mark) -> int:
    """Return how many unseen messages a mute leaves out, alone or with others."""
    kind, name = mark
    if kind is KindOfMark.MUTED_THREAD:
        return session.mailbox.quiet_in(session.mailbox.root_of(name))
    if kind is KindOfMark.MUTED_CHANNEL:
        return next((channel.quiet for channel in session.mailbox.channels() if channel.tag == name), 0)
    return session.mailbox.quiet_from(name) if kind is KindOfMark.MUTED_AGENT else session.mailbox.quiet_of_type(name)


def mute_name(session: Session, mark: Mark) -> str:
    """Return what is muted, shortened and safe to show."""
    return shorten_end(visible_line(_name(session, mark)), LONGEST_NAME)


def _name(session: Session, mark: Mark) -> str:
    kind, name = mark
    mailbox = session.mailbox
    match kind:
        case KindOfMark.MUTED_CHANNEL:
            return mailbox.label(name)
        case KindOfMark.MUTED_AGENT:
            return f"all from {name}"
        case KindOfMark.MUTED_TYPE:
            return f"type {name}"
    root = mailbox.root_of(name)
    try:
        subject = mailbox.summary(root).subject
    except KeyError:
        return f"thread {name} (not in the mailbox)"
    return f"thread: {subject or '(no subject)'}"
