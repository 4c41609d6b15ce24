"""One console command: its keys, its words, and whether it can act; finding commands by keys and words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from mailstore.store import Capability

LISTS = frozenset({"sidebar", "threads", "conversation"})
"""The panes of the main screen in which keys are commands, not text."""

MAIL = frozenset({"threads", "conversation"})
SIDEBAR = frozenset({"sidebar"})
THREADS = frozenset({"threads"})
CONVERSATION = frozenset({"conversation"})
WRITE = frozenset({"composer"})
ANYWHERE = frozenset({"sidebar", "threads", "conversation", "composer"})
JOURNAL = frozenset({"journal"})
DEAD_LETTERS = frozenset({"dead-letters"})
ATTENTION = frozenset({"attention"})
DESKS = DEAD_LETTERS | ATTENTION
VIEWS = frozenset({"views"})
DRAFTS = frozenset({"drafts"})
AWAY = frozenset({"away"})
SHEETS = DESKS | DRAFTS | JOURNAL | VIEWS | AWAY
"""The full-screen lists over the mail, by the names that their keys are listed under."""

ARCHIVE = frozenset({"archive"})
UNREADABLE = frozenset({"unreadable"})
OVERVIEW = frozenset({"overview"})
SETTINGS = frozenset({"settings"})
SEND = Capability.SEND

LOOKED_AT = ARCHIVE | UNREADABLE | SETTINGS
"""The archive plan, unreadable lines and settings: lists in which no row is marked or gone to."""

UNDOABLE = LISTS | DESKS | VIEWS | DRAFTS | SETTINGS | OVERVIEW
"""Where something is done that can be undone."""

ROWS = LISTS | SHEETS | LOOKED_AT | OVERVIEW


class Situation(Struct, frozen=True):
    """What a screen shows at a moment, as far as it decides which commands can act."""

    is_past: bool = False
    has_row: bool = True
    can_undo: bool = True
    can_redo: bool = True
    row: frozenset[str] | None = None
    """What the rows are that a key acts on, of `OF_ROWS`; None where any may be."""


def _is_row(what: str) -> Callable[[Situation], bool]:
    return lambda situation: situation.row is None or what in situation.row


OF_ROWS: dict[str, tuple[Callable[[Situation], bool], str]] = {
    "message": (_is_row("message"), "no message in this row"),
    "asked": (_is_row("asked"), "nothing is asked in this row"),
    "options": (_is_row("options"), "no question in this row"),
    "dead-letter": (_is_row("dead-letter"), "not a dead letter"),
    "agent": (_is_row("agent"), "no agent to wake in this row"),
}
WHEN: dict[str, tuple[Callable[[Situation], bool], str]] = {
    "past": (lambda situation: situation.is_past, "only while time travelling"),
    "live": (lambda situation: not situation.is_past, "not in the past"),
    "row": (lambda situation: situation.has_row, "nothing is selected"),
    "undo": (lambda situation: situation.can_undo, "nothing to undo"),
    "redo": (lambda situation: situation.can_redo, "nothing to redo"),
    **OF_ROWS,
}
"""The conditions under which some commands can act, and what is said where they can't."""


SYNONYMS: dict[str, str] = {
    "agent.status": "status role tags hold stop halt pause release interrupt",
    "attention": "inbox todo triage needs alerts",
    "archive": "clean up tidy",
    "away": "summary digest missed",
    "back": "cancel close leave escape",
    "compose": "new mail message send create",
    "copy.text": "yank clipboard",
    "desk.reply": "respond reply",
    "desk.shift": "shift focus card handover",
    "details": "info properties headers receipts",
    "export": "save download",
    "help": "keys shortcuts bindings",
    "intervene": "join interrupt barge",
    "journal": "log history audit",
    "letters.acknowledge": "dismiss ignore done",
    "letters.redirect": "forward reroute",
    "letters.resend": "retry resend",
    "mark.all": "read catch up",
    "mark.seen": "read unread",
    "mark.thread": "read",
    "mute": "ignore silence hide",
    "overview": "statistics stats dashboard metrics",
    "quit": "exit close leave",
    "quote": "forward redirect",
    "record": "raw source json",
    "transcript": "session turns resume conversation",
    "redraw": "refresh clear",
    "reply": "answer respond",
    "search": "find grep",
    "settings": "config configuration options preferences theme keymap",
    "search.narrow": "group facets only",
    "snooze": "later remind postpone defer",
    "star": "flag favourite bookmark",
    "suspend": "background stop",
    "travel": "past rewind history",
    "views": "saved queries smart folders",
    "why": "cause reason provenance trace",
    "wake": "ping nudge start",
}
"""Other words for commands, by which help and palette find them."""


class Command(Struct, frozen=True):
    """One thing that you can do; what runs for it is the screen's action of the same id.

    `footer` orders what the footer names (0: not there); `cli` is the command line's name for the same; `needs` is
    what the mailbox must be able to do for it, `when` names conditions of `WHEN`, with blanks between them, that the
    screen must fulfil.
    """

    id: str
    keys: str
    label: str
    help: str
    group: str
    panes: frozenset[str] = LISTS
    footer: int = 0
    cli: str = ""
    needs: Capability | None = None
    when: str = ""

    def why_not(self, ask: Callable[[Capability], str], situation: Situation | None = None) -> str:
        """Return why it can't be done here, or in a situation if one is given; empty where it can."""
        if self.needs is not None and (reason := ask(self.needs)):
            return reason
        if situation is None:
            return ""
        conditions = (WHEN[name] for name in self.when.split())
        return next((reason for holds, reason in conditions if not holds(situation)), "")

    def suits(self, situation: Situation) -> bool:
        """Return whether it has to do with rows like these: a footer leaves out what does not."""
        return all(OF_ROWS[name][0](situation) for name in self.when.split() if name in OF_ROWS)

    @property
    def screen_action(self) -> str:
        """The action of every screen that runs this command, as Textual writes it."""
        return f"run({self.id!r})"

    @property
    def name(self) -> str:
        """The name in the palette: the command line's own where there is one."""
        return f"{self.cli} · {self.label}" if self.cli and self.cli != self.label else self.label

    @property
    def synonyms(self) -> str:
        """Other words for it."""
        return SYNONYMS.get(self.id, "")

    def keys_in(self, keymap: Mapping[str, str]) -> str:
        """Return the keys, with commas between them, as a keymap has them."""
        return keymap.get(self.id, self.keys)

    def key_label(self, keymap: Mapping[str, str]) -> str:
        """Return the first key, as a footer names it."""
        return pretty(self.keys_in(keymap).partition(",")[0])

    def keys_label(self, keymap: Mapping[str, str]) -> str:
        """All keys as a help page names them, as the keymap has them."""
        return " ".join(pretty(key) for key in self.keys_in(keymap).split(",") if key) or "palette"


NAMES = {
    "question_mark": "?",
    "slash": "/",
    "backslash": "\\",
    "greater_than_sign": ">",
    "less_than_sign": "<",
    "vertical_line": "|",
    "comma": ",",
    "full_stop": ".",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "at": "@",
    "asterisk": "*",
    "plus": "+",
    "exclamation_mark": "!",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "equals_sign": "=",
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


def has_key(command: Command, query: str, keymap: Mapping[str, str]) -> bool:
    """Say whether a query is one of a command's keys."""
    keys = command.keys_in(keymap).split(",")
    return query.strip() != "" and (query.strip() in keys or query.strip() in map(pretty, keys))


def fits(command: Command, query: str, keymap: Mapping[str, str]) -> bool:
    """Say whether a query is one of a command's keys, or each of its words begins one of the command's."""
    if has_key(command, query, keymap):
        return True
    text = f"{command.help} {command.label} {command.group} {command.cli} {command.id} {command.synonyms}".lower()
    begun = [*text.replace("-", " ").replace(".", " ").split(), *text.split()]
    return all(any(each.startswith(word) for each in begun) for word in query.lower().split())
