"""Show pages of text over the screen: help, details and record of a message, problems in the settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from console.commands.table import BY_ID
from console.running.stepping import stepped
from console.screens.base_screen import BaseScreen
from console.screens.mail_screen import MailScreen
from mailstore.errors import StoreError
from mailstore.steps import MailboxReloaded

if TYPE_CHECKING:
    from textual.content import Content
    from textual.events import Key

    from console.panes.facts import FactPage
    from console.screens.viewer import MakePage
    from mailstore.queries.reading import Frontiers


def show_page(
    screen: BaseScreen[Any], command: str, title: str, content: Content | FactPage, make: MakePage | None = None
) -> None:
    """Show a page, which the keys of the command that asked for it close again; `make` makes it again."""
    from console.screens.viewer import Viewer

    keys = BY_ID[command].keys_in(screen.session.keymap)
    screen.ask(Viewer(title, content, keys, make=make), lambda _: None)


async def show_live(screen: BaseScreen[Any], title: str, make: MakePage) -> None:
    """Show a page of details, which is made again when mail comes."""
    if (page := await make()) is not None:
        show_page(screen, "details", title, page, make)


def show_help(screen: BaseScreen[Any]) -> None:
    """Show the keys of the focused pane."""
    from console.panes.help import HelpTopic
    from console.screens.help_screen import HelpScreen

    session = screen.session
    topic = HelpTopic(screen.pane(), session.keymap, session.why_not, replace(screen.situation(), row=None))
    screen.ask(HelpScreen(topic, BY_ID["help"].keys_in(session.keymap)), lambda _: None)


class Pages:
    """Makes the pages that the main screen's commands ask for."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen

    def help(self) -> None:
        """Show the keys of the focused pane, made from the commands themselves."""
        show_help(self._screen)

    def problems(self, is_asked_for: bool = True) -> None:
        """Show all problems in the settings and in your stored state, by file."""
        from console.panes.pages import problem_page
        from console.screens.viewer import Viewer

        def closed(key: Key | None) -> None:
            if key is not None:
                self._screen.press(key)

        page = problem_page(self._screen.session.problems)
        self._screen.ask(Viewer("Problems in settings and state", page, is_asked_for=is_asked_for), closed)

    def details(self) -> None:
        """Show everything that is known about the message, or the agent or channel where the cursor is on one."""
        view = self._screen.location.view
        if self._screen.pane() == "sidebar" and view.kind == "channel":
            self._show_live("Channel", partial(self._channel_page, view.name))
        elif self._screen.pane() == "sidebar":
            self.agent()
        elif (message := self._screen.selected_message()) is not None:
            self._show_live("Details", partial(self._details_page, message.id))

    def _show_live(self, title: str, make: MakePage) -> None:
        self._screen.run_task(show_live(self._screen, title, make), group="record", exclusive=True)

    async def _details_page(self, message_id: str) -> FactPage | None:
        from console.panes.pages import details

        session = self._screen.session
        if (message := session.mailbox.message(message_id)) is None:
            return None
        places = session.mailbox.places(message.id)
        try:
            files = await asyncio.to_thread(session.store.attachments, message, places)
            went = await asyncio.to_thread(session.store.ways, message, places)
        except StoreError as error:
            self._screen.report(error)
            files, went = (), ()
        return details(session.mailbox, message, session.now(), files, went)

    def agent(self) -> None:
        """Show everything that is known about the agent under the cursor."""
        view = self._screen.location.view
        if view.kind != "agent" or self._screen.session.mailbox.roster.get(view.name) is None:
            self._screen.tell("Select an agent first")
        else:
            self._show_live("Agent", partial(self._agent_page, view.name))

    async def _agent_page(self, name: str) -> FactPage | None:
        from console.panes.pages import agent_page

        session = self._screen.session
        if (agent := session.mailbox.roster.get(name)) is None:
            return None
        try:
            facts = await asyncio.to_thread(session.store.describe_agent, agent.session_id)
        except StoreError as error:
            self._screen.report(error)
            facts = ()
        return agent_page(session, agent, facts)

    async def _channel_page(self, tag: str) -> FactPage | None:
        from console.panes.pages import channel_page
        from mailstore.queries.reading import read_frontiers

        session = self._screen.session
        with suppress(MailboxReloaded):
            steps: AsyncGenerator[Frontiers] = stepped(
                read_frontiers(session.mailbox, tag, session.now()), session.rest
            )
            async with aclosing(steps):
                async for frontiers in steps:
                    return channel_page(session, tag, frontiers)
        return None

    def record(self) -> None:
        """Show the message's record as it is in its file."""
        if (message := self._screen.selected_message()) is not None:
            self._screen.run_task(self._show_record(message.id), group="record", exclusive=True)

    async def _show_record(self, message_id: str) -> None:
        from console.panes.pages import record_page

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
