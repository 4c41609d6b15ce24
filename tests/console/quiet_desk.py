"""The parts that mute, star and snooze, on a screen that is none, over a mailbox of a few messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from console.panes.sidebar import sidebar_rows
from console.quiet.marks import QuietMarks
from console.screens.menu import Menu
from console.screens.quiet.mark_keeping import MarkKeeping, Starring
from console.screens.quiet.muting import Muting
from console.screens.quiet.snoozing import Snoozing
from console.screens.undoing import Undoing
from console.screens.watches import MARKS_SECONDS, MarkSync
from console.state.personal_state import PersonalState
from mailstore.haak import HaakStore
from mailstore.state.views import View
from tests.console.fake_screen import fake_screen
from tests.mailboxes import NOW, MailFiles

ANN, BOB, EVE = "ann-00000001", "bob-00000001", "eve-00000001"


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent(ANN, tags=["project:ink"])
    mail.agent(BOB, tags=["project:ink"])
    mail.agent(EVE, "frozen")
    mail.message("ch1", BOB, "project:ink", ago=900, subject="In the channel", type="status")
    mail.message("ch2", ANN, "project:ink", ago=800, thread="ch1", subject="Re: In the channel")
    mail.message("ch3", BOB, ["project:ink", "user"], ago=700, subject="To you in the channel")
    mail.message("own", "user", BOB, ago=600, subject="My message")
    mail.message("ask", BOB, EVE, ago=500, subject="The colour?", type="question")
    mail.message("you", BOB, "user", ago=400, subject="May I?", type="question")
    return mail


class Desk:
    """The parts on a screen that only fulfils what they need, at a clock that the test sets."""

    def __init__(self, mail: MailFiles, folder: Path) -> None:
        self.mail, self.now = mail, NOW
        self.screen = fake_screen(mail, folder)
        self.screen.session.clock = lambda: self.now
        keeping = MarkKeeping(self.screen)
        self.muting, self.starring = Muting(self.screen, keeping), Starring(self.screen, keeping)
        self.snoozing, self.undoing = Snoozing(self.screen, keeping), Undoing(self.screen)
        self.sync = MarkSync(self.screen, keeping)
        self.mailbox = self.screen.session.live

    def at(self, root: str, message: str | None = None) -> None:
        self.screen.show_thread(root)
        self.screen.focused = "threads" if message is None else "conversation"
        self.screen.threads.select(message or root)

    async def choose(self, key: str) -> None:
        """Take the choice with a key in the menu that is open."""
        menu, answered = self.screen.dialogs.pop()
        assert isinstance(menu, Menu)
        keys = [choice.key for choice in menu._choices]
        answered(keys.index(key))
        await self.screen.finish()

    async def looks_for_marks(self) -> None:
        """Let seconds pass until marks of other consoles are looked for."""
        for _ in range(MARKS_SECONDS):
            self.sync.tick()
        assert self.sync.asked is not None
        await self.sync.asked
        await self.screen.finish()

    def labels(self) -> list[str]:
        menu = self.screen.dialogs[-1][0]
        assert isinstance(menu, Menu)
        return [choice.label for choice in menu._choices]

    def comes(self, message_id: str, sender: str, to: str | list[str], **more: Any) -> None:
        """A message comes now."""
        self.mail.message(message_id, sender, to, ago=NOW - self.now, **more)
        self.read_again()

    def read_again(self) -> None:
        """Fold the files as they are now."""
        with HaakStore.open(self.mail.data) as store:
            for batch in store.scan():
                self.mailbox.fold(batch, self.now)

    async def look(self) -> None:
        self.snoozing.look()
        await self.screen.finish()

    def listed(self, kind: str) -> list[str]:
        """Return the threads of a view as the list shows them."""
        self.screen.location = type(self.screen.location)(View(kind))  # type: ignore[arg-type]
        return list(self.screen.listing.all_roots())

    def rows(self) -> dict[str, int]:
        """Return the numbers of the sidebar's views."""
        return {
            row.label: row.count or row.quiet
            for row in sidebar_rows(self.screen.session)
            if row.key.startswith("view:")
        }

    def close(self) -> None:
        self.screen.close()


def saved(desk: Desk, folder: Path) -> QuietMarks:
    """Return the marks as another console on the same state would load them."""
    state = PersonalState(folder / "state.db")
    try:
        marks = QuietMarks()
        marks.load(state.database, desk.screen.session.store.url)
        return marks
    finally:
        state.close()
