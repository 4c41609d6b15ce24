"""Write: to a channel, a role or an agent, to all, or in reply."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from console.browser.place import is_in_browser
from console.render.safe import visible, visible_line
from console.screens.location import ScreenLocation
from console.screens.mail_screen import MailScreen
from console.state.composer_draft import ComposerDraft, SendOptions
from console.state.draft_text import EXAMPLES, editor_text, options_text, read_editor_text, read_options
from console.state.undo_history import UndoableAction
from console.widgets.offers import Candidate
from mailstore.queries.questions import QUESTION
from mailstore.records.message import Message
from mailstore.rules.cancelling import CANCEL
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View
from mailstore.store import Capability

QUOTE_LINES = 40
SENT = "Sent"
USUAL_TYPES = (QUESTION, "task-assigned", "review-request", "status")
Answered = Callable[[ComposerDraft | None], None]
MOST_SECONDS = 3.0
"""After this, the footer names the keys again, however much there was to say of what was sent."""


def unquoted(text: str) -> str:
    """Return what is wrong with words as a shell reads them; empty if nothing is."""
    try:
        shlex.split(text)
    except ValueError:
        return "Close the quotes"
    return ""


def reply_draft(mailbox: Mailbox, message: Message, *, to_all_sides: bool = False) -> ComposerDraft:
    """Return an empty reply; one between agents goes to both sides and is an intervention."""
    from mailstore.writing.replying import reply_to

    reply = reply_to(mailbox, message, to_all_sides=to_all_sides)
    return ComposerDraft(
        key=f"thread:{mailbox.root_of(message.id)}",
        recipients=", ".join(map(mailbox.label, reply.recipients)),
        subject=visible_line(reply.subject),
        thread=reply.thread,
        action="intervene" if reply.is_intervention else "",
    )


def open_tasks(mailbox: Mailbox, message: Message) -> list[Message]:
    """Return the open tasks that an answer to a message can cancel: its own, and those below."""
    return mailbox.tasks(mailbox.root_of(message.id)).open_below(message.id)


def option_candidates(mailbox: Mailbox) -> list[Candidate]:
    """Return options that a message may be sent with."""
    types = dict.fromkeys([*USUAL_TYPES, *mailbox.types()])
    return [
        *(Candidate(f"type:{kind}", "waits for an answer" if kind == QUESTION else "") for kind in types),
        *(Candidate(f"expires:{age}", "agents no longer get it after that") for age in ("4h", "1d", "1w")),
        *(Candidate(f"hold:{time}", "can be undone for so long") for time in ("0s", "30s", "5m")),
    ]


def _whole_path(word: str) -> str:
    return os.path.abspath(os.path.expanduser(word))  # noqa: PTH100, PTH111 - any text


class Composing:
    """Opens the composer on what is under the cursor, keeps drafts, sends."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._sent: tuple[str, ScreenLocation] | None = None
        """What was sent and has not come back from the store yet, and where the user was then."""
        self._then: Answered | None = None
        self._then_of: dict[str, Answered] = {}
        """Who asked for the replies that are held, by the key of the draft."""
        self._held_at: ScreenLocation | None = None

    def restore_draft(self) -> None:
        """Open the draft of the thread or the stream that is shown; close the composer where there is none."""
        screen, composer, session = self._screen, self._screen.composer, self._screen.session
        is_elsewhere = self._screen.pane() != "composer"
        if composer.is_open and is_elsewhere:
            composer.close()
        key = f"thread:{screen.location.root}" if screen.location.root else ""
        if screen.conversation.is_stream and screen.listing.found is None:
            key = self._to_place().key
        draft = self._kept(key) if key and session.moment is None else None
        if draft is not None and is_elsewhere:
            composer.stays_open = screen.conversation.is_stream
            composer.open(draft)

    def _kept(self, key: str) -> ComposerDraft | None:
        """Return the draft with a key; that of a thread also if another message was its first one then."""
        personal, mailbox = self._screen.session.personal, self._screen.session.mailbox
        place, _, root = key.partition(":")
        if place != "thread" or personal.draft(key) is not None:
            return personal.draft(key)
        begun = (draft for draft in personal.drafts if draft.thread and draft.key.startswith("thread:"))
        return next((draft for draft in begun if mailbox.root_of(draft.thread or "") == root), None)

    def write(self, writing: ComposerDraft, about: str = "") -> None:
        """Open a draft, or the one that was kept in its place; `about` names where it goes."""
        screen, session = self._screen, self._screen.session
        self._then = None
        reason = session.why_not(Capability.SEND, about)
        if reason:
            screen.tell(f"Can't write here: {reason}")
            return
        kept = self._kept(writing.key)
        screen.composer.stays_open = screen.is_streamed and writing.thread is None
        screen.composer.open(kept or writing)
        screen.composer.focus_field()
        if kept is not None:
            screen.tell("Draft restored")

    def resume(self, key: str) -> None:
        """Continue a draft in its place: its thread, its channel, its agent."""
        screen, mailbox = self._screen, self._screen.session.mailbox
        draft = screen.session.personal.draft(key)
        if draft is None:
            screen.tell("This draft was sent or discarded meanwhile")
            return
        kind, _, name = key.partition(":")
        if draft.thread is not None and draft.thread in mailbox:
            screen.show_message(draft.thread)
        elif kind == "channel" or (kind == "agent" and mailbox.roster.get(name) is not None):
            screen.show_view(View("channel" if kind == "channel" else "agent", name))
        self.write(draft, draft.thread or "")

    def compose(self) -> None:
        """Write to what is under the cursor: the channel, the agent, or a recipient to be typed."""
        self.write(self._to_place(), self._screen.location.view.name)

    def _to_place(self) -> ComposerDraft:
        """Return an empty draft to the channel, agent or role that is shown; elsewhere, without a recipient."""
        view = self._screen.location.view
        match view.kind:
            case "channel":
                return ComposerDraft(f"channel:{view.name}", self._screen.session.mailbox.label(view.name))
            case "role":
                return ComposerDraft(f"role:{view.name}", f"role:{view.name}")
            case "agent":
                return ComposerDraft(f"agent:{view.name}", view.name)
            case _:
                return ComposerDraft("new")

    def open_or_focus(self) -> None:
        """Go to the composer, which opens if it is closed."""
        if self._screen.composer.is_open:
            self._screen.composer.focus_field()
        else:
            self.compose()

    def reply(self, then: Answered | None = None) -> None:
        """Reply to the message; between agents the reply goes to both sides and is an intervention.

        `then` is called once with what was sent, or with None if the composer is closed before.
        """
        self._reply()
        self._then = then

    def expect(self, writing: ComposerDraft, then: Answered) -> None:
        """Tell `then` what becomes of a reply that no composer showed."""
        self._then_of[writing.key] = then

    def left(self, sent: ComposerDraft | None) -> None:
        """Tell who asked for a reply that it was sent, or that the composer was closed."""
        then, self._then = self._then, None
        if then is not None:
            then(sent)

    def cancel(self, message: Message) -> None:
        """Write to those at work on the open tasks of a message, and on those below, that they are cancelled."""
        mailbox = self._screen.session.mailbox
        names = dict.fromkeys(name for task in open_tasks(mailbox, message) for name in task.recipients)
        writing = ComposerDraft(
            f"cancel:{message.id}",
            ", ".join(map(mailbox.label, names)),
            subject=visible_line(message.subject),
            thread=message.id,
            options=SendOptions(type=CANCEL),
        )
        self.write(writing, message.id)

    def quote(self) -> None:
        """Reply with the message quoted."""
        self._reply(is_quoting=True)

    def reply_all(self) -> None:
        """Reply to all sides of the conversation."""
        self._reply(to_all_sides=True)

    def _reply(self, *, to_all_sides: bool = False, is_quoting: bool = False) -> None:
        screen, session = self._screen, self._screen.session
        message = screen.selected_message("No message selected")
        if message is None:
            return
        writing = reply_draft(session.mailbox, message, to_all_sides=to_all_sides)
        if is_quoting and not session.why_not(Capability.SEND, message.id):
            screen.run_task(self._quote(writing, message.id), group="quote", exclusive=True)
        else:
            self.write(writing, message.id)

    async def _quote(self, writing: ComposerDraft, message_id: str) -> None:
        session, composer = self._screen.session, self._screen.composer
        message = session.mailbox.message(message_id)
        if message is None:
            return
        body = await asyncio.to_thread(session.body, message)
        every = visible(body).splitlines()
        left_out = len(every) - QUOTE_LINES
        lines = [f"> {line}" for line in every[:QUOTE_LINES]]
        if left_out > 0:
            lines.append(f"> [{left_out} more line{'s' * (left_out != 1)}]")
        kept = self._kept(writing.key)
        base = kept or writing
        quoted = "\n".join([*([base.body.rstrip(), ""] if base.body.strip() else []), *lines, "", ""])
        composer.open(base)
        composer.set_body(quoted)
        composer.focus_field()

    def put_away(self, writing: ComposerDraft) -> None:
        """Go back to the mail, or on writing to what is read as a stream: what was in the composer is on its way."""
        screen = self._screen
        if (screen.pane() == "composer" or screen.is_unfocused) and not screen.composer.is_open:
            screen.focus_pane("conversation" if writing.thread or screen.is_narrow else "threads")
        self._held_at = screen.location
        if self._then is not None:
            self._then_of[writing.key], self._then = self._then, None

    def taken_back(self, writing: ComposerDraft, draft: ComposerDraft, *, is_shown: bool) -> None:
        """Go on with a message that is not held any more but a draft; or tell who asked for it that it was not sent."""
        then = self._then_of.pop(writing.key, None)
        if is_shown and self._screen.session.moment is None:
            self.resume(draft.key)
            self._then = then
        elif then is not None:
            then(None)

    def delivered(self, message_id: str, writing: ComposerDraft, more: Sequence[str] = ()) -> None:
        """Say that a message was sent, and `more`, and show it unless the user has gone elsewhere."""
        if writing.metadata:  # it was written elsewhere, which tells of it
            self._then_of.pop(writing.key)(writing)
            return
        self._sent = message_id, self._held_at or self._screen.location
        self.show_sent()
        words = SENT if not writing.action else f"{SENT}, and recorded in the journal as an intervention"
        self._screen.tell(" · ".join([words, *more]), most_seconds=MOST_SECONDS)
        if (then := self._then_of.pop(writing.key, None)) is not None:
            then(writing)

    def show_sent(self) -> None:
        """Show the sent message once it is in the mailbox, unless the user has gone elsewhere."""
        screen = self._screen
        if self._sent is None or self._sent[0] not in screen.session.mailbox:
            return
        (message_id, then), self._sent = self._sent, None
        now = screen.location
        if screen.is_streamed and then.view == now.view:
            if not screen.conversation.move_to(message_id):
                screen.composer.close()
                screen.show_message(message_id)
        elif (then.view, then.root) == (now.view, now.root) and screen.pane() != "composer":
            screen.show_message(message_id)

    def attach(self) -> None:
        """Ask which files to send with the message."""
        from console.screens.prompt import Prompt

        screen, composer = self._screen, self._screen.composer
        reason = ""
        if not composer.is_open:
            reason = "No open draft · c: write, r: reply"
        elif is_in_browser():
            reason = "Can't send files here: in a browser, no file of the server's machine is read"
        elif not screen.session.store.sends_files:
            reason = "Can't send files here: name the path of the file in the text"
        if reason:
            screen.tell(reason)
            return

        def answered(text: str | None) -> None:
            if text is not None:
                composer.attach(tuple(map(_whole_path, shlex.split(text))))

        now = shlex.join(composer.writing.attachments)
        detail = "Paths, separated by blanks; in quotes where they hold blanks. None: send no file"
        screen.ask(Prompt("Send with the message", value=now, detail=detail, check=unquoted), answered)

    def options(self) -> None:
        """Ask how the message is sent: its type, when it expires, how long it is held."""
        from console.screens.prompt import Prompt

        screen, composer = self._screen, self._screen.composer
        if not composer.is_open:
            screen.tell("No open draft · c: write, r: reply")
            return

        def problem(text: str) -> str:
            try:
                return composer.why_no_option(read_options(text))
            except ValueError as error:
                return str(error)

        def answered(text: str | None) -> None:
            if text is not None:
                composer.choose(read_options(text))

        screen.ask(
            Prompt(
                "Options of this message",
                value=options_text(composer.writing.options),
                detail=f"For example {EXAMPLES}. None: as usual",
                candidates=lambda: option_candidates(screen.session.mailbox),
                check=problem,
            ),
            answered,
        )

    def discard(self) -> None:
        """Discard the draft, after asking."""
        from console.screens.ask import Ask

        screen = self._screen
        if not screen.composer.is_open:
            screen.tell("No open draft")
            return

        def answered(is_sure: bool | None) -> None:
            if is_sure:
                writing = screen.composer.writing
                self._drop()
                action = UndoableAction("Draft discarded", lambda: self.write(writing), self._drop)
                screen.session.undo_history.add(action)

        screen.ask(Ask("Discard this draft?", "Undo restores it until you quit.", verb="discard"), answered)

    def _drop(self) -> None:
        self._screen.composer.discard()
        self._screen.focus_pane("threads")

    def edit(self) -> None:
        """Write in $VISUAL or $EDITOR, and take over what was saved there."""
        from console.screens.writing.external_editor import edited

        composer = self._screen.composer
        if not composer.is_open:
            self.compose()
            if not composer.is_open:
                return
        writing = composer.writing
        text = editor_text(writing, with_files=self._screen.session.store.sends_files)
        if (saved := edited(self._screen, text)) is not None:
            written, problem = read_editor_text(saved.rstrip("\n"), writing)
            paths = tuple(map(_whole_path, written.attachments))
            composer.take(replace(written, attachments=paths))
            composer.focus_field()
            if problem:
                self._screen.report(problem, title="Not as it was written")
