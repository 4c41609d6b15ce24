"""An input that completes the last of several names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual import on
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Blur, Click
from textual.message import Message
from textual.strip import Strip
from textual.widgets import Input, Static

from console.render.safe import visible_line
from console.render.short_text import shorten_middle

__all__ = ["Candidate", "CompletingInput", "Offers"]

SHOWN = 6
LONGEST = 30
"""Cells of a name in the list."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value, and a hint about it."""

    value: str
    hint: str = ""


class Offers(Static):
    """The list of candidates below the input."""

    DEFAULT_CSS = """
    Offers {
        overlay: screen; constrain: inside inside; width: 52; height: auto;
        background: $panel; color: $foreground; padding: 0 1; border: round $accent; display: none;
        max-width: 100%; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    class Clicked(Message):
        """A line of the list was clicked."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self) -> None:
        super().__init__()
        self.owner: CompletingInput | None = None

    def on_click(self, event: Click) -> None:
        """Handle a click for the input."""
        offset = event.get_content_offset(self)
        if self.owner is not None and offset is not None:
            self.owner.post_message(self.Clicked(offset.y))


class CompletingInput(Input):
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
        *,
        value: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name
        compact: bool = False,
        is_alone: bool = False,
    ) -> None:
        super().__init__(value, id=id, compact=compact)
        self._candidates = candidates
        self._is_alone = is_alone
        self._found: list[Candidate] = []
        self._picked = 0
        self._accepted = ""

    @property
    def _offers(self) -> Offers:
        return self.screen.query_one(Offers)

    @property
    def _is_asked_for(self) -> bool:
        return self.has_focus and self.value != self._accepted

    def _word(self) -> str:
        return self.value.rpartition(",")[2].strip()

    @on(Input.Changed)
    def _offer(self) -> None:
        typed = self._word()
        word = typed.casefold()
        already = {part.strip() for part in self.value.split(",")[:-1]}
        ranked = []
        for candidate in self._candidates() if word and self._is_asked_for else []:
            value = candidate.value.casefold()
            if value == word:
                rank = 0
            elif value.lstrip("#").startswith(word.lstrip("#")):
                rank = 1
            elif word in value:
                rank = 2
            elif word in candidate.hint.casefold():
                rank = 3
            else:
                continue
            if candidate.value not in already:
                ranked.append((rank, candidate.value, candidate))
        self._found = [candidate for _, _, candidate in sorted(ranked, key=lambda row: row[:2])]
        if [candidate.value for candidate in self._found] == [typed]:
            self._found = []
        self._picked = 0
        self._show()

    def _show(self) -> None:
        offers = self._offers
        offers.display = bool(self._found)
        if not self._found:
            return
        offers.owner = self
        first = self._first
        lines = []
        for at, candidate in enumerate(self._found[first : first + SHOWN], first):
            style = "reverse" if at == self._picked else ""
            name = shorten_middle(visible_line(candidate.value), LONGEST)
            hint = visible_line(candidate.hint)
            lines.append(Content.assemble((f"{name} ", style), (f" {hint}", "dim")))
        if len(self._found) > first + SHOWN:
            lines.append(Content.styled(f"… {len(self._found) - first - SHOWN} more", "dim"))
        offers.update(Content("\n").join(lines))

    @property
    def _first(self) -> int:
        return max(0, self._picked - SHOWN + 1)

    @on(Offers.Clicked)
    def _clicked(self, event: Offers.Clicked) -> None:
        event.stop()
        if event.line < SHOWN and self._first + event.line < len(self._found):
            self._picked = self._first + event.line
            self._accept()

    def _accept(self) -> None:
        before, comma, _ = self.value.rpartition(",")
        self.value = f"{before}{comma}{' ' if comma else ''}{self._found[self._picked].value}"
        self._accepted = self.value
        self.cursor_position = len(self.value)
        self._found = []
        self._show()

    def action_accept_or(self, otherwise: str) -> None:
        """Accept the candidate, else go to the next field; Enter in a single field submits it."""
        if self._found:
            self._accept()
        elif otherwise == "enter" and self._is_alone:
            self.post_message(self.Submitted(self, self.value))
        else:
            self.screen.focus_next()

    def action_pick(self, step: int) -> None:
        """Select another candidate."""
        if self._found:
            self._picked = (self._picked + step) % len(self._found)
            self._show()

    def action_put_away(self) -> None:
        """Close the list, else do what Escape does here."""
        if self._found:
            self._found = []
            self._show()
        else:
            raise SkipAction

    def render_line(self, y: int) -> Strip:
        """Render the value, with control characters made visible."""
        strip = super().render_line(y)
        shown = [Segment(visible_line(text), style, control) for text, style, control in strip]
        return Strip(shown).adjust_cell_length(strip.cell_length)

    def on_blur(self, event: Blur) -> None:
        self._found = []
        self._show()
