"""Show what can be archived, what stays and why; `y` archives it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from threading import Event
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.content import Content

from console.panes.facts import FactPage
from console.panes.list_rows import ListRow
from console.render.safe import visible_line
from console.screens.base_screen import Action, bindings
from console.screens.list_screen import ListScreen
from console.session import Session
from console.words.archive_report import plan_lines, report_line, stay_words, writer_lines
from console.words.styles import TextStyles
from mailstore.errors import MailError
from mailstore.rules.archive_plan import ArchivePlan, month_of
from mailstore.store import Capability
from mailstore.writing.archiving import archive, read_plan

PROGRESS_SECONDS = 0.1
LISTED = 200


class Archive(ListScreen):
    """An archive plan: a row for each month's file, and for each reason why mail stays."""

    NAME = "archive"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def __init__(self, session: Session, styles: TextStyles) -> None:
        super().__init__(session, styles)
        self._plan: ArchivePlan | None = None
        self._failure = ""
        self._progress = ""
        self._is_running = False
        self._is_cancelled = Event()

    def on_mount(self) -> None:
        """Start planning."""
        super().on_mount()
        self.set_interval(PROGRESS_SECONDS, self._show_progress)
        self._make_plan()

    @work(group="archive", exclusive=True, exit_on_error=False)
    async def _make_plan(self) -> None:
        """Plan from the files, read again in a thread: the mailbox on the screen belongs to the event loop."""
        session = self.session
        self._plan = None
        self.redraw()
        try:
            self._plan = await asyncio.to_thread(
                read_plan,
                session.url,
                session.now(),
                session.config.archive.keep,
                session.config.retention.rule(),
                user=session.user,
                poll=session.config.poll,
            )
        except MailError as error:
            self._failure = str(error)
        self.redraw()

    # What is shown

    def heading(self) -> str:
        if self._plan is None or not self._plan.leaving:
            return "Archive"
        return f"Archive {self._plan.leaving:,} messages?"

    def subtitle(self, rows: Sequence[ListRow]) -> str:
        if self._progress:
            return f"{self._progress} · Esc: cancel"
        return f"{self._plan.leaving:,} to archive · {self._plan.staying:,} to keep" if self._plan is not None else ""

    def placeholder(self) -> tuple[str, ...]:
        if self._failure:
            return ("Can't plan an archive run.", "", visible_line(self._failure))
        return ("The mailbox is empty.",) if self._plan is not None else ("Planning…",)

    def rows(self) -> Sequence[ListRow]:
        plan, styles, store = self._plan, self.text_styles, self.session.store
        if plan is None:
            return []
        leaving = [
            ListRow(
                key=f"month {month}",
                left=(
                    ("archive ", styles.accent),
                    (visible_line(store.archive_file(month)), styles.text),
                ),
                right=((f"{number:,}", styles.strong),),
            )
            for month, number in plan.months.items()
        ]
        staying = [
            ListRow(
                key=f"stays {stay.reason}",
                left=(("keep    ", styles.muted), (visible_line(stay_words(stay, plan)), styles.text)),
                right=((f"{stay.messages:,}", styles.muted),),
            )
            for stay in plan.stays
        ]
        writing = [
            ListRow(
                key=f"writes {writer.pid} {writer.file}",
                left=(
                    ("open    ", styles.warn),
                    (visible_line(f"{writer.program} (process {writer.pid})"), styles.text),
                ),
                right=((visible_line(writer.file), styles.muted),),
            )
            for writer in plan.writers
        ]
        return [*leaving, *staying, *writing]

    def target(self, key: str) -> str | None:
        return None

    def about(self, key: str) -> FactPage:
        plan = self._plan
        if plan is None:
            return FactPage([])
        kind, _, name = key.partition(" ")
        if kind == "month":
            lines = self._threads_of(plan, name)
        elif kind == "writes":
            lines = writer_lines(plan)
        else:
            stay = next(stay for stay in plan.stays if stay.reason == name)
            lines = [f"{number:>6,}  {who}" for who, number in stay.by] or [stay_words(stay, plan)]
        summary = plan_lines(plan, self.session.store.archive_file)[0]
        reason = self.session.why_not(Capability.ARCHIVE)
        notes = [f"Can't archive here: {visible_line(reason)}", ""] if reason else []
        return FactPage([(Content(), Content(line)) for line in [*notes, summary, "", *map(visible_line, lines)]])

    def _threads_of(self, plan: ArchivePlan, month: str) -> list[str]:
        """Return the subjects of the threads to be archived under a month, at most `LISTED`."""
        mailbox = self.session.mailbox
        threads = []
        for thread in plan.threads:
            messages = [message for key in thread if (message := mailbox.message(key)) is not None]
            number = sum(month_of(message) == month for message in messages)
            if number:
                threads.append(f"{number:>6,}  {messages[0].subject or '(no subject)'}")
            if len(threads) == LISTED:
                return [*threads, f"{'…':>6}"]
        return threads

    # What is done

    def actions(self) -> Mapping[str, Action]:
        return {**super().actions(), "archive.now": self.archive_now}

    def archive_now(self) -> None:
        """Archive what the plan says."""
        if reason := self.session.why_not(Capability.ARCHIVE):
            self.tell(f"Can't archive here: {reason}")
        elif self._is_running:
            self.tell("Archiving is in progress")
        elif self._plan is None or not self._plan.leaving:
            self.tell("Nothing can be archived now")
        else:
            self._is_running = True
            self._is_cancelled.clear()
            self._carry_out(self._plan)

    @work(group="archive", exclusive=True, exit_on_error=False)
    async def _carry_out(self, plan: ArchivePlan) -> None:
        session = self.session
        try:
            report = await asyncio.to_thread(
                archive,
                session.store,
                plan,
                actor=session.user,
                clock=session.now,
                progress=self._note_progress,
                is_cancelled=self._is_cancelled.is_set,
            )
        except MailError as error:
            self.notify(str(error), title="Not archived", severity="error", timeout=15, markup=False)
        else:
            self.tell(visible_line(report_line(plan, report)))
        finally:
            self._is_running = False
            self._progress = ""
        self._make_plan()

    def _note_progress(self, words: str, done: int, total: int) -> None:
        """Record the progress; called by the archiving thread."""
        self._progress = f"{words} {100 * done // max(total, 1)} %"

    def _show_progress(self) -> None:
        if self._is_running:
            self.redraw()

    def back(self) -> None:
        """Cancel an archive run in progress, else go back to the mail."""
        if self._is_running:
            self._is_cancelled.set()
            self.tell("Cancelling: nothing is changed unless it has finished already")
        else:
            super().back()

    def close(self) -> None:
        """Go back to the mail unless an archive run is in progress."""
        self.back()
