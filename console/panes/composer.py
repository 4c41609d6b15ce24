"""The composer: shows whom a message will reach, and saves the draft at every key."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress

from msgspec.structs import replace
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Label, TextArea
from textual.worker import Worker

from console.panes.address_completion import address_candidates
from console.panes.reach_line import ReachLine, reach_line
from console.panes.titles import as_title
from console.render.safe import visible_line
from console.running.stepping import stepped
from console.running.workers import tell_failure
from console.sending.delivery import MailboxCutOff, Prepared, prepare_writing, recipients_of
from console.session import PAST, Session
from console.state.composer_draft import ComposerDraft, SendOptions, in_files, in_words
from console.state.draft_text import options_text
from console.widgets.completing_input import CompletingInput, LineInput
from console.widgets.line_view import Titled
from console.widgets.offers import Candidate, Offers
from console.widgets.text_body import TextBody
from mailstore.errors import DraftRefused
from mailstore.steps import MailboxReloaded
from mailstore.store import Capability

RECIPIENTS = "Recipients: an agent, a role, a #channel or all"
PLACES = frozenset({"channel", "agent", "role"})
"""Beginnings of the keys of drafts that go to a place: below its stream, they show neither address nor subject."""


class Composer(Titled, Vertical):
    """Recipients with completion, a subject, a text, and a line that says whom the message will reach."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._session = session
        self._writing = self._saved = ComposerDraft("new")
        self._is_dropped = False
        """Whether the draft was sent or discarded: a field may still report a key that was typed before."""
        self._refused = ""
        self._pace: dict[str, float] = {}
        """In how many seconds agents usually read."""
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
            yield LineInput(id="subject", compact=True, placeholder="optional")
        yield TextBody(self._candidates, offers, id="body")
        yield ReachLine(id="reach")

    @property
    def writing(self) -> ComposerDraft:
        """The draft."""
        return self._writing

    @property
    def refused(self) -> str:
        """Return why what stands in the composer was not sent; empty if it wasn't tried."""
        return self._refused

    @property
    def is_in_place(self) -> bool:
        """Say whether the stream that is written to is read above, so that only the text is asked for."""
        return self.has_class("-place")

    @property
    def is_open(self) -> bool:
        return bool(self.display)

    def open(self, writing: ComposerDraft) -> None:
        """Open a draft; the one before is kept."""
        self.flush()
        self._refused = ""
        self._is_dropped = False
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
        self._show(True)
        self.update_reach()
        self._measure()

    @work(group="pace", exclusive=True, exit_on_error=False)
    async def _measure(self) -> None:
        from mailstore.queries.reading import reading_pace

        session = self._session
        with suppress(MailboxReloaded):  # what was measured before stays
            steps: AsyncGenerator[dict[str, float]] = stepped(reading_pace(session.live), session.rest)
            async with aclosing(steps):
                async for pace in steps:
                    self._pace = pace
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
        self._show(False)

    def discard(self) -> None:
        """Delete the draft and close."""
        self._drop_draft()
        self._show(False)

    def _show(self, is_open: bool) -> None:
        self.display = is_open
        self.screen.update_classes({"-writing": is_open}, update=False)
        self.app.stylesheet.update_nodes(self.screen.query("ToastRack"))  # no other: the whole screen takes a frame

    def leave(self) -> None:
        """Drop the draft, which is on its way; close, or begin the next text to the same place."""
        sent = self._writing
        self._drop_draft()
        if self.stays_open:
            self.open(ComposerDraft(sent.key, sent.recipients))
        else:
            self._show(False)

    def _drop_draft(self) -> None:
        self._writing = ComposerDraft(self._writing.key)
        self._is_dropped = True
        self.flush()

    def attach(self, paths: tuple[str, ...]) -> None:
        """Send these files with the message, and no others."""
        self._writing = replace(self._writing, attachments=paths)
        self.flush()
        self.update_reach()

    def choose(self, options: SendOptions) -> None:
        """Send the message with these options, and no others."""
        self._writing = replace(self._writing, options=options)
        self._refused = ""
        self.flush()
        self.update_reach()

    def why_no_option(self, options: SendOptions) -> str:
        """Return why the mailbox of the recipients does not support an option; empty if it does."""
        wanted = {Capability.TYPE: options.type, Capability.TTL: options.ttl_hours}
        return next(filter(None, (self._why_not(capability) for capability, value in wanted.items() if value)), "")

    def take(self, writing: ComposerDraft) -> None:
        """Show a draft as an external editor left it, with the cursor at the end of its text."""
        if writing.recipients != self._writing.recipients:
            self.remove_class("-place")
        for name, value in (("#to", writing.recipients), ("#subject", writing.subject)):
            field = self.query_one(name, Input)
            field.value = field.value if field.disabled else value
        self.attach(writing.attachments)
        self.choose(writing.options)
        self.set_body(writing.body)
        self._typed()  # if a signal came meanwhile, the console ends before the fields' events are handled

    def set_body(self, text: str) -> None:
        """Set the text, with the cursor at its end."""
        self.query_one("#body", TextBody).put(text)

    @on(Input.Changed, "#to")
    @on(Input.Changed, "#subject")
    @on(TextArea.Changed, "#body")
    def _typed(self) -> None:
        if self._is_dropped:
            return
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

    def _why_not(self, capability: Capability) -> str:
        """Return why the mailbox of the recipients does not support something."""
        writing = self._writing
        addresses = recipients_of(self._session, writing)
        return self._session.why_not(capability, writing.thread or next(iter(addresses), ""))

    def prepared(self) -> Prepared | None:
        """Return the message to be sent; None if it is refused, and then show why."""
        if self._session.moment is not None:
            self.refuse(PAST)
            return None
        try:
            return prepare_writing(self._session, self._writing)
        except MailboxCutOff:
            self.refuse("")  # the line says so as long as it lasts
        except DraftRefused as error:
            self.refuse(str(error))
        return None

    def update_reach(self) -> None:
        """Update the line that says whom the message will reach."""
        reach = self.query_one(ReachLine)
        session = self._session
        title = Content("Step in" if self._writing.action else "Reply" if self._writing.thread else "Write")
        number = in_words(self._writing.body)
        keys = "ctrl+s: send · esc: close, keep draft" if self.size.width >= 60 else "ctrl+s: send · esc: close"
        chosen = [text] if (text := options_text(self._writing.options)) else []
        subtitle = as_title(" · ".join([number, *chosen, *in_files(self._writing.attachments), keys]))
        if self._refused:
            self.set_titles(self._titles[0], subtitle)
            reach.show(reach_line(None, self._refused))
            return
        try:
            begun = prepare_writing(session, self._writing, is_begun=True)
        except DraftRefused as error:
            problem = str(error) if recipients_of(session, self._writing) else RECIPIENTS
            self.set_titles(title, subtitle)
            reach.show(reach_line(None, problem))
            return
        recipients = ", ".join(map(session.live.label, begun.draft.recipients))
        self.set_titles(as_title(f"{title.plain} → {recipients}"), subtitle)
        reach.show(reach_line(begun.reach, "", session.clock(), begun.hearing, self._pace))

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

    def refuse(self, reason: str) -> None:
        """Show why nothing was sent, until the next change."""
        self._refused = reason
        self.update_reach()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Report a worker that failed."""
        tell_failure(self.app, event)
