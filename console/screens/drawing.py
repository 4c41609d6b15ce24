"""Draw the main screen from the mailbox, with its titles, as mail comes and as the user goes from place to place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice
from time import monotonic

from textual.content import Content

from console.browser.place import is_in_browser
from console.panes.header import headline
from console.panes.quiet_rows import signs_for
from console.panes.thread_rows import ThreadRows, notes_for
from console.panes.titles import as_title, empty_list, empty_mailbox, no_hits, status_words, view_title
from console.render.safe import visible_line
from console.render.short_text import shorten_end
from console.screens.location import mode_of
from console.screens.mail_screen import MailScreen
from mailstore.records.scope import label_of

LONGEST_QUERY = 400
"""Characters of a query that are looked at for a title."""
MOST_NEW = 100
"""How many arrivals are looked at to count those above what is in sight."""
PROGRAM = "Signalbox"
COLOUR = re.compile("#[0-9a-fA-F]{6}")
FRAME_SECONDS = 1 / 60
MOST_AT_ONCE = 8
STORM_SECONDS = 0.2
LOADING_SECONDS = 0.2
SHARE = 4
"""How many times as long as drawing took the pause between two drawings lasts at least: keys come first."""


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
        missed = f" · {listing.unreadable_texts:,} can't be read" if listing.unreadable_texts else ""
        pane.set_titles(Content(title), Content(above + number + missed + noted))

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


class Drawing:
    """Draws all panes together, no more often than leaves time for keys."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._titles = Titles(screen)
        self.pacing = Pacing()
        self._wanted_root = screen.location.root
        self._wanted_message = screen.location.message
        self._left_at: tuple[str | None, str | None] = (None, None)
        """The thread and the message at the cursors when they were drawn last; None where they may be anywhere."""
        self._is_at_newest = True
        """Whether the cursor stays at the top: while mail is read that was there, until you do something."""
        self._newest: str | None = None
        """The thread at the top then."""
        self._rows_above = 0

    def keep_place(self) -> None:
        """Come back to the thread and the message at the cursor as soon as a mailbox that is read again has them."""
        screen = self._screen
        if screen.has_conversation and self._wanted_root is None:
            pane = screen.conversation
            self._wanted_root, self._wanted_message = None if pane.is_stream else pane.root, pane.cursor_key

    def draw(self) -> None:
        """Draw everything that may have changed, without moving a cursor or scrolling."""
        screen, session = self._screen, self._screen.session
        self.pacing.begin(len(session.mailbox))
        if any(then not in (None, now) for then, now in zip(self._left_at, self._cursors(), strict=True)):
            self._wanted_root = self._wanted_message = None  # the user went on meanwhile
        mode = mode_of(session.personal, screen.listing.shown_view())
        is_streamed = screen.has_conversation and mode == "stream" and not self._is_list_wanted()
        is_changed = screen.set_streamed(is_streamed)
        roots = () if is_streamed else screen.listing.roots_to_draw()
        screen.sidebar.show(session, screen.text_styles)
        if is_streamed:
            self._draw_stream(is_changed=is_changed)
        else:
            self._draw_list(roots, is_flat=mode == "flat")
        if screen.has_all_panes and screen.composer.is_open:
            screen.composer.update_reach()
        self.draw_header()
        screen.show_keys()
        self._left_at = self._cursors()
        self.pacing.end()

    def _is_list_wanted(self) -> bool:
        """Return whether threads are filtered, which a stream does not show, or all hits are still to be found."""
        listing = self._screen.listing
        is_narrowed = listing.is_narrowed or (listing.found is not None and listing.rows is None)
        return is_narrowed or (self._screen.has_all_panes and self._screen.search_bar.display)

    def _draw_list(self, roots: Sequence[str], *, is_flat: bool) -> None:
        screen, session = self._screen, self._screen.session
        had = screen.threads.cursor_key
        self._draw_threads(roots)
        if not screen.has_conversation:
            return
        screen.conversation.set_flat(is_flat)
        if screen.threads.cursor_key is None and screen.conversation.is_stream:
            screen.conversation.set_aside()
        elif had is not None and screen.threads.cursor_key is None and not session.is_loading and len(session.mailbox):
            screen.show_thread(None)
        self._draw_conversation()

    def _draw_stream(self, *, is_changed: bool) -> None:
        screen = self._screen
        pane = screen.conversation
        if is_changed or pane.root is None:
            listing, at = screen.listing, self._wanted_message or (pane.cursor_key if is_changed else None)
            pane.show_stream(listing.shown_view(), listing.found_rows, at=at)
            self._wanted_message = None
        pane.hits.show(screen.listing.sought(), screen.text_styles)
        pane.refresh_mail()
        self._come_back()
        self.title_conversation()

    def _draw_threads(self, roots: Sequence[str]) -> None:
        screen, session, listing = self._screen, self._screen.session, self._screen.listing
        mailbox = session.mailbox
        self._stay_at_newest(roots)
        notes = notes_for(mailbox, screen.location.view, session.now(), session.attention.roots)
        screen.threads.placeholder = tuple(self._placeholder())
        screen.threads.set_source(
            ThreadRows(
                mailbox,
                roots,
                screen.text_styles,
                session.now,
                listing.hits(),
                notes,
                listing.marked,
                listing.sought(),
                signs_for(session),
            )
        )
        self._rows_above = screen.threads.rows_above()
        self.title_threads()
        if self._wanted_root is not None and screen.threads.select(self._wanted_root):
            wanted, self._wanted_root = self._wanted_root, None
            if screen.has_conversation and wanted != screen.conversation.root:
                screen.show_thread(wanted, self._wanted_message)

    def _stay_at_newest(self, roots: Sequence[str]) -> None:
        """Keep the cursor on the newest thread while old mail is read, in whatever order a mailbox hands it out."""
        session, threads = self._screen.session, self._screen.threads
        is_left = threads.cursor_key not in (None, self._newest) or threads.rows_above() != self._rows_above
        if not self._is_at_newest or session.keys or is_left:
            self._is_at_newest = False
        elif roots:
            self._is_at_newest = session.is_loading
            may_still_come = session.is_loading and self._wanted_root is not None
            if self._newest is None:
                self._newest = roots[0]
            elif self._newest != roots[0] and not may_still_come:
                self._newest = roots[0]
                threads.begin()

    def _cursors(self) -> tuple[str | None, str | None]:
        screen = self._screen
        return screen.threads.cursor_key, screen.conversation.cursor_key if screen.has_conversation else None

    def _come_back(self) -> None:
        """Go to the wanted message if it is there by now."""
        if self._wanted_message is not None and self._screen.conversation.scroll_to_key(self._wanted_message):
            self._wanted_message = None

    def _draw_conversation(self) -> None:
        screen, key = self._screen, self._screen.threads.cursor_key
        if key is not None and (screen.conversation.root is None or screen.conversation.is_stream):
            screen.show_thread(key, screen.location.message if key == screen.location.root else None)
        screen.conversation.hits.show(screen.listing.sought(), screen.text_styles)
        screen.conversation.refresh_mail()
        self._come_back()
        self.title_conversation()

    def _placeholder(self) -> list[str]:
        session, listing = self._screen.session, self._screen.listing
        if listing.query_problem is not None:
            return ["Can't read this query."]
        if not len(session.mailbox):
            return empty_mailbox(session, session.is_loading)
        if listing.found is not None:
            return no_hits(listing.query, listing.suggestion, len(listing.noted), is_searching=listing.is_searching)
        if listing.is_sifting:
            return ["Looking…"]
        return empty_list(session, self._screen.location.view, listing.filter_text, is_filtered=listing.is_narrowed)

    def title_threads(self) -> None:
        """Update the list's title."""
        self._titles.title_threads(len(self._screen.threads.source))

    def title_conversation(self) -> None:
        """Update the conversation's title."""
        self._titles.title_conversation()

    def draw_header(self) -> None:
        """Draw the header alone, which shows the time."""
        if (header := self._screen.header) is not None:
            header.headline = headline(self._screen.session, self._screen.sidebar.asking)


class Pacing:
    """Knows when the screen was last drawn, how long that took, and how many messages there were."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._drawn = 0.0
        self._took = self._last_took = 0.0
        self._messages = 0

    def wait(self, messages: int, *, is_loading: bool, is_whole: bool = False) -> float:
        """Return how many seconds to wait before drawing a mailbox of so many messages; 0 or less: draw now.

        `is_whole` says that the last of the mail that was there has just been read: that is not a burst of new mail.
        """
        is_first = messages > 0 and not self._messages
        # more arrives than can be read: frames are left out, so that keys are handled at once
        pause = STORM_SECONDS if messages - self._messages > MOST_AT_ONCE and not is_whole else FRAME_SECONDS
        if is_loading and self._drawn and not is_first:
            pause = LOADING_SECONDS
        return self._drawn + max(pause, SHARE * self._took) - self._clock()

    def begin(self, messages: int) -> None:
        """Note that a mailbox of so many messages is being drawn."""
        self._drawn = self._clock()
        self._messages = messages

    def end(self) -> None:
        """Note that it was drawn; of the last two drawings the shorter counts, the other may have waited."""
        took, self._last_took = self._last_took, self._clock() - self._drawn
        self._took = min(took, self._last_took)
