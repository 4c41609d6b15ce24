"""An input for queries that completes what is typed."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.events import Blur
from textual.widgets import Input

from console.panes.query_completion import Completing, completing
from console.session import Session
from console.widgets.completing_input import LineInput
from console.widgets.offers import Completion, Offers

ROWS_LEFT = 8
"""Lines of the screen that the list of candidates leaves to everything else."""


class QueryInput(LineInput):
    """Tab completes, and again takes the next candidate; what is typed is never replaced without it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete(1)", "complete", show=False),
        Binding("shift+tab", "complete(-1)", "complete", show=False),
    ]

    def __init__(
        self,
        session: Session,
        offers: Offers,
        *,
        value: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(value, id=id, compact=True)
        self.offers = offers
        self._session = session
        self.completion = Completion(self, offers)
        self._completing = Completing(0)
        self._completed = ""
        """The text as Tab left it."""

    @property
    def is_completed(self) -> bool:
        """Whether candidates are offered for what is typed."""
        return bool(self.value)

    def offer(self) -> None:
        """Offer what can be written here."""
        is_at_end = self.cursor_position == len(self.value)
        if not self.is_completed or self.screen.focused is not self or not is_at_end:
            self.completion.hide()
            return
        self._completing = candidates = completing(self.value, self._session)
        most = max(3, self.screen.size.height - ROWS_LEFT)
        self.completion.show(candidates.candidates, is_picked=False, most=most)

    def action_complete(self, step: int) -> None:
        """Complete what is typed; pressed again, take the next candidate."""
        if not self.completion.is_open:
            raise SkipAction
        self.completion.pick(step)
        self._accept()

    @on(Offers.Clicked)
    def _clicked(self, event: Offers.Clicked) -> None:
        event.stop()
        if self.completion.pick_line(event.line):
            self._accept()
            self.focus()

    def _accept(self) -> None:
        value = self.completion.picked.value
        is_only = len(self._completing.candidates) == 1
        ending = " " if is_only and not value.endswith(":") else ""
        self.put(f"{self.value[: self._completing.start]}{value}{ending}")
        if is_only:
            self._completed = ""
            self.offer()

    def put(self, text: str) -> None:
        """Replace the text by one for which nothing is offered."""
        self.value = self._completed = text
        self.cursor_position = len(text)

    @on(Input.Changed)
    def _offer_anew(self) -> None:
        if self.value != self._completed:
            self._completed = ""
            self.offer()

    def on_blur(self, event: Blur) -> None:
        """Put the list away."""
        self.completion.hide()
