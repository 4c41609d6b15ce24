"""The format language of `signalbox status`: `{unread}` is a number, `{dead:✗ {}}` a text for numbers above 0.

`{{` and `}}` are braces; inside such a text `{}` is its number. A number that may have changed is followed by `~`, one
that is not known is `?`. Imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SENTENCE = "{for_you} for you · {unread} unread · {dead} dead{unreadable: · {} unreadable}"
TMUX = (
    "{for_you:#[fg=cyan,bold]{} for you#[default] }{dead:#[fg=red]{} dead#[default] }{unread:{} new }"
    "{unreadable:#[fg=red]{} unreadable#[default] }"
)


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
