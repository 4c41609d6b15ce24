"""An input of one line, and one that completes the last of several names."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from textual import on
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.events import Blur
from textual.geometry import Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widgets import Input

from console.render.safe import visible_line
from console.widgets.offers import Candidate, Completion, Offers, alike, fitting


class LineInput(Input):
    """An input as wide as there is room: Textual's lays the whole screen out at each key."""

    virtual_size = Reactive(Size(0, 0))


class CompletingInput(LineInput):
    """Names separated by commas; Tab or Enter accepts a candidate, Up and Down select one, Escape closes the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "accept_or('next')", show=False),
        Binding("enter", "accept_or('enter')", show=False),
        Binding("down", "pick(1)", show=False),
        Binding("up", "pick(-1)", show=False),
        Binding("escape", "put_away", show=False),
    ]

    def __init__(
        self,
        candidates: Callable[[], list[Candidate]],
        offers: Offers,
        *,
        value: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name
        compact: bool = False,
        is_alone: bool = False,
    ) -> None:
        super().__init__(value, id=id, compact=compact)
        self._is_alone = is_alone
        self._candidates = candidates
        self._completion = Completion(self, offers)
        self._accepted = self._offered_for = ""

    @property
    def _is_asked_for(self) -> bool:
        return self.has_focus and self.value != self._accepted

    @on(Input.Changed)
    def _offer(self) -> None:
        self._offered_for = self.value
        typed = self.value.rpartition(",")[2].strip()
        already = {part.strip() for part in self.value.split(",")[:-1]}
        candidates = fitting(self._candidates(), typed, already) if typed and self._is_asked_for else []
        if [candidate.value for candidate in candidates] == [typed]:
            candidates = []
        elif not candidates and self._is_asked_for:
            candidates = alike(self._candidates(), typed)
        self._completion.show(candidates)

    @on(Offers.Clicked)
    def _clicked(self, event: Offers.Clicked) -> None:
        event.stop()
        if self._completion.pick_line(event.line):
            self._accept()

    def _accept(self) -> None:
        before, comma, _ = self.value.rpartition(",")
        self.value = f"{before}{comma}{' ' if comma else ''}{self._completion.picked.value}"
        self._accepted = self.value
        self.cursor_position = len(self.value)
        self._completion.hide()

    def action_accept_or(self, otherwise: str) -> None:
        """Accept the candidate, else go to the next field; Enter in a single field submits it.

        A candidate that was typed in full already needs no key of its own.
        """
        if self.value != self._offered_for:  # what was typed last is announced later than this key
            self._offer()
        if self._completion.is_open and self._completion.picked.value != self.value.rpartition(",")[2].strip():
            self._accept()
        elif otherwise == "enter" and self._is_alone:
            self.post_message(self.Submitted(self, self.value))
        else:
            self.screen.focus_next()

    def action_pick(self, step: int) -> None:
        """Select another candidate."""
        self._completion.pick(step)

    def action_put_away(self) -> None:
        """Close the list, else do what Escape does here."""
        if not self._completion.is_open:
            raise SkipAction
        self._completion.hide()

    def render_line(self, y: int) -> Strip:
        """Render the value, with control characters made visible."""
        strip = super().render_line(y)
        shown = [Segment(visible_line(text), style, control) for text, style, control in strip]
        return Strip(shown).adjust_cell_length(strip.cell_length)

    def on_blur(self, event: Blur) -> None:
        self._completion.hide()
