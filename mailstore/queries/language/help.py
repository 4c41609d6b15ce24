"""The query language as text: for the help of a command."""

from __future__ import annotations

from textwrap import wrap

from mailstore.queries.language.fields import FIELDS, SYNTAX, TIMES, ValueHelp

WIDTH = 20
LINE = 79


def help_text() -> str:
    """Return what can be written in a query, a line each, in three groups; fixed values below their field."""
    lines = ["query language:", *_lines(SYNTAX), "", "fields:"]
    for field in FIELDS:
        lines += _lines([ValueHelp(f"{field.name}:{field.value}", f"{field.meaning} ({field.example})")])
        lines += _lines([ValueHelp(f"  {value.text}", value.meaning) for value in field.values])
    return "\n".join([*lines, "", "times, in local time:", *_lines(TIMES)])


def _lines(entries: tuple[ValueHelp, ...] | list[ValueHelp]) -> list[str]:
    return [
        line
        for entry in entries
        for line in wrap(
            entry.meaning,
            LINE,
            initial_indent=f"  {entry.text:<{WIDTH}} ",
            subsequent_indent=" " * (WIDTH + 3),
            break_on_hyphens=False,
        )
    ]
