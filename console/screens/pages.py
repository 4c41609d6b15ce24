"""Show pages of text over the screen: help, details and record of a message, problems in the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from console.command import Situation
from console.commands import COMMANDS, HELP
from console.screens.needs import MessageScreen
from mailstore.errors import StoreError

if TYPE_CHECKING:
    from textual.content import Content
    from textual.events import Key
    from textual.screen import Screen

    from console.panes.facts import FactPage
    from console.screens.location import ScreenLocation
    from console.session import Session
    from console.styles import TextStyles
    from mailstore.records.message import Message
    from mailstore.records.roster import Agent


class PageScreen(Protocol):
    """What showing a page needs of a screen."""

    session: Session

    def ask(self, dialog: Screen[Key | None], answered: Callable[[Key | None], None]) -> None: ...


def show_page(screen: PageScreen, command: str, title: str, content: Content | FactPage) -> None:
    """Show a page, which the keys of the command that asked for it close again."""
    from console.screens.viewer import Viewer

    keys = next(it.keys_in(screen.session.keymap) for it in COMMANDS if it.id == command)
    screen.ask(Viewer(title, content, keys), lambda _: None)


class HelpedScreen(Protocol):
    """What the help needs of a screen."""

    session: Session

    def pane(self) -> str: ...
    def situation(self) -> Situation: ...
    def ask(self, dialog: Screen[None], answered: Callable[[None], None]) -> None: ...


def show_help(screen: HelpedScreen) -> None:
    """Show the keys of the focused pane."""
    from console.panes.help import HelpTopic
    from console.screens.help_screen import HelpScreen

    session = screen.session
    topic = HelpTopic(screen.pane(), session.keymap, session.why_not, screen.situation())
    screen.ask(HelpScreen(topic, HELP.keys_in(session.keymap)), lambda _: None)


class PagesScreen(MessageScreen, Protocol):
    """What pages need of the main screen."""

    text_styles: TextStyles
    location: ScreenLocation

    def pane(self) -> str: ...
    def situation(self) -> Situation: ...
    def press(self, key: Key) -> None: ...


class Pages:
    """Makes the pages that the main screen's commands ask for."""

    def __init__(self, screen: PagesScreen) -> None:
        self._screen = screen

    def help(self) -> None:
        """Show the keys of the focused pane, made from the commands themselves."""
        show_help(self._screen)

    def problems(self, is_asked_for: bool = True) -> None:
        """Show all problems in the settings, by file."""
        from console.panes.problems import problem_page
        from console.screens.viewer import Viewer

        def closed(key: Key | None) -> None:
            if key is not None:
                self._screen.press(key)

        page = problem_page(self._screen.session.problems)
        self._screen.ask(Viewer("Problems in the settings", page, is_asked_for=is_asked_for), closed)

    def details(self) -> None:
        """Show everything that is known about the message, or the agent where the cursor is on one."""
        if self._screen.pane() == "sidebar":
            self.agent()
        elif (message := self._screen.selected_message()) is not None:
            self._screen.run_task(self._show_details(message), group="record", exclusive=True)

    async def _show_details(self, message: Message) -> None:
        from console.panes.details import details

        session = self._screen.session
        places = session.mailbox.places(message.id)
        try:
            files = await asyncio.to_thread(session.store.attachments, message, places)
            went = await asyncio.to_thread(session.store.ways, message, places)
        except StoreError as error:
            self._screen.report(error)
            files, went = (), ()
        page = details(session.mailbox, message, session.now(), files, went)
        show_page(self._screen, "details", "Details", page)

    def agent(self) -> None:
        """Show everything that is known about the agent under the cursor."""
        view = self._screen.location.view
        agent = self._screen.session.mailbox.roster.get(view.name) if view.kind == "agent" else None
        if agent is None:
            self._screen.tell("Select an agent first")
        else:
            self._screen.run_task(self._show_agent(agent), group="record", exclusive=True)

    async def _show_agent(self, agent: Agent) -> None:
        from console.panes.agent_page import agent_page

        session = self._screen.session
        try:
            facts = await asyncio.to_thread(session.store.describe_agent, agent.session_id)
        except StoreError as error:
            self._screen.report(error)
            facts = ()
        show_page(self._screen, "details", "Agent", agent_page(session, agent, facts))

    def record(self) -> None:
        """Show the message's record as it is in its file."""
        if (message := self._screen.selected_message()) is not None:
            self._screen.run_task(self._show_record(message.id), group="record", exclusive=True)

    async def _show_record(self, message_id: str) -> None:
        from console.panes.record_page import record_page

        session, styles = self._screen.session, self._screen.text_styles
        message = session.mailbox.message(message_id)
        if message is None:
            return
        try:
            page = await asyncio.to_thread(lambda: record_page(session.store.raw(message), styles))
        except StoreError as error:
            self._screen.report(error)
            return
        where = message.location
        title = f"{where.file} at {where.offset:,}" if where is not None else "Record"
        show_page(self._screen, "record", title, page)
