"""Candidates for a name that is being typed, in a list over the screen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.geometry import Offset
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from console.render.safe import visible_line
from console.render.short_text import shorten_middle

SHOWN = 6
LONGEST = 30
"""Cells of a name in the list."""
BORDER = 2
NEAR = 0.75
"""How alike a name is, from 0 to 1, that may be meant by a misspelled one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value, and a hint about it."""

    value: str
    hint: str = ""


class Offers(Static):
    """The list of candidates, below the field or the cursor."""

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
        self.owner: Widget | None = None

    def on_click(self, event: Click) -> None:
        """Handle a click for the field that is completed."""
        offset = event.get_content_offset(self)
        if self.owner is not None and offset is not None:
            self.owner.post_message(self.Clicked(offset.y))

    def place(self, cursor: Offset | None, height: int) -> None:
        """Stand at the cursor, below it where there is room for so many lines; at the field without one."""
        if cursor is not None:
            is_room = cursor.y + 1 + height <= self.screen.size.height
            cursor = Offset(cursor.x, cursor.y + 1 if is_room else max(0, cursor.y - height))
        self.absolute_offset = cursor


def fitting(candidates: Iterable[Candidate], typed: str, already: Collection[str] = ()) -> list[Candidate]:
    """Return the candidates that fit a text, the nearest first, without those that are there already."""
    word = typed.casefold()
    ranked = [
        (rank, candidate.value, candidate)
        for candidate in (candidates if word else ())
        if (rank := _rank(candidate, word)) is not None and candidate.value not in already
    ]
    return [candidate for _, _, candidate in sorted(ranked, key=lambda row: row[:2])]


def alike(candidates: Iterable[Candidate], typed: str) -> list[Candidate]:
    """Return the candidates that are spelled almost as a text is, the likeliest first."""
    named = {candidate.value: candidate for candidate in candidates}
    return [named[name] for name in get_close_matches(typed, named, cutoff=NEAR)]


class Completion:
    """The candidates that are offered for a field, one of which is picked."""

    def __init__(self, field: Widget, offers: Offers) -> None:
        self._field = field
        self._offers = offers
        self._found: Sequence[Candidate] = ()
        self._picked = 0
        self._most = SHOWN
        self._cursor: Offset | None = None

    @property
    def is_open(self) -> bool:
        """Whether candidates are shown."""
        return bool(self._found)

    @property
    def picked(self) -> Candidate:
        """The candidate that is picked, or would be next, while some are shown."""
        return self._found[max(0, self._picked)]

    def show(
        self,
        candidates: Sequence[Candidate],
        cursor: Offset | None = None,
        *,
        is_picked: bool = True,
        most: int | None = None,
    ) -> None:
        """Show candidates, at the cursor (in cells of the screen) or below the field; none closes the list.

        Unless `is_picked`, none of them is picked at first. `most` lines are shown at once.
        """
        self._found, self._picked, self._cursor = candidates, 0 if is_picked else -1, cursor
        self._most = most or SHOWN
        self._draw()

    def hide(self) -> None:
        """Close the list."""
        self.show(())

    def pick(self, step: int) -> None:
        """Pick another candidate, round and round."""
        if self._found:
            self._picked = (max(self._picked, -1 if step > 0 else 0) + step) % len(self._found)
            self._draw()

    def pick_line(self, line: int) -> bool:
        """Pick the candidate on a line of the list; return whether there is one."""
        is_there = line < self._most and self._first + line < len(self._found)
        if is_there:
            self._picked = self._first + line
        return is_there

    @property
    def _first(self) -> int:
        return max(0, self._picked - self._most + 1)

    def _draw(self) -> None:
        offers = self._offers
        offers.display = bool(self._found)
        if not self._found:
            return
        offers.owner = self._field
        first = self._first
        lines = []
        shown = self._found[first : first + self._most]
        names = [shorten_middle(visible_line(candidate.value), LONGEST) for candidate in shown]
        width = max(map(cell_len, names))
        for at, (name, candidate) in enumerate(zip(names, shown, strict=True), first):
            style = "reverse" if at == self._picked else ""
            gap = " " * (width - cell_len(name) + 1)
            lines.append(Content.assemble((f"{name} ", style), (f"{gap}{visible_line(candidate.hint)}", "dim")))
        if (below := len(self._found) - first - self._most) > 0:
            lines.append(Content.styled(f"… {below} more", "dim"))
        offers.place(self._cursor, len(lines) + BORDER)
        offers.update(Content("\n").join(lines))


def _rank(candidate: Candidate, word: str) -> int | None:
    """Return how near a candidate is to a case-folded word, 0 being the nearest; None where it doesn't fit."""
    value = candidate.value.casefold()
    if value == word:
        return 0
    if value.lstrip("#").startswith(word.lstrip("#")):
        return 1
    if word in value:
        return 2
    return 3 if word in candidate.hint.casefold() else None
