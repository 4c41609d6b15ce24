"""List drafts, with those of their recipients that can no longer be reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.strip import Strip

from console.panes.blocks import markdown_styles
from console.panes.facts import FactPage, fact
from console.panes.list_rows import ListRow
from console.panes.reach_line import reach_line
from console.render.markdown import render_markdown
from console.render.safe import visible_line
from console.render.short_text import age, clock, shorten_end
from console.screens.ask import Ask
from console.screens.base_screen import Action, bindings
from console.screens.list_screen import LONGEST_TEXT, ListScreen
from console.screens.writing.draft_keeping import DraftKeeping
from console.sending.delivery import prepare_writing, recipients_of
from console.session import Session
from console.state.composer_draft import ComposerDraft, in_words
from console.words.styles import TextStyles
from mailstore.errors import DraftRefused
from mailstore.writing.sending import Preview

LONGEST_START = 200
"""Characters of a text's beginning in its row."""


class Drafts(ListScreen):
    """Drafts, the one changed last first; enter returns the key of the one to continue."""

    NAME = "drafts"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def __init__(self, session: Session, styles: TextStyles, keeping: DraftKeeping) -> None:
        super().__init__(session, styles)
        self._keeping = keeping

    def heading(self) -> str:
        return "Drafts"

    def placeholder(self) -> tuple[str, ...]:
        return ("No drafts.", "", "What you write is kept here until it is sent or discarded.")

    def rows(self) -> Sequence[ListRow]:
        now = self.session.now()
        return [self._row(draft, now) for draft in self.session.personal.drafts]

    def _row(self, draft: ComposerDraft, now: float) -> ListRow:
        styles = self.text_styles
        _, problem = self._reach(draft)
        start = " ".join(draft.body[:LONGEST_START].split())
        about = " · ".join(filter(None, (draft.subject.strip(), start)))
        return ListRow(
            key=draft.key,
            left=((visible_line(draft.recipients.strip() or "no recipient"), styles.strong),),
            right=((f"{in_words(draft.body)}  ", styles.muted), (f"{age(now - draft.updated):>4}", styles.muted)),
            left_below=((f"! {visible_line(problem)}  ", styles.bad),) * bool(problem)
            + ((visible_line(about), styles.text),),
        )

    def _reach(self, draft: ComposerDraft) -> tuple[Preview | None, str]:
        """Return whom a draft would reach, if it could be sent, and what is wrong with its recipients."""
        session = self.session
        try:
            preview = prepare_writing(session, draft, is_begun=True).reach
        except DraftRefused as error:
            return None, str(error) if recipients_of(session, draft) else ""
        lost = [f"{name} has ended" for name in preview.dead] + [f"no agent named {name}" for name in preview.unknown]
        return preview, ", ".join(lost)

    def target(self, key: str) -> str | None:
        return None

    def about(self, key: str) -> FactPage:
        draft = self.session.personal.draft(key)
        if draft is None:
            return FactPage([])
        preview, problem = self._reach(draft)
        now = self.session.now()
        facts = [
            fact("to", draft.recipients or "–"),
            fact("subject", draft.subject or "–"),
            fact("in", self._place(draft)),
            fact("changed", clock(draft.updated, now)),
        ]
        if preview is not None or problem:
            facts.append(fact("reach", reach_line(preview, problem, now)))
        return FactPage(facts, [Strip([]), *self._text_of(draft)])

    def _place(self, draft: ComposerDraft) -> str:
        """Return what a draft answers, or that it begins a thread."""
        if draft.thread is None:
            return "a new thread"
        root = self.session.mailbox.message(self.session.mailbox.root_of(draft.thread))
        return "a thread that is gone" if root is None else root.subject or "a thread without a subject"

    def _text_of(self, draft: ComposerDraft) -> list[Strip]:
        width = self._about_width
        if width <= 0:
            return []
        text = shorten_end(draft.body[:LONGEST_TEXT], LONGEST_TEXT)
        portions = render_markdown(text, width, markdown_styles(self.text_styles))
        return [portion[at] for portion in portions for at in range(len(portion))]

    def actions(self) -> Mapping[str, Action]:
        return {**super().actions(), "drafts.continue": self.enter, "drafts.discard": self.discard_drafts}

    def enter(self) -> None:
        """Continue the draft under the cursor in its place."""
        key = self.listing.cursor_key
        if key is None:
            self.tell("No draft selected")
        else:
            self.dismiss(key)

    def discard_drafts(self) -> None:
        """Discard the drafts that are marked, or the one under the cursor, after asking."""
        drafts = [draft for key in self.chosen() if (draft := self.session.personal.draft(key)) is not None]
        if not drafts:
            self.tell("No draft selected")
            return
        number = "this draft" if len(drafts) == 1 else f"{len(drafts)} drafts"

        def answered(is_sure: bool | None) -> None:
            if is_sure:
                self.marked.clear()
                self._keeping.discard(drafts)
                self.tell("Discarded")

        self.ask(Ask(f"Discard {number}?", "Undo restores it until you quit.", verb="discard"), answered)
