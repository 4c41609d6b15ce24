"""Export threads to a self-contained document that `signalbox verify` can check."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

from console.browser.place import is_in_browser
from console.render.safe import visible_line
from console.render.short_text import shorten_middle
from console.running.stepping import stepped
from console.screens.mail_screen import MailScreen
from mailstore.errors import MailError
from mailstore.records.message import Message


class Exporting:
    """Writes a new file, in the format that its suffix names; never replaces one."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen

    def export(self) -> None:
        """Ask for a file and export the marked threads, else the one in sight."""
        from console.export.document import SUFFIXES
        from console.screens.prompt import Prompt

        screen = self._screen
        root, mailbox = screen.location.root, screen.session.mailbox
        roots = screen.listing.marked_roots() or ([root] if root is not None else [])
        mail = [node.message for root in roots for node in mailbox.tree(root) if node.message is not None]
        if not mail:
            screen.tell("Nothing to export")
            return
        what = f"{len(roots)} threads" if len(roots) > 1 else f"“{visible_line(mailbox.summary(roots[0]).subject)}”"
        question = f"Export {what}, {len(mail)} message{'s' * (len(mail) != 1)}, to"

        def answered(name: str | None) -> None:
            if name:
                selection = f"{len(roots)} threads: {', '.join(roots)}"
                path = Path(name) if is_in_browser() else Path(name).expanduser()
                screen.run_task(self._export(mail, path, selection), group="export", exclusive=True)

        detail = f"File name ending in {', '.join(SUFFIXES)}"
        screen.ask(Prompt(question, value="thread.html", detail=detail, check=wrong), answered)

    async def _export(self, mail: list[Message], path: Path, selection: str) -> None:
        from console.export.about import About
        from console.export.document import SUFFIXES, render, write_new
        from console.render.timestamps import iso_time
        from mailstore.transfer.export import placed, whole

        screen, session = self._screen, self._screen.session
        mailbox, now = session.mailbox, session.now()
        steps = (placed(mailbox, message, now) for message in mail)
        async with aclosing(stepped(steps, session.rest)) as results:
            places = [each async for each in results]
        about = About(session.url, iso_time(now) or "", selection)
        messages = (whole(session.store, *each) for each in zip(mail, places, strict=True))
        pieces = render(SUFFIXES[path.suffix], messages, about)
        try:
            if is_in_browser():
                from console.browser.page_actions import give_file, room_for_file

                with room_for_file() as folder:
                    await asyncio.to_thread(write_new, folder / path.name, pieces)
                    give_file(screen.app, folder / path.name)
            else:
                await asyncio.to_thread(write_new, path, pieces)
        except MailError as error:
            screen.report(error, title="Not exported")
        else:
            screen.tell(f"{'Downloaded' if is_in_browser() else 'Exported to'} {shorten_middle(str(path), 40)}")


def wrong(name: str) -> str:
    """Return what is wrong with a file's name; empty where nothing is."""
    from console.export.document import SUFFIXES

    is_download = is_in_browser()
    path = Path() if not name else Path(name) if is_download else Path(name).expanduser()
    if path.suffix not in SUFFIXES:
        return f"The file name must end in {', '.join(SUFFIXES)}"
    if is_download:
        return "" if path.name == name else "Give a name without a folder: the browser says where it is saved"
    return f"{path} already exists" if path.exists() else ""
