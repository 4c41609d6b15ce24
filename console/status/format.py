"""The format language of `signalbox status`: `{unread}` is a number, `{dead:✗ {}}` a text for numbers above 0.

`{{` and `}}` are braces; inside such a text `{}` is its number. A number that may have changed is followed by `~`, one
that is not known is `?`. Imports next to nothing.
"""

from __future__ import annotations

import time

from console.status.numbers import FIELDS, KeptNumbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SENTENCE = "{for_you} for you · {unread} unread · {dead} dead{unreadable: · {} unreadable}"
TMUX = (
    "{for_you:#[fg=cyan,bold]{} for you#[default] }{dead:#[fg=red]{} dead#[default] }{unread:{} new }"
    "{unreadable:#[fg=red]{} unreadable#[default] }"
)
NONE_ABOVE_0, NOT_CERTAIN = 1, 3


class BadFormat(ValueError):
    """A format that can't be read; the text says why."""


def formatted(text: str, number: Callable[[str], str]) -> str:
    """Return a format with its numbers; `number` returns one as it is shown and raises BadFormat for other names."""
    out, at = [], 0
    while at < len(text):
        if text[at : at + 2] in ("{{", "}}"):
            out.append(text[at])
            at += 2
        elif text[at] == "}":
            raise BadFormat("a } has no {")
        elif text[at] == "{":
            end = _end(text, at)
            out.append(_part(text[at + 1 : end], number))
            at = end + 1
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def _end(text: str, start: int) -> int:
    """Return where the part that begins at a brace ends; the braces of `{}` inside it are skipped."""
    at = start + 1
    while at < len(text):
        if text[at] == "{":
            if text[at : at + 2] != "{}":
                raise BadFormat("only {} can stand inside another {…}")
            at += 1
        elif text[at] == "}":
            return at
        at += 1
    raise BadFormat("a { is not closed")


def _part(inside: str, number: Callable[[str], str]) -> str:
    name, colon, words = inside.partition(":")
    shown = number(name)
    if not colon:
        return shown
    return "" if shown == "0" else words.replace("{}", shown)


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
