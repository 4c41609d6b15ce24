"""Ask once before messages are settled: the dialog shows the line that will be written, and enter writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.widgets import Input, Static

from console.render.safe import visible_line
from console.render.short_text import shorten_middle
from console.screens.desks.settling import Preview
from console.screens.dialog import Dialog
from console.widgets.completing_input import LineInput
from console.widgets.offers import Candidate

SHOWN, SHOWN_LOW = 5, 2
"""Candidates in sight, and where there is little room."""
LONGEST = 30
"""Cells of a candidate's name."""
LOW = 20
"""Lines of a screen below which everything is closer together."""


class SettleDialog(Dialog[str | None]):
    """Returns the answer: a candidate that was picked with the arrows, or what was typed; None if it was cancelled.

    `candidates` returns those that fit a text, `preview` what an answer would write, or what is wrong with it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave"),
        Binding("down,ctrl+n", "pick(1)", "next"),
        Binding("up,ctrl+p", "pick(-1)", "previous", priority=True),
        Binding("tab", "complete", "complete", priority=True),
    ]

    def __init__(
        self,
        question: str,
        *,
        verb: str,
        preview: Preview,
        value: str = "",
        hint: str = "",
        candidates: Callable[[str], Sequence[Candidate]] | None = None,
    ) -> None:
        super().__init__()
        self._question = question
        self._verb = verb
        self._preview = preview
        self._value = value
        self._hint = hint
        self._candidates = candidates
        self._found: Sequence[Candidate] = ()
        self._picked = -1

    def compose(self) -> ComposeResult:
        with Vertical(id="ask", classes="settle"):
            yield Static(self._question, id="ask-question", markup=False)
            yield LineInput(self._value, placeholder=self._hint, id="ask-input", compact=True)
            yield Static(id="ask-choices", markup=False)
            yield Static(id="ask-detail", markup=False)
            yield Static(id="ask-keys", markup=False)

    def on_mount(self) -> None:
        """Show the candidates for the text that is already there."""
        self._typed()
        self.query_one("#ask-input", Input).focus()

    def on_resize(self, event: Resize) -> None:
        """Stand closer where there is little room."""
        self.set_class(event.size.height < LOW, "-low")
        self._draw()

    @property
    def answer(self) -> str:
        """What Enter would do it with."""
        typed = self.query_one("#ask-input", Input).value.strip()
        return self._found[self._picked].value if 0 <= self._picked < len(self._found) else typed

    @on(Input.Changed)
    def _typed(self) -> None:
        typed = self.query_one("#ask-input", Input).value.strip()
        self._found = self._candidates(typed) if self._candidates is not None else ()
        is_whole = bool(typed) and not self._preview(typed).problem
        self._picked = 0 if self._found and not is_whole else -1
        self._draw()

    def _draw(self) -> None:
        choices, detail = self.query_one("#ask-choices", Static), self.query_one("#ask-detail", Static)
        choices.display = bool(self._found)
        most = SHOWN_LOW if self.has_class("-low") else SHOWN
        first = max(0, self._picked - most + 1)
        lines = []
        for at, candidate in enumerate(self._found[first : first + most], first):
            name = shorten_middle(visible_line(candidate.value), LONGEST)
            pointer, style = ("▸ ", "reverse") if at == self._picked else ("  ", "")
            lines.append(Content.assemble(pointer, (f"{name} ", style), (f" {visible_line(candidate.hint)}", "dim")))
        if len(self._found) > first + most:
            lines.append(Content.styled(f"  … {len(self._found) - first - most} more", "dim"))
        choices.update(Content("\n").join(lines))
        is_low = self.has_class("-low")
        detail.update(self._preview(self.answer).content(is_short=is_low))
        keys = f"Enter: {self._verb} · Esc: cancel"
        hint = "" if is_low or self._candidates is None else "↑↓: choose · Tab: complete · "
        self.query_one("#ask-keys", Static).update(hint + keys)

    def action_pick(self, step: int) -> None:
        """Pick another candidate, round and round."""
        if self._found:
            self._picked = (self._picked + step) % len(self._found)
            self._draw()

    def action_complete(self) -> None:
        """Take the picked candidate into the field."""
        if 0 <= self._picked < len(self._found):
            field = self.query_one("#ask-input", Input)
            field.value = self.answer
            field.cursor_position = len(field.value)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        answer = self.answer
        if not self._preview(answer).problem:
            self.dismiss(answer)
        else:
            self._draw()

    def action_leave(self) -> None:
        """Cancel."""
        self.dismiss(None)
