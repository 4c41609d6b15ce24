"""What puts the widgets of a screen together, asking each for just the lines that are painted.

Textual's asks every widget in the rectangle around all changes for all its lines, and cuts each into pieces; where the
header, a row and the reading pane change at once, that is the whole screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import cast

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip


class LineCompositor(Compositor):
    """Renders what an update paints, and nothing else: a line is cut into pieces where a widget begins or ends."""

    def render_partial_update(self) -> ChopsUpdate | None:
        """Return what changed since the last update; None if nothing did."""
        shown = self.size.region
        changed = [part for region in self._dirty_regions if (part := region.intersection(shown))]
        self._dirty_regions.clear()
        if not changed:
            return None
        spans = list(self._regions_to_spans(changed))
        missing: dict[int, dict[int, int]] = {}
        for y, left, right in spans:
            within = {first: end for first, end in self._ends(y).items() if first < right and end > left}
            missing.setdefault(y, {}).update(within)
        return ChopsUpdate(self._pieces(missing), spans, [cuts[1:] for cuts in self.cuts])

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        pieces = self._pieces({y: self._ends(y) for y in crop.line_range if is_rendered_line(y)})
        return cast("Sequence[Mapping[int, Strip]]", pieces)  # as Textual's own does

    def _ends(self, y: int) -> dict[int, int]:
        """Return in which column each piece of a line ends, by the column in which it begins."""
        return dict(pairwise(self.cuts[y]))

    def _pieces(self, missing: dict[int, dict[int, int]]) -> list[dict[int, Strip | None]]:
        """Return the pieces of each line by the column in which they begin; those that are missing are rendered."""
        pieces: list[dict[int, Strip | None]] = [dict.fromkeys(cuts[:-1]) for cuts in self.cuts]
        for widget, (region, clip) in self.visible_widgets.items():  # those in front come first
            x, top, width, height = region.intersection(clip)
            wanted = {
                y: columns
                for y, rest in missing.items()
                if top <= y < top + height and (columns := [column for column in rest if x <= column < x + width])
            }
            for first, number in _runs(wanted):
                lines = widget.render_lines(Region(x - region.x, first - region.y, width, number))
                for y, line in enumerate(lines, first):
                    rest = missing[y]
                    for column in wanted[y]:
                        if rest[column] - x <= line.cell_length:
                            pieces[y][column] = line.crop(column - x, rest.pop(column) - x)
        return pieces


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Give the first of those that follow one another, and how many they are, of ascending numbers."""
    first = number = 0
    for each in numbers:
        if number and each == first + number:
            number += 1
            continue
        if number:
            yield first, number
        first, number = each, 1
    if number:
        yield first, number
