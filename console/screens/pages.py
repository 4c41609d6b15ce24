"""Show pages of text over the screen: help, details and record of a message, problems in the settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
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
    from mailstore.queries.reading import Frontiers
    from mailstore.records.message import Message
    from mailstore.records.roster import Agent


def show_page(screen: BaseScreen[Any], command: str, title: str, content: Content | FactPage) -> None:
    """Show a page, which the keys of the command that asked for it close again."""
    from console.screens.viewer import Viewer

    keys = BY_ID[command].keys_in(screen.session.keymap)
    screen.ask(Viewer(title, content, keys), lambda _: None)


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
            self._screen.run_task(self._show_channel(view.name), group="record", exclusive=True)
        elif self._screen.pane() == "sidebar":
            self.agent()
        elif (message := self._screen.selected_message()) is not None:
            self._screen.run_task(self._show_details(message), group="record", exclusive=True)

    async def _show_details(self, message: Message) -> None:
        from console.panes.pages import details

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
        from console.panes.pages import agent_page

        session = self._screen.session
        try:
            facts = await asyncio.to_thread(session.store.describe_agent, agent.session_id)
        except StoreError as error:
            self._screen.report(error)
            facts = ()
        show_page(self._screen, "details", "Agent", agent_page(session, agent, facts))

    async def _show_channel(self, tag: str) -> None:
        from console.panes.pages import channel_page
        from mailstore.queries.reading import read_frontiers

        session = self._screen.session
        with suppress(MailboxReloaded):
            steps: AsyncGenerator[Frontiers] = stepped(
                read_frontiers(session.mailbox, tag, session.now()), session.rest
            )
            async with aclosing(steps):
                async for step in steps:
                    show_page(self._screen, "details", "Channel", channel_page(session, tag, step))

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
