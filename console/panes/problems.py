"""A page of all problems in the settings, by file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from textual.content import Content

from console.panes.facts import FactPage, Row
from console.render.safe import visible_line

PLACE = re.compile(r"(?P<file>[^\n]*?\.toml)(?::(?P<line>\d+))?: (?P<what>.*)", re.DOTALL)


def problem_page(problems: Sequence[str]) -> FactPage:
    """Return the problems by file, with their lines if known."""
    by_file: dict[str, list[Row]] = {}
    for problem in problems:
        place = PLACE.fullmatch(problem)
        line = place["line"] if place is not None else None
        label = f"  line {line}  " if line else "  • "
        what = place["what"] if place is not None else problem
        rows = by_file.setdefault(place["file"] if place is not None else "", [])
        rows.append((Content.styled(label, "$muted"), Content(visible_line(what))))
    rows = []
    for file, told in by_file.items():
        rows += [(Content(), Content.styled(visible_line(file), "bold $accent"))] if file else []
        rows += [*told, (Content(), Content())]
    return FactPage(rows or [(Content(), Content("No problems."))])
