"""Writing threads to a document that stands alone, and that `signalbox verify` can check."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

from textual import work

from console import later
from console.render.safe import visible_line
from console.render.short_text import shorten_middle
from console.screens.piping import Piping
from console.stepping import stepped
from mailstore.errors import MailError
from mailstore.records.message import Message

__all__ = ["Exporting"]


class Exporting(Piping):
    """The format is the file's ending; a file that is there is left alone."""

    def action_export(self) -> None:
        """Export the marked threads, else the one in sight."""
        roots = self.marked_roots() or ([self.look.root] if self.look.root is not None else [])
        mailbox = self.session.mailbox
        mail = [node.message for root in roots for node in mailbox.tree(root) if node.message is not None]
        if not mail:
            self.tell("there is nothing here to export")
            return
        what = f"{len(roots)} threads" if len(roots) > 1 else f"“{visible_line(mailbox.summary(roots[0]).subject)}”"
        question = f"Export {what}, {len(mail)} message{'s' * (len(mail) != 1)}, to"

        def answered(name: str | None) -> None:
            if name:
                self._export(mail, Path(name).expanduser(), f"{len(roots)} threads: {', '.join(roots)}")

        detail = f"a file that ends in {', '.join(later.SUFFIXES)}"
        self.app.push_screen(later.Prompt(question, value="thread.html", detail=detail, check=wrong), answered)

    @work(group="export", exclusive=True, exit_on_error=False)
    async def _export(self, mail: list[Message], path: Path, selection: str) -> None:
        session, mailbox, now = self.session, self.session.mailbox, self.session.now()
        steps = (later.placed(mailbox, message, now) for message in mail)
        async with aclosing(stepped(steps, session.rest)) as found:
            places = [each async for each in found]
        about = later.About(session.store.url, later.iso_time(now) or "", selection)
        messages = (later.whole(session.store, *each) for each in zip(mail, places, strict=True))
        pieces = later.render(later.SUFFIXES[path.suffix], messages, about)
        try:
            await asyncio.to_thread(later.write_new, path, pieces)
        except MailError as error:
            self.notify(str(error), title="Not exported", severity="error", markup=False)
        else:
            self.tell(f"exported to {shorten_middle(str(path), 40)}")


def wrong(name: str) -> str:
    """Say what is wrong with a file's name."""
    path = Path(name).expanduser() if name else Path()
    if path.suffix not in later.SUFFIXES:
        return f"name a file that ends in {', '.join(later.SUFFIXES)}"
    return f"{path} already exists" if path.exists() else ""
