"""The composer: shows whom a message will reach, and saves the draft at every key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message as Note
from textual.widgets import Input, Label, Static, TextArea
from textual.worker import Worker

from console.hooks.waking.hearing import Hearing
from console.panes.address_completion import address_candidates
from console.panes.reach_line import reach_line
from console.panes.titles import as_title
from console.render.safe import visible_line
from console.running.failures import tell_failure
from console.sending.message_sending import cut_off_refusal, sendable_message
from console.session import PAST, Session
from console.state.composer_draft import ComposerDraft, in_files, in_words
from console.widgets.completing_input import CompletingInput
from console.widgets.offers import Candidate, Offers
from console.widgets.text_body import TextBody
from mailstore.errors import DraftRefused, MailError
from mailstore.records.draft import Draft
from mailstore.store import Capability
from mailstore.writing.sending import prepare, split_addresses

if TYPE_CHECKING:
    from console.hooks.waking.wake_session import Rung

PLACES = frozenset({"channel", "agent", "role"})
"""Beginnings of the keys of drafts that go to a place: below its stream, they show neither address nor subject."""


class Composer(Vertical):
    """Recipients with completion, a subject, a text, and a line that says whom the message will reach."""

    @dataclass
    class Sent(Note):
        """A message was sent."""

        message_id: str
        writing: ComposerDraft
        hearing: dict[Hearing, list[str]] = field(default_factory=dict)
        """When agents with hooks hear of it."""

    @dataclass
    class SendFailed(Note):
        """Sending failed; nothing was written, and the draft is kept."""

        error: MailError

    @dataclass
    class NotRecorded(Note):
        """A message was sent, but the journal has no record of it."""

        error: MailError

    @dataclass
    class NotWoken(Note):
        """A message was sent, but some of the agents that it calls could not be woken."""

        problems: list[Rung]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._session = session
        self._writing = self._saved = ComposerDraft("new")
        self._refused = ""
        self.is_sending = False
        self.stays_open = False
        """Whether the next text to the same place is begun after one was sent."""

    def compose(self) -> ComposeResult:
        offers = Offers()
        with Horizontal(classes="composer--field"):
            yield Label("To", classes="composer--label")
            yield CompletingInput(self._candidates, offers, id="to", compact=True)
        yield offers
        with Horizontal(classes="composer--field"):
            yield Label("Subject", classes="composer--label")
            yield Input(id="subject", compact=True, placeholder="optional")
        yield TextBody(self._candidates, offers, id="body")
        yield Static(id="reach")

    @property
    def writing(self) -> ComposerDraft:
        """The draft."""
        return self._writing

    @property
    def is_open(self) -> bool:
        return bool(self.display)

    def open(self, writing: ComposerDraft) -> None:
        """Open a draft; the one before is kept."""
        self.flush()
        self._refused = ""
        self._writing = self._saved = writing
        with self.prevent(Input.Changed, TextArea.Changed):
            self.query_one("#to", Input).value = writing.recipients
            subject = self.query_one("#subject", Input)
            reason = self._why_not(Capability.SUBJECT)
            subject.value = "" if reason else writing.subject
            subject.disabled = bool(reason)
            subject.placeholder = visible_line(reason) or "optional"
            self.query_one("#body", TextBody).put(writing.body)
        self.set_class(self.stays_open and writing.key.partition(":")[0] in PLACES, "-place")
        self.display = True
        self.update_reach()

    def focus_field(self) -> None:
        """Focus the first field that must be filled."""
        # at once: keys that are already typed belong here
        self.screen.set_focus(self.query_one("#to" if not self._writing.recipients.strip() else "#body"))

    def next_field(self, step: int) -> bool:
        """Focus the next (1) or previous (-1) field; return whether there is one."""
        every = [self.query_one(name) for name in ("#to", "#subject", "#body")]
        if step < 0:
            self.remove_class("-place")  # from the text, back to address and subject
        fields = [field for field in every if not field.disabled]
        at = next((at for at, field in enumerate(fields) if field.has_focus), -1) + step
        if not 0 <= at < len(fields):
            return False
        self.screen.set_focus(fields[at])
        return True

    @on(Input.Submitted, "#subject")
    def _subject_done(self) -> None:
        self.next_field(1)

    def close(self) -> None:
        """Close the composer; the draft is kept."""
        self.flush()
        self.display = False

    def discard(self) -> None:
        """Delete the draft and close."""
        self._drop_draft()
        self.display = False

    def leave(self) -> None:
        """Drop the draft, which is on its way; close, or begin the next text to the same place."""
        sent = self._writing
        self._drop_draft()
        if self.stays_open:
            self.open(ComposerDraft(sent.key, sent.recipients))
        else:
            self.display = False

    def _drop_draft(self) -> None:
        self._writing = ComposerDraft(self._writing.key)
        self.flush()

    def attach(self, paths: tuple[str, ...]) -> None:
        """Send these files with the message, and no others."""
        self._writing = replace(self._writing, attachments=paths)
        self.flush()
        self.update_reach()

    def set_body(self, text: str) -> None:
        """Set the text, as an external editor left it, with the cursor at its end."""
        self.query_one("#body", TextBody).put(text)

    @on(Input.Changed, "#to")
    @on(Input.Changed, "#subject")
    @on(TextArea.Changed, "#body")
    def _typed(self) -> None:
        self._writing = replace(
            self._writing,
            recipients=self.query_one("#to", Input).value,
            subject=self.query_one("#subject", Input).value,
            body=self.query_one("#body", TextBody).text,
        )
        self._refused = ""
        self.flush()
        self.update_reach()

    def flush(self) -> None:
        """Save the draft if it changed."""
        if self._writing != self._saved:
            self._saved = self._writing
            self._session.personal.set_draft(self._writing)
            self._persist(self._writing.key)

    @work(thread=True, group="drafts", exit_on_error=False)
    def _persist(self, key: str) -> None:
        self._session.personal.save_draft(key)

    def _addresses(self) -> list[str]:
        return [text for text in split_addresses([self._writing.recipients], self._session.mailbox) if text.strip()]

    def _why_not(self, capability: Capability) -> str:
        """Return why the mailbox of the recipients does not support something."""
        writing = self._writing
        return self._session.why_not(capability, writing.thread or next(iter(self._addresses()), ""))

    def draft(self) -> Draft:
        """Return the message to be sent; raises DraftRefused."""
        return sendable_message(self._session, self._writing)

    def is_sendable(self) -> bool:
        """Return whether the message can be sent; if it is refused, show why."""
        if self._session.moment is not None:
            self._refuse(PAST)
            return False
        try:
            self.draft()
        except DraftRefused as error:
            is_cut_off = cut_off_refusal(self._session, self._writing, self._addresses()) is not None
            self._refuse("" if is_cut_off else str(error))  # that line says it as long as it lasts
            return False
        return True

    def update_reach(self) -> None:
        """Update the line that says whom the message will reach."""
        reach = self.query_one("#reach", Static)
        session = self._session
        title = "Step in" if self._writing.action else "Reply" if self._writing.thread else "Write"
        number = in_words(self._writing.body)
        keys = "ctrl+s: send · esc: close, keep draft" if self.size.width >= 60 else "ctrl+s: send · esc: close"
        self.border_subtitle = as_title(" · ".join([number, *in_files(self._writing.attachments), keys]))
        if self._refused:
            reach.update(reach_line(None, self._refused))
            return
        try:
            draft = prepare(
                session.mailbox,
                session.now(),
                sender=session.user,
                recipients=self._addresses(),
                content=self._writing.body.strip() or "-",
            )
        except DraftRefused as error:
            reach.update(
                reach_line(None, str(error) if self._addresses() else "Recipients: an agent, a role, a #channel or all")
            )
            self.border_title = title
            return
        self.border_title = as_title(f"{title} → {', '.join(map(session.mailbox.label, draft.recipients))}")
        if (refusal := cut_off_refusal(session, self._writing, draft.recipients)) is not None:
            reach.update(reach_line(None, str(refusal)))
            return
        found = session.preview(draft)
        reach.update(reach_line(found, "", session.now(), session.hearing(draft, found.reaches)))

    def _candidates(self) -> list[Candidate]:
        return address_candidates(self._session.mailbox)

    def when_typed(self, then: Callable[[], None]) -> None:
        """Call something once the field has taken the keys that were typed before, which a command's key overtakes."""
        field = self.screen.focused
        if field is None or self not in field.ancestors:
            then()
            return

        def take() -> None:
            text = field.text if isinstance(field, TextArea) else field.value if isinstance(field, Input) else None
            known = {"to": self._writing.recipients, "subject": self._writing.subject, "body": self._writing.body}
            if text is not None and text != known.get(field.id or ""):
                self._typed()  # the field says so as well, but later
            then()

        field.call_later(take)

    def send(self) -> None:
        """Send the message; if it is refused, show why."""
        if self.is_sending or not self.is_sendable():
            return
        draft = self.draft()
        self.is_sending = True
        session = self._session
        hearing = session.hearing(draft, session.preview(draft).reaches)
        self._send(draft, self._writing, hearing, session.called(draft))

    @work(thread=True, group="send", exit_on_error=False)
    def _send(
        self, draft: Draft, writing: ComposerDraft, hearing: dict[Hearing, list[str]], called: Sequence[str]
    ) -> None:
        details = {"thread": writing.thread, "recipients": list(draft.recipients)}
        try:
            message, unrecorded = self._session.send(draft, action=writing.action, details=details)
        except MailError as error:
            self.post_message(self.SendFailed(error))
        else:
            self.post_message(self.Sent(message.id, writing, hearing))
            if unrecorded is not None:
                self.post_message(self.NotRecorded(unrecorded))
            if problems := [rung for rung in self._session.ring(message, called) if rung.problem]:
                self.post_message(self.NotWoken(problems))

    @on(Sent)
    def _sent(self, event: Sent) -> None:
        self.is_sending = False
        if self._writing == event.writing:
            self.leave()

    @on(SendFailed)
    def _send_failed(self, event: SendFailed) -> None:
        self.is_sending = False
        self._refuse(str(event.error))
        self.notify(str(event.error), title="Not sent", severity="error", timeout=15, markup=False)

    @on(NotRecorded)
    def _not_recorded(self, event: NotRecorded) -> None:
        self.notify(str(event.error), title="Sent, but not in the journal", severity="warning", markup=False)

    @on(NotWoken)
    def _not_woken(self, event: NotWoken) -> None:
        for rung in event.problems:
            self.notify(f"{rung.agent_id}: {rung.problem}", title="Not woken", severity="warning", markup=False)

    def _refuse(self, reason: str) -> None:
        """Show why nothing was sent, until the next change."""
        self._refused = reason
        self.update_reach()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Report a worker that failed."""
        tell_failure(self.app, event)
