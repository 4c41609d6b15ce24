"""Open the list screens over the mail, and go where one was left for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.screens.mail_screen import MailScreen
from mailstore.state.views import View

if TYPE_CHECKING:
    from console.screens.away import Away
    from console.screens.desks.desks import Desks
    from console.screens.list_screen import ListScreen
    from console.screens.navigation import Navigation
    from console.screens.writing.composing import Composing

DAY = 24 * 3600.0


class Opening:
    """Pushes a list screen; a message or view that is chosen there is shown on the main screen."""

    def __init__(
        self, screen: MailScreen, navigation: Navigation, composing: Composing, desks: Desks, away: Away
    ) -> None:
        self._screen = screen
        self._navigation = navigation
        self._composing = composing
        self._desks = desks
        self._away = away

    def attention(self) -> None:
        """List what needs attention."""
        self._desks.attention()

    def dead_letters(self) -> None:
        """List dead letters."""
        self._desks.dead_letters()

    def journal(self) -> None:
        """List the user's interventions."""
        from console.screens.journal import Journal

        self._open(Journal)

    def archive(self) -> None:
        """Review what can be archived."""
        from console.screens.archive import Archive

        self._open(Archive)

    def settings(self) -> None:
        """List the settings."""
        from console.screens.settings import SettingsList

        self._open(SettingsList)

    def unreadable(self) -> None:
        """List lines that can't be read."""
        from console.screens.unreadable import UnreadableList

        self._open(UnreadableList)

    def away(self) -> None:
        """List what happened while the user was away; of a day, if they were never here before."""
        from console.screens.away_list import AwayList

        def chosen(key: str | None) -> None:
            if key is not None and key.startswith("letter:"):
                self.dead_letters()
            elif key is not None:
                self._away.go(key)

        screen, away = self._screen, self._away
        since = screen.session.now() - DAY if away.since is None else away.since
        away.dismiss()
        screen.ask(AwayList(screen.session, screen.text_styles, since), chosen)

    def drafts(self) -> None:
        """List drafts; the chosen one is continued in its place."""
        from console.screens.writing.draft_keeping import DraftKeeping
        from console.screens.writing.drafts import Drafts

        def chosen(key: str | None) -> None:
            if key is not None:
                self._composing.resume(key)

        self._screen.close_composer()  # what is open there may be discarded in the list
        screen = self._screen
        screen.ask(Drafts(screen.session, screen.text_styles, DraftKeeping(screen)), chosen)

    def views(self) -> None:
        """List saved views; the chosen one is shown."""
        from console.screens.views import SavedViews

        def chosen(name: str | None) -> None:
            if name is not None:
                self._screen.show_view(View("saved", name))

        self._screen.ask(SavedViews(self._screen.session, self._screen.text_styles), chosen)

    def _open(self, kind: type[ListScreen]) -> None:
        def chosen(message_id: str | None) -> None:
            if message_id is not None:
                self._navigation.jump(message_id)

        self._screen.ask(kind(self._screen.session, self._screen.text_styles), chosen)
