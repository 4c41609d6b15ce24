"""What `signalbox status` prints of the numbers that are kept. Imports nothing that costs time."""

from __future__ import annotations

import time

from console.status.format import TMUX, BadFormat, formatted
from console.status.numbers import FIELDS, KeptNumbers

NONE_ABOVE_0, NOT_CERTAIN = 1, 3


def status_text(form: str, kept: KeptNumbers | None, *, is_certain: bool) -> str:
    """Return a format with the numbers; of tmux's segment one sign where none is known. Raises BadFormat."""
    if form is TMUX and (kept is None or not kept.numbers):
        return "mail ? "

    def number(name: str) -> str:
        field, at, label = name.partition("@")
        if field not in FIELDS or (at and field != "unread"):
            raise BadFormat(f'"{name}" is not a number: use {", ".join(FIELDS)} or unread@MAILBOX')
        if kept is None or not kept.numbers:
            return "?"
        count = kept.mailboxes.get(label) if at else kept.numbers[field]
        return "?" if count is None else f"{count}{'' if is_certain else '~'}"

    return formatted(form, number)


def status_json(kept: KeptNumbers | None, *, is_certain: bool) -> str:
    """Return the numbers as JSON: null where they are not known."""
    known = kept if kept is not None and kept.numbers else None
    lines = [f'"{name}": {"null" if known is None else known.numbers[name]}' for name in FIELDS]
    each = known.mailboxes if known is not None else {}
    mailboxes = ", ".join(f"{_quoted(label)}: {number}" for label, number in each.items())
    lines.append(f'"mailboxes": {{{mailboxes}}}')
    lines.append(f'"is_certain": {"true" if is_certain else "false"}')
    lines.append(f'"counted_at": {"null" if known is None else _time(known.counted_at)}')
    return "{\n  " + ",\n  ".join(lines) + "\n}"


def _time(moment: float) -> str:
    return time.strftime('"%Y-%m-%dT%H:%M:%SZ"', time.gmtime(moment))


def _quoted(text: str) -> str:
    from console.render.json_output import json_text

    return json_text(text)


def status_of(any_of: list[str], kept: KeptNumbers | None, *, is_certain: bool) -> int:
    """Return the exit status for `--any`: whether one of some numbers is above 0, and whether that is certain."""
    if not any_of:
        return 0
    if kept is None or not is_certain:
        return NOT_CERTAIN
    return 0 if any(kept.numbers[name] for name in any_of) else NONE_ABOVE_0
