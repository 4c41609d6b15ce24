"""A person at the console in a terminal, who knows what the mailbox holds and looks whether the screen says so."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from console.render.safe import visible_line
from mailstore import Mailbox, open_store
from mailstore.queries.query import parse
from mailstore.queries.search import SearchContext, search
from mailstore.state.views import View
from tests.terminal import Terminal

TITLE_CELLS = 30
"""So much of a title every layout shows."""

FOOTERS = {
    "1": ("enter open", "r reply", False),
    "2": ("enter open", "r reply", True),
    "3": ("r reply", "enter open", False),
}
"""Of two keys the one that a pane's footer names, and whether it names the other as well."""


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and the time of change of every file under a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def folded(url: str) -> Mailbox:
    """Read a whole mailbox."""
    mailbox = Mailbox()
    with open_store(url) as store:
        for batch in store.scan():
            mailbox.fold(batch, time.time())
    return mailbox


def beginning(text: str) -> str:
    """Return what of a title must be visible."""
    return visible_line(text)[:TITLE_CELLS].rstrip()


class Tourist:
    """Goes about in a console that shows the mailbox at a URL."""

    def __init__(self, terminal: Terminal, url: str) -> None:
        self.terminal = terminal
        self.url = url
        self.mailbox = folded(url)
        self.now = time.time()

    def arrive(self) -> None:
        """Wait until all is read: the sidebar counts what is new, and no width of the header leaves that out."""
        unseen = self.mailbox.counts().unseen
        counted = re.compile(rf"New to you +{f'{unseen:,} ' if unseen else ''}│")
        self.terminal.wait_for(lambda terminal: any(map(counted.search, terminal.lines)))
        self.await_pane("2")

    def go(self, number: str) -> None:
        """Go to a pane, and wait until the footer names its keys."""
        self.terminal.press(number)
        self.await_pane(number)

    def await_pane(self, number: str) -> None:
        """Wait until the footer names the keys of a pane."""
        shown, other, is_other = FOOTERS[number]
        self.terminal.wait_for(lambda terminal: shown in terminal.line(-1) and (other in terminal.line(-1)) is is_other)

    def sees_title(self, title: str) -> None:
        """Wait until a pane bears a title."""
        wanted = f"╭─ {beginning(title)}"
        self.terminal.wait_for(lambda terminal: any(wanted in line for line in terminal.lines[:3]))

    def sees_one_of(self, texts: Collection[str]) -> None:
        """Wait until one of some texts stands anywhere."""
        self.terminal.wait_for(lambda terminal: any(map(terminal.screen_text().__contains__, texts)))

    def sees_notice(self, words: str) -> None:
        """Wait until the footer says something."""
        self.terminal.wait_for(lambda terminal: terminal.line(-1).startswith(f" {words}"))

    def go_to_view(self, steps: int, title: str) -> None:
        """Go to a view, so many rows under the first of the sidebar."""
        self.go("1")
        self.terminal.press("g")
        self.sees_title("Attention")
        self.terminal.press(*["j"] * steps)
        self.sees_title(title)
        self.go("2")

    def walk(self, view: View, most: int | None = None) -> Iterator[str]:
        """Go down a view's list, from the top; yield the root of each thread when the conversation shows it."""
        self.terminal.press("g")
        for at, root in enumerate(self.mailbox.threads(view)[:most]):
            if at:
                self.terminal.press("j")
            summary = self.mailbox.summary(root)
            self.sees_title(summary.subject)
            yield root

    def look_up(self, key: str, *words: str) -> None:
        """Open a page over the console, wait for words on it, and close it by the same key."""
        self.terminal.press(key)
        self.terminal.wait_for("Esc: close")
        for word in words:
            self.terminal.wait_for(word)
        self.terminal.press(key)
        self.terminal.wait_gone("Esc: close")

    def hits(self, query: str) -> int:
        """Return how many threads a query finds."""
        with open_store(self.url) as store:
            context = SearchContext(self.mailbox, store.content, self.now)
            found = search(self.mailbox.messages(), parse(query, self.now), context)
            return len({self.mailbox.root_of(message.id) for message in found})

    def ask(self, query: str) -> None:
        """Search, see how much was found, and take the search away again."""
        self.open_bar("/")
        self.terminal.send(query)
        number = self.hits(query)
        threads = f"{number} thread{'s' * (number != 1)}"
        self.sees_notice(f"{threads} for {query}")
        self.terminal.wait_for(f" · {threads} ─")
        if not number:
            self.terminal.wait_for("Nothing found for")
        self.leave_bar()

    def filter(self, words: str, seen: str) -> None:
        """Filter the list, see what it shows, and take the filter away again."""
        self.open_bar("\\")
        self.terminal.send(words)
        self.sees_title(f"All mail · \\{words}")
        self.terminal.wait_for(seen)
        self.leave_bar()

    def open_bar(self, key: str) -> None:
        """Open the line of the search or the filter, over the list of all mail, and wait until it is there."""
        self.terminal.press(key)
        self.terminal.wait_for(lambda terminal: "╭─ All mail" not in terminal.line(1))

    def leave_bar(self) -> None:
        """Take the line of the search or the filter away."""
        self.terminal.press("escape")
        self.terminal.wait_for(lambda terminal: "╭─ All mail ─" in terminal.line(1))

    def quit(self) -> None:
        """Quit; the terminal is as it was."""
        self.terminal.press("q")
        assert self.terminal.wait_exit() == 0
        assert self.terminal.output.modes <= {7, 25}
        assert self.terminal.output.malformed == 0
