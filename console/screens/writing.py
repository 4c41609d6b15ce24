"""Writing: into a channel, to a role, to an agent, to all, in reply, or into the middle of a thread."""

from __future__ import annotations

import asyncio
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from console import later
from console.composer_draft import ComposerDraft
from console.render.safe import visible, visible_line
from console.screens.location import Location
from console.screens.marking import Marking
from console.undo_history import UndoableAction
from mailstore.store import Capability

if TYPE_CHECKING:
    from console.panes.composer import Composer

__all__ = ["Writer"]

QUOTE_LINES = 40


class Writer(Marking):
    """Opens the composer on what is under the cursor, keeps drafts, sends."""

    _sent: tuple[str, Location] | None = None
    """What was sent and has not come back from the store yet, and what was looked at then."""

    def thread_shown(self) -> None:
        """Bring a thread's draft back with the thread."""
        root = self.look.root
        if not self.is_furnished:
            return
        if self.composer.is_open and self.pane() != "composer":
            self.composer.close()
        is_past = self.session.moment is not None
        draft = self.session.draft(f"thread:{root}") if root and not is_past else None
        if draft is not None and self.pane() != "composer":
            self.composer.open(draft)

    def _write(self, writing: ComposerDraft, about: str = "") -> None:
        reason = self.session.why_not(Capability.SEND, about)
        if reason:
            self.tell(f"can't write here: {reason}")
            return
        kept = self.session.draft(writing.key)
        self.composer.open(kept or writing)
        self.composer.focus_field()
        if kept is not None:
            self.tell("your draft is back")

    def action_compose(self) -> None:
        """Write to what is under the cursor: the channel, the agent, or to nobody yet."""
        view = self.look.view
        if view.kind == "channel":
            self._write(ComposerDraft(f"channel:{view.name}", self.session.mailbox.label(view.name)), view.name)
        elif view.kind == "agent":
            self._write(ComposerDraft(f"agent:{view.name}", view.name), view.name)
        else:
            self._write(ComposerDraft("new"))

    def action_reply(self) -> None:
        """Answer the message; between agents the answer goes to both sides and is an intervention."""
        self._reply()

    def action_quote(self) -> None:
        """Answer with the message quoted."""
        self._reply(is_quoting=True)

    def action_reply_all(self) -> None:
        """Answer to all sides of the conversation."""
        self._reply(to_all_sides=True)

    def _reply(self, *, to_all_sides: bool = False, is_quoting: bool = False) -> None:
        message = self.conversation.message
        if message is None:
            self.tell("no message is chosen to answer")
            return
        reply = later.reply_to(self.session.mailbox, message, to_all_sides=to_all_sides)
        writing = ComposerDraft(
            key=f"thread:{self.session.mailbox.root_of(message.id)}",
            recipients=", ".join(map(self.session.mailbox.label, reply.recipients)),
            subject=visible_line(reply.subject),
            thread=reply.thread,
            action="intervene" if reply.is_intervention else "",
        )
        if is_quoting and not self.session.why_not(Capability.SEND, message.id):
            self.run_worker(self._quote(writing, message.id), group="quote", exclusive=True)
        else:
            self._write(writing, message.id)

    async def _quote(self, writing: ComposerDraft, message_id: str) -> None:
        message = self.session.mailbox.message(message_id)
        if message is None:
            return
        body = await asyncio.to_thread(self.session.body, message)
        every = visible(body).splitlines()
        left_out = len(every) - QUOTE_LINES
        lines = [f"> {line}" for line in every[:QUOTE_LINES]]
        if left_out > 0:
            lines.append(f"> [{left_out} more line{'s' * (left_out != 1)}]")
        kept = self.session.draft(writing.key)
        base = kept or writing
        quoted = "\n".join([*([base.body.rstrip(), ""] if base.body.strip() else []), *lines, "", ""])
        self.composer.open(ComposerDraft(base.key, base.recipients, base.subject, quoted, base.thread, base.action))
        self.composer.flush()
        self.composer.focus_field()

    def action_send(self) -> None:
        """Send what stands in the composer."""
        if self.composer.is_open:
            self.composer.send()
        else:
            self.tell("nothing is being written: c writes, r replies")

    def on_composer_sent(self, event: Composer.Sent) -> None:
        """Go back to the mail, and say that it was sent."""
        if self.pane() == "composer" or self.focused is None:
            is_answer = event.writing.thread or self.has_class("-narrow")
            self.set_focus(self.conversation if is_answer else self.threads)
        self._sent = event.message_id, self.look
        self._show_sent()
        self.tell("sent" if not event.writing.action else "sent, and noted in the journal as an intervention")

    def redraw(self) -> None:
        """Draw everything, and go to what was sent once it is there."""
        super().redraw()
        self._show_sent()

    def _show_sent(self) -> None:
        """Show what was sent, unless the person has gone elsewhere meanwhile."""
        if self._sent is None or self._sent[0] not in self.session.mailbox:
            return
        (message_id, look), self._sent = self._sent, None
        if (look.view, look.root) == (self.look.view, self.look.root) and self.pane() != "composer":
            self.show_message(message_id)

    def action_discard(self) -> None:
        """Discard the draft, after asking."""
        if not self.composer.is_open:
            self.tell("no draft is open")
            return

        def answered(is_sure: bool | None) -> None:
            if is_sure:
                writing = self.composer.writing
                self._drop()
                self.session.undo_history.add(
                    UndoableAction("a draft discarded", lambda: self._write(writing), self._drop)
                )

        self.app.push_screen(
            later.Ask("Discard this draft?", "Until you quit, undo brings it back.", verb="discard"), answered
        )

    def _drop(self) -> None:
        self.composer.discard()
        self.set_focus(self.threads)

    def action_editor(self) -> None:
        """Write in $VISUAL or $EDITOR, and come back with what was saved there."""
        if not self.composer.is_open:
            self.action_compose()
            if not self.composer.is_open:
                return
        import subprocess
        import tempfile

        command = self.session.config.editor or os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        with tempfile.TemporaryDirectory(prefix="signalbox-") as folder:
            path = Path(folder) / "message.md"
            path.write_text(self.composer.writing.body, encoding="utf-8")
            try:
                with self.app.suspend():
                    done = subprocess.run([*shlex.split(command), str(path)], check=False)
            except (SuspendNotSupported, OSError, ValueError) as error:
                self.notify(f"can't run {command!r}: {error}", severity="error", markup=False)
                return
            if done.returncode != 0:
                self.tell(f"{command} ended with status {done.returncode}: the draft is as it was")
                return
            self.composer.set_body(path.read_text(encoding="utf-8", errors="replace").rstrip("\n"))
        self.composer.focus_field()
