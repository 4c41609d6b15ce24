"""Title the browser's tab: how much mail waits for the user, and where."""

from __future__ import annotations

import re

from console.browser.place import is_in_browser
from console.render.safe import visible_line
from console.screens.mail_screen import MailScreen

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
