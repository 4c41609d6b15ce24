"""Open and copy the links of a message."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from console.browser.place import is_in_browser
from console.screens.mail_screen import MailScreen

if TYPE_CHECKING:
    from console.render.links import Link
    from mailstore.records.message import Message


class MessageLinks:
    """Lists the links of the selected message; one is opened only after it was shown whole."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen

    def show(self) -> None:
        """List the links of the message."""
        if (message := self._screen.selected_message()) is not None:
            self._screen.run_task(self._choose(message), group="links", exclusive=True)

    async def _choose(self, message: Message) -> None:
        from console.render.link_list import links_of

        body = await asyncio.to_thread(self._screen.session.body, message)
        links = await asyncio.to_thread(links_of, body)
        if not links:
            self._screen.tell("No links in this message")
            return
        from console.screens.message_dialogs import LinkDialog

        choice = await self._screen.ask_and_wait(LinkDialog(links))
        if choice is None:
            return
        if choice.is_copied:
            self._copy(choice.link)
        else:
            await self._open(choice.link)

    def _copy(self, link: Link) -> None:
        self._screen.copy_to_clipboard(link.target)
        self._screen.tell(f"Link copied: {link.target}")

    async def _open(self, link: Link) -> None:
        from console.opening import OPENERS, find_opener, open_link
        from console.screens.ask import Ask

        opener = find_opener()
        if not await self._screen.ask_and_wait(Ask(f"Open a link to {link.host}?", link.target, verb="open")):
            return
        if is_in_browser():
            from console.browser.page_actions import open_in_page

            open_in_page(self._screen.app, link.target)
            self._screen.tell(f"Opened in another tab: {link.target}")
        elif opener is None:
            self._copy(link)
            self._screen.report(f"No program to open links ({OPENERS[0]}): the link was copied instead")
        elif problem := await open_link(opener, link.target):
            self._screen.report(problem, "Can't open the link")
        else:
            self._screen.tell(f"Opened: {link.target}")
