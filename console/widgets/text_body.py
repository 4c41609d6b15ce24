"""The field for a message's text."""

from __future__ import annotations

import re
from collections.abc import Callable

from textual import on
from textual.events import Blur, Key, Paste
from textual.widgets import TextArea

from console.render.safe import visible_controls
from console.widgets.offers import Candidate, Completion, Offers, fitting

LINE_KEYS = frozenset({"ctrl+j", "shift+enter", "alt+enter"})
"""Keys that end a line besides Enter: a line feed, typed or pasted, and the Enter of newer terminals."""
SIGNED = re.compile(r"(?<![\w@#/.&])[@#][\w.:*-]+$")
"""A mention or a channel that is being typed."""
PARTIAL = re.compile(r"(?<![\w@#/.-])\w[\w.:-]{2,}$")
"""The beginning of a name: three letters, so that Tab after a short word indents."""


def normalized(text: str) -> str:
    """Return a text whose lines all end in a line feed, with control characters made visible."""
    return visible_controls(text.replace("\r\n", "\n").replace("\r", "\n"))


class TextBody(TextArea):
    """A text area in which all line ends work, and control characters are visible.

    Names are offered after `@` and `#`; Tab accepts one, completes the beginning of a name, or indents. Escape closes
    the list; without one, it and Shift+Tab are left to the screen.
    """

    def __init__(
        self,
        candidates: Callable[[], list[Candidate]],
        offers: Offers,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(id=id, soft_wrap=True, show_line_numbers=False)
        self.set_reactive(TextArea.compact, True)  # as a parameter, it would be styled before it has a place
        self.add_class("-textual-compact", update=False)
        self._candidates = candidates
        self._completion = Completion(self, offers)
        self._untouched = ""
        """The text as it was put here or left by a completion: nothing is offered for it."""

    async def _on_key(self, event: Key) -> None:  # before Textual's own, which follows
        if event.key in LINE_KEYS:
            self._type(event, "\n")
        elif event.key == "tab":
            if self._complete():
                _end(event)
            else:
                self._type(event, " " * self._find_columns_to_next_tab_stop())
        elif self._completion.is_open and event.key in ("up", "down"):
            self._completion.pick(-1 if event.key == "up" else 1)
            _end(event)
        elif self._completion.is_open and event.key == "escape":
            self._completion.hide()
            _end(event)

    def _type(self, event: Key, text: str) -> None:
        _end(event)
        self._replace_via_keyboard(text, *self.selection)

    def _on_paste(self, event: Paste) -> None:  # type: ignore[override]  # before Textual's own, which follows
        event.text = normalized(event.text)

    def put(self, text: str) -> None:
        """Set the text, with the cursor at its end."""
        self._untouched = normalized(text)
        self._completion.hide()
        self.load_text(self._untouched)
        self.move_cursor(self.document.end)

    # Completion

    def _word(self, pattern: re.Pattern[str]) -> str:
        """Return the word before the cursor; empty where it is not of a kind, or where text is selected."""
        row, column = self.cursor_location
        match = pattern.search(self.document.get_line(row)[:column]) if self.selection.is_empty else None
        return match[0] if match else ""

    def _named(self, word: str) -> list[Candidate]:
        """Return the channels or the others that fit a word with a sign, the sign in front of each."""
        names = self._candidates()
        if word.startswith("#"):
            return fitting([name for name in names if name.value.startswith("#")], word)
        others = fitting([name for name in names if not name.value.startswith("#")], word.removeprefix("@"))
        return [Candidate(f"@{name.value}", name.hint) for name in others]

    @on(TextArea.Changed)
    def _offer(self) -> None:
        word = self._word(SIGNED) if self.has_focus and self.text != self._untouched else ""
        candidates = self._named(word) if word else []
        self._completion.show(
            [] if any(name.value == word for name in candidates) else candidates, self.cursor_screen_offset
        )

    @on(TextArea.SelectionChanged)
    def _moved(self) -> None:
        if self._completion.is_open and not self._word(SIGNED) and not self._word(PARTIAL):
            self._completion.hide()

    @on(Offers.Clicked)
    def _clicked(self, event: Offers.Clicked) -> None:
        event.stop()
        if self._completion.pick_line(event.line):
            self._accept()

    def _complete(self) -> bool:
        """Complete the name before the cursor, or offer several; return whether there is one."""
        if self._completion.is_open:
            self._accept()
            return True
        signed = self._word(SIGNED)
        word = signed or self._word(PARTIAL)
        candidates = self._named(word) if signed else self._beginning_with(word)
        if not candidates or any(name.value == word for name in candidates):
            return False
        self._completion.show(candidates, self.cursor_screen_offset)
        if len(candidates) == 1:
            self._accept()
        return True

    def _beginning_with(self, word: str) -> list[Candidate]:
        begun = word.casefold()
        return sorted(
            (name for name in (self._candidates() if word else ()) if name.value.casefold().startswith(begun)),
            key=lambda name: name.value,
        )

    def _accept(self) -> None:
        name = self._completion.picked.value
        word = self._word(SIGNED) or self._word(PARTIAL)
        self._completion.hide()
        row, column = self.cursor_location
        self._replace_via_keyboard(name, (row, column - len(word)), (row, column))
        self._untouched = self.text

    def on_blur(self, event: Blur) -> None:
        """Close the list."""
        self._completion.hide()


def _end(event: Key) -> None:
    """Keep a key from everything else."""
    event.stop()
    event.prevent_default()
