"""One console command: its keys, its words, and the action that it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from mailstore.store import Capability

__all__ = [
    "ANYWHERE",
    "ARCHIVE",
    "JOURNAL",
    "LETTERS",
    "LISTS",
    "LOOKED_AT",
    "MAIL",
    "ROWS",
    "SEND",
    "SHEETS",
    "THREADS",
    "UNREADABLE",
    "VIEWS",
    "WRITE",
    "Command",
]

LISTS = frozenset({"sidebar", "threads", "conversation"})
"""The panes of the main screen in which keys are commands, not text."""

MAIL = frozenset({"threads", "conversation"})
THREADS = frozenset({"threads"})
WRITE = frozenset({"composer"})
ANYWHERE = frozenset({"sidebar", "threads", "conversation", "composer"})
JOURNAL = frozenset({"journal"})
LETTERS = frozenset({"dead-letters"})
VIEWS = frozenset({"views"})
SHEETS = JOURNAL | LETTERS | VIEWS | frozenset({"attention"})
"""The full-screen lists over the mail, by the names that their keys are listed under."""

ARCHIVE = frozenset({"archive"})
UNREADABLE = frozenset({"unreadable"})
SEND = Capability.SEND

LOOKED_AT = ARCHIVE | UNREADABLE
"""The archive plan and unreadable lines: lists in which no row is marked or gone to."""

ROWS = LISTS | SHEETS | LOOKED_AT


class Command(Struct, frozen=True):
    """One thing that the person can do.

    `action` names a part of the main screen and its method, with arguments (`reading.next_unread(1)`); without a part
    it is an action of whichever screen is shown. `footer` orders what the footer names (0: not there); `cli` is the
    command line's name for the same; `needs` is what the mailbox must be able to do for it.
    """

    id: str
    keys: str
    action: str
    label: str
    help: str
    group: str
    panes: frozenset[str] = LISTS
    footer: int = 0
    cli: str = ""
    needs: Capability | None = None

    def why_not(self, ask: Callable[[Capability], str]) -> str:
        """Return why it can't be done here; empty where it can."""
        return ask(self.needs) if self.needs is not None else ""

    @property
    def screen_action(self) -> str:
        """The action as Textual runs it: `reading.next_unread(1)` becomes `part('reading', 'next_unread', 1)`."""
        name, _, arguments = self.action.partition("(")
        part, dot, method = name.partition(".")
        if not dot or part == "app":
            return self.action
        given = arguments.removesuffix(")")
        return f"part({part!r}, {method!r}{', ' if given else ''}{given})"

    @property
    def name(self) -> str:
        """The name in the palette: the command line's own where there is one."""
        return f"{self.cli} · {self.label}" if self.cli and self.cli != self.label else self.label

    def key_label(self, keymap: Mapping[str, str]) -> str:
        """Return the first key, as a footer names it."""
        return pretty(keymap.get(self.id, self.keys).partition(",")[0])

    def keys_label(self, keymap: Mapping[str, str]) -> str:
        """All keys as a help page names them, as the keymap has them."""
        keys = keymap.get(self.id, self.keys)
        return " ".join(pretty(key) for key in keys.split(",") if key) or "palette"


NAMES = {
    "question_mark": "?",
    "slash": "/",
    "backslash": "\\",
    "greater_than_sign": ">",
    "vertical_line": "|",
    "comma": ",",
    "full_stop": ".",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "at": "@",
    "exclamation_mark": "!",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "colon": ":",
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
}


def pretty(key: str) -> str:
    """Return a key as people write it."""
    modifiers, plus, last = key.rpartition("+")
    return f"{modifiers}{plus}{NAMES.get(last, last)}"
