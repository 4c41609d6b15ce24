"""Open and save the files of a message."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from console.browser.place import is_in_browser
from console.render.safe import visible_line
from console.render.short_text import plural, shorten_middle, size_words
from console.screens.mail_screen import MailScreen
from mailstore.errors import MailError

if TYPE_CHECKING:
    from mailstore.records.details import AttachedFile
    from mailstore.records.message import Message

SHOWN_NAME = 60


class MessageFiles:
    """Lists the files of the selected message; one is opened only after it was said what it is."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._folder = ""
        """Where the user saved files last."""

    def show(self) -> None:
        """List the files of the message."""
        if (message := self._screen.selected_message()) is not None:
            self._screen.run_task(self._choose(message), group="files", exclusive=True)

    async def _choose(self, message: Message) -> None:
        from console.screens.message_dialogs import AttachmentDialog

        screen, session = self._screen, self._screen.session
        places = session.mailbox.places(message.id)
        files = await asyncio.to_thread(session.store.attachments, message, places)
        if not files:
            screen.tell("No files are attached to this message")
            return
        choice = await screen.ask_and_wait(AttachmentDialog(files))
        while (
            choice is not None and choice.what == "open" and not is_in_browser() and (why := _why_not(choice.files[0]))
        ):
            screen.report(f"{_name(choice.files[0])}: {why}. s saves it.", title="Not opened")
            choice = await screen.ask_and_wait(AttachmentDialog(files, choice.files[0]))
        if choice is None or not choice.files:
            return
        if unreadable := [file for file in choice.files if file.size is None]:
            screen.report(f"{_name(unreadable[0])}: {unreadable[0].problem}", title="Can't read the file")
        elif is_in_browser():
            await self._give(message, choice.files, places)
        elif choice.what == "open":
            await self._open(message, choice.files[0], places)
        else:
            self._ask_folder(message, choice.files, places)

    async def _give(self, message: Message, files: Sequence[AttachedFile], places: Sequence[str]) -> None:
        """Have the browser download files: what is a user's machine there, the server's isn't."""
        from console.browser.page_actions import give_file, room_for_file
        from console.opening import save_attachment

        for file in files:
            with room_for_file() as folder:
                save = partial(save_attachment, self._screen.session.store, message, file.name, folder, places)
                try:
                    give_file(self._screen.app, await asyncio.to_thread(save))
                except MailError as error:
                    self._screen.report(error, title=f"{_name(file)} not downloaded")
                else:
                    self._screen.tell(f"Downloaded: {_name(file)}")

    async def _open(self, message: Message, file: AttachedFile, places: Sequence[str]) -> None:
        from console.opening import OPENERS, find_opener, open_copy, open_link
        from console.screens.ask import Ask

        screen = self._screen
        opener = find_opener()
        if opener is None:
            screen.report(f"No program to open files ({OPENERS[0]}): save {_name(file)} instead", title="Not opened")
            return
        where = f"{size_words(file.size or 0)} from {visible_line(message.sender)}"
        detail = f"{where}. A copy is opened, by {Path(opener).name}."
        if not await screen.ask_and_wait(Ask(f"Open {_name(file)}?", detail, verb="open")):
            return
        try:
            path = await asyncio.to_thread(open_copy, screen.session.store, message, file.name, places)
        except MailError as error:
            screen.report(error, title="Not opened")
            return
        if problem := await open_link(opener, str(path)):
            screen.report(problem, title="Can't open the file")
        else:
            screen.tell(f"Opened: {_name(file)}")

    def _ask_folder(self, message: Message, files: Sequence[AttachedFile], places: Sequence[str]) -> None:
        from console.screens.prompt import Prompt

        def answered(folder: str | None) -> None:
            if folder:
                self._folder = folder
                saving = self._save(message, files, Path(folder).expanduser(), places)
                self._screen.run_task(saving, group="files", exclusive=True)

        what = _name(files[0]) if len(files) == 1 else plural(len(files), "file")
        detail = f"{size_words(sum(file.size or 0 for file in files))}; a file that is there is never replaced"
        self._screen.ask(
            Prompt(f"Save {what} in the folder", value=self._folder or _usual_folder(), detail=detail, check=wrong),
            answered,
        )

    async def _save(self, message: Message, files: Sequence[AttachedFile], folder: Path, places: Sequence[str]) -> None:
        from console.opening import save_attachment

        screen = self._screen
        saved: list[Path] = []
        for file in files:
            save = partial(save_attachment, screen.session.store, message, file.name, folder, places)
            try:
                saved.append(await asyncio.to_thread(save))
            except MailError as error:
                screen.report(error, title=f"{_name(file)} not saved")
        if saved:
            where = saved[0] if len(saved) == 1 else folder
            number = "" if len(saved) == 1 else f"{plural(len(saved), 'file')} in "
            screen.tell(f"Saved: {number}{shorten_middle(visible_line(str(where)), SHOWN_NAME)}")


def _why_not(file: AttachedFile) -> str:
    """Return why a file that can be read is not opened; empty where it is, or can't be read."""
    from console.opening import why_not_open

    return "" if file.size is None else why_not_open(file.name)


def wrong(folder: str) -> str:
    """Return what is wrong with a folder; empty where nothing is."""
    try:
        is_folder = bool(folder) and Path(folder).expanduser().is_dir()
    except (OSError, ValueError, RuntimeError):
        is_folder = False
    return "" if is_folder else "This folder does not exist"


def _usual_folder() -> str:
    return "~/Downloads" if (Path.home() / "Downloads").is_dir() else str(Path.cwd())


def _name(file: AttachedFile) -> str:
    return shorten_middle(visible_line(file.name), SHOWN_NAME)
