"""Write the titles of the thread list and of the conversation: what they show, and how much is new out of sight."""

from __future__ import annotations

import re
from itertools import islice

from textual.content import Content

from console.browser.place import is_in_browser
from console.panes.titles import as_title, status_words, view_title
from console.render.safe import visible_line
from console.render.short_text import shorten_end
from console.screens.mail_screen import MailScreen
from mailstore.records.scope import label_of

LONGEST_QUERY = 400
"""Characters of a query that are looked at for a title."""
MOST_NEW = 100
"""How many arrivals are looked at to count those above what is in sight."""


class Titles:
    """The border titles of two panes; knows which arrivals were in sight."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._sighted: set[str] = set()

    def title_threads(self, listed: int) -> None:
        """Title the list: the view, the filter, the number of threads listed, of marks and of new messages above."""
        screen, listing = self._screen, self._screen.listing
        mailbox, view = screen.session.mailbox, screen.location.view
        if listing.query_problem is not None:
            screen.threads.set_titles(Content("Search: invalid query"), Content())
            return
        if listing.found is not None:
            self._title_hits(listed)
            return
        title = view_title(screen.session, view)
        notes = [
            note
            for note, is_on in (
                ("only new", listing.only_unread),
                ("following", listing.is_followed),
                (f"\\{listing.filter_text}", listing.filter_text),
            )
            if is_on
        ]
        marked = len(listing.marked_roots())
        above = (f"{marked} marked · " if marked else "") + self._new_above()
        width = screen.threads.size.width - 4 - len(above)
        below = above + status_words(mailbox, view, listed, width, is_all=not listing.is_sifting)
        screen.threads.set_titles(as_title(" · ".join([title, *notes])), Content(below))

    def _title_hits(self, listed: int) -> None:
        """Title the list of a search: its query, and how much it finds."""
        pane, listing = self._screen.threads, self._screen.listing
        so_far = " so far" if listing.is_searching or self._screen.session.is_loading else ""
        words = f" · {listed:,}{'+' if listing.is_cut else ''} thread{'s' * (listed != 1)}{so_far}"
        room = pane.size.width - 4 - len("Search: ") - len(words)
        title = f"Search: {shorten_end(visible_line(listing.query[:LONGEST_QUERY]), max(3, room))}{words}"
        marked = len(listing.marked_roots())
        above = (f"{marked} marked · " if marked else "") + self._new_above()
        number = f"{listing.hit_count:,}{'+' if listing.is_cut else ''} message{'s' * (listing.hit_count != 1)}"
        noted = f" · {len(listing.noted):,} in agent notes" if listing.noted else ""
        pane.set_titles(Content(title), Content(above + number + noted))

    def _new_above(self) -> str:
        """Say how many messages that came while the console was open wait above the rows in sight."""
        screen, session = self._screen, self._screen.session
        in_sight = screen.threads.rows_in_sight() if screen.is_current and screen.threads.is_on_screen else range(0)
        mailbox, source = session.mailbox, screen.threads.source
        number = 0
        for key in islice(reversed(session.arrived), MOST_NEW):
            if key in self._sighted or key not in mailbox or (at := source.index(mailbox.root_of(key))) is None:
                continue
            if at in in_sight:
                self._sighted.add(key)
            elif at < screen.threads.rows_above():
                number += session.new_among([key])
        more = "+" if len(session.arrived) > MOST_NEW else ""
        return f"{number}{more} new above · " if number else ""

    def title_conversation(self) -> None:
        """Title the conversation: its subject, the number of its messages and of new ones below."""
        pane, mailbox = self._screen.conversation, self._screen.session.mailbox
        if pane.is_stream:
            self._title_stream()
            return
        first = next(pane.messages, None)
        if first is None:
            pane.set_titles(Content(), Content())
            return
        summary = mailbox.summary(mailbox.root_of(first.id))
        label = label_of(summary.root) if mailbox.mailboxes() else ""
        title = as_title(f"{label} · {summary.subject}" if label else summary.subject)
        new = self._screen.session.new_among(pane.keys_below())
        below = f" · {new} new below" if new else ""
        number = f"{summary.messages} message{'s' * (summary.messages != 1)}"
        following = " · following" if pane.is_following else ""
        pane.set_titles(title, Content(f"{number}{below}{following}"))

    def _title_stream(self) -> None:
        """Title the stream: its place, the number of its messages, and how many new ones are below what is in sight."""
        screen = self._screen
        pane, view, session = screen.conversation, screen.location.view, screen.session
        number = len(pane.source.keys)
        words = [f"{number:,} message{'s' * (number != 1)}{'' if pane.is_whole else ' so far'}"]
        below = pane.keys_below(MOST_NEW + 1)
        mail = (session.mailbox.message(key) for key in below[:MOST_NEW])
        new = sum(message is not None and session.mailbox.is_unseen(message) for message in mail)
        if new:
            words.append(f"{new}{'+' * (len(below) > MOST_NEW)} new below")
        if pane.is_following:
            words.append("following")
        listing = screen.listing
        title = view_title(session, view) if listing.found is None else f"Search: {listing.query[:LONGEST_QUERY]}"
        if screen.listing.finding:
            title = f"{title} · \\{screen.listing.finding}"
        pane.set_titles(as_title(title), Content(" · ".join(words)))


PROGRAM = "Signalbox"
COLOUR = re.compile("#[0-9a-fA-F]{6}")


class PageTitle:
    """Keeps the title of the tab; a terminal's own title stays as it is."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._is_shown = is_in_browser()
        self._title = ""
        self._background = ""

    def drawn(self) -> None:
        """Title the tab if something else waits now, and give the page the colour of the theme."""
        if not self._is_shown:
            return
        background = self._screen.app.current_theme.background or ""
        if background != self._background and COLOUR.fullmatch(background):
            from console.browser.page_actions import colour_page

            self._background = background
            colour_page(self._screen.app, background)
        session = self._screen.session
        number = session.live.counts().for_you
        title = f"{f'({number}) ' if number else ''}{visible_line(session.store.title)} · {PROGRAM}"
        if title != self._title:
            from console.browser.page_actions import title_page

            self._title = title
            title_page(self._screen.app, title)
