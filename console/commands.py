"""Every console command, declared once: bindings, footer, help, palette and keymap are made from this."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from textual.binding import Binding

from mailstore.store import Capability

__all__ = [
    "ANYWHERE",
    "COMMANDS",
    "HELP",
    "PLAN_ARCHIVAL",
    "QUIT",
    "SHEETS",
    "Command",
    "bindings",
    "commands_for",
    "footer_keys",
    "keys_of",
]

LISTS = frozenset({"sidebar", "threads", "conversation"})
MAIL = frozenset({"threads", "conversation"})
THREADS = frozenset({"threads"})
TALK = frozenset({"conversation"})
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
"""The plan of an archival, and what can't be read: lists too, in which nothing is marked or gone to."""

ROWS = LISTS | SHEETS | LOOKED_AT


class Command(Struct, frozen=True):
    """One thing that the person can do.

    `footer` orders what the footer names (0: not there); `cli` is the command line's name for the same; `needs` is
    what the mailbox must be able to do for it.
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


COMMANDS: tuple[Command, ...] = (
    # Move
    Command("pane.sidebar", "1", "go_pane(1)", "views", "go to views, channels and agents", "Move"),
    Command("pane.threads", "2", "go_pane(2)", "threads", "go to the threads", "Move"),
    Command("pane.conversation", "3", "go_pane(3)", "conversation", "go to the conversation", "Move"),
    Command("pane.composer", "4", "go_pane(4)", "composer", "go to the composer", "Move"),
    Command(
        "pane.next",
        "tab",
        "next_pane(1)",
        "next pane",
        "go to the next pane, or field; indent in the text that is written",
        "Move",
        ANYWHERE,
    ),
    Command(
        "pane.previous",
        "shift+tab",
        "next_pane(-1)",
        "previous pane",
        "go to the pane, or field, before",
        "Move",
        ANYWHERE,
    ),
    Command("list.down", "j,down", "move('cursor_down')", "down", "move down", "Move", ROWS),
    Command("list.up", "k,up", "move('cursor_up')", "up", "move up", "Move", ROWS),
    Command("list.first", "g,home", "move('first')", "first", "go to the first", "Move", ROWS),
    Command("list.last", "G,end", "move('last')", "last", "go to the last", "Move", ROWS),
    Command(
        "list.half-down", "ctrl+d", "move('half_page_down')", "half page down", "move half a page down", "Move", ROWS
    ),
    Command("list.half-up", "ctrl+u", "move('half_page_up')", "half page up", "go half a page up", "Move", ROWS),
    Command("list.page-down", "pagedown", "move('page_down')", "page down", "go a page down", "Move", ROWS),
    Command("list.page-up", "pageup", "move('page_up')", "page up", "go a page up", "Move", ROWS),
    Command(
        "open",
        "enter",
        "enter",
        "open",
        "open what is under the cursor",
        "Move",
        frozenset({"sidebar", "threads"}),
        1,
    ),
    Command("jump", "enter", "enter", "go there", "go to the message", "Move", SHEETS, 1),
    Command("back", "escape", "back", "back", "go back one step; never quits", "Move", ANYWHERE | SHEETS | LOOKED_AT),
    Command("left", "h,left", "left", "fold", "fold the replies, to the parent, to the pane at the left", "Move"),
    Command("right", "l,right", "right", "unfold", "unfold, to the first reply; open", "Move"),
    Command(
        "history.back",
        "left_square_bracket",
        "history(-1)",
        "back in history",
        "go back to the view before",
        "Move",
    ),
    Command("history.forward", "right_square_bracket", "history(1)", "forward", "go forward again", "Move"),
    # Read
    Command(
        "read.on",
        "space",
        "read_on",
        "read on",
        "a page on, and at the end the next unread",
        "Read",
        LISTS,
        4,
    ),
    Command(
        "read.next",
        "n",
        "next_unread(1)",
        "next unread",
        "next unread; next hit while a search is on",
        "Read",
        LISTS,
        5,
    ),
    Command("read.previous", "N", "next_unread(-1)", "previous unread", "previous unread, or hit", "Read"),
    Command(
        "read.scroll-down",
        "J",
        "scroll_conversation(3)",
        "scroll down",
        "scroll the conversation from the list",
        "Read",
    ),
    Command("read.scroll-up", "K", "scroll_conversation(-3)", "scroll up", "scroll the conversation back", "Read"),
    Command(
        "mark.seen",
        "u",
        "toggle_seen",
        "seen or not",
        "my own read mark; agents' marks are not touched",
        "Read",
        MAIL,
    ),
    Command(
        "mark.thread",
        "A",
        "thread_seen",
        "thread seen",
        "mark the thread (or all marked) as seen",
        "Read",
        MAIL,
    ),
    Command(
        "mark.all",
        "",
        "all_seen",
        "mark all listed as seen",
        "mark all that the list shows as seen by me",
        "Read",
    ),
    Command("mark.row", "v", "mark", "mark thread", "mark the thread, or take the mark away", "Read", THREADS),
    Command("mark.range", "V", "mark_range", "mark range", "mark from the last marked thread to here", "Read", THREADS),
    Command("mark.query", "M", "mark_query", "mark by query", "mark the threads that a query finds", "Read", THREADS),
    Command("undo", "z", "undo", "undo", "take back what I did last", "Read", LISTS | LETTERS | VIEWS),
    Command("redo", "Z", "redo", "redo", "do again what I took back", "Read", LISTS | LETTERS | VIEWS),
    # Look
    Command("search", "slash", "search", "search", "search all mail, as you type", "Look", LISTS, 6, "search"),
    Command("filter", "backslash", "filter", "filter", "filter this list", "Look"),
    Command("only-unread", "U", "only_unread", "only unread", "list only what I have not seen", "Look"),
    Command("zoom", "f", "zoom", "full screen", "give this pane the whole screen, or take it back", "Look"),
    Command("follow", "F", "follow", "follow", "follow the newest message of the conversation", "Look"),
    Command("tree", "t", "toggle_tree", "tree or flat", "replies as a tree, or in the order of time", "Look"),
    Command("details", "i", "details", "details", "recipients, receipts, file and offset", "Look", MAIL, 7),
    Command("record", "o", "record", "record", "the record as it stands in the file", "Look", MAIL),
    Command(
        "view.dead",
        "D",
        "sheet('dead-letters')",
        "dead letters",
        "review and settle the dead letters",
        "Look",
        LISTS,
        0,
        "dead-letters",
    ),
    Command("copy.text", "y", "copy('text')", "copy text", "copy the message's text (OSC 52)", "Look", MAIL),
    Command("copy.id", "Y", "copy('id')", "copy id", "copy the message's id", "Look", MAIL),
    Command(
        "export", "x", "export", "export", "write the thread, or all marked ones, to a file", "Look", MAIL, cli="export"
    ),
    Command("pipe", "vertical_line", "pipe", "pipe", "give the message's text to a command", "Look", MAIL),
    Command("travel", "T", "travel", "time travel", "the mailbox as it stood; back to now", "Past", LISTS),
    Command("travel.back", "comma", "travel_step(-1)", "message back", "in the past: a message back", "Past", LISTS),
    Command("travel.on", "full_stop", "travel_step(1)", "message on", "in the past: a message on", "Past", LISTS),
    Command("travel.hour-back", "left_curly_bracket", "travel_hours(-1)", "hour back", "an hour back", "Past", LISTS),
    Command("travel.hour-on", "right_curly_bracket", "travel_hours(1)", "hour on", "an hour on", "Past", LISTS),
    Command("travel.to", "at", "travel_to", "to a moment", "look at a moment that is typed", "Past", LISTS),
    # Write
    Command(
        "compose", "c", "compose", "write", "write to what is under the cursor", "Write", LISTS, 2, "send", needs=SEND
    ),
    Command("reply", "r", "reply", "reply", "answer; between agents, to both sides", "Write", MAIL, 3, needs=SEND),
    Command(
        "quote", "greater_than_sign", "quote", "quote", "answer with the message quoted", "Write", MAIL, 0, "", SEND
    ),
    Command(
        "intervene", "R", "reply_all", "step in", "answer to all sides of the conversation", "Write", MAIL, 8, "", SEND
    ),
    Command("editor", "e", "editor", "editor", "write in $EDITOR", "Write"),
    Command("compose.editor", "ctrl+e", "editor", "editor", "go on writing in $EDITOR", "Write", WRITE, 2),
    Command("compose.send", "ctrl+s,ctrl+enter,f5", "send", "send", "send what is written", "Write", WRITE, 1),
    Command("compose.discard", "", "discard", "discard draft", "discard the draft, after asking", "Write", WRITE),
    Command("wake", "W", "wake", "wake", "wake the agent that is looked at, for mail it sleeps on", "Write", LISTS),
    Command(
        "channel.join",
        "",
        "join",
        "join or leave channel",
        "let agents see that I read this channel",
        "Write",
    ),
    # Lists over the mail
    Command("views", "w", "sheet('views')", "saved views", "searches kept under a name", "Look", LISTS),
    Command("views.save", "s", "save_view", "save a search", "save a search under a name", "Views", VIEWS, 2),
    Command("views.delete", "X", "delete_view", "delete", "delete the view, after asking", "Views", VIEWS, 3),
    Command(
        "attention",
        "p",
        "sheet('attention')",
        "needs attention",
        "what needs a look, and why",
        "Look",
        LISTS,
        0,
        "attention",
    ),
    Command(
        "archive",
        "a",
        "archive",
        "archive",
        "what may leave for the archive; asks",
        "Look",
        LISTS,
        0,
        "archive",
        Capability.ARCHIVE,
    ),
    Command(
        "unreadable",
        "exclamation_mark",
        "unreadable",
        "unreadable lines",
        "lines that can't be read: file, number and reason",
        "Look",
        LISTS,
    ),
    Command("archive.now", "y", "archive_now", "archive it", "move what leaves to the archive", "Rows", ARCHIVE, 1),
    Command("journal", "L", "sheet('journal')", "journal", "what I did as the person in charge", "Look", LISTS),
    Command("rows.mark", "space,v", "mark", "mark", "mark the row, or take the mark away", "Rows", SHEETS, 8),
    Command("rows.mark-all", "V", "mark_all", "mark all", "mark all rows, or none", "Rows", SHEETS, 9),
    Command(
        "rows.scroll-down", "J", "scroll_about(3)", "more about it", "scroll what is told", "Rows", SHEETS | LOOKED_AT
    ),
    Command(
        "rows.scroll-up", "K", "scroll_about(-3)", "back up", "scroll what is told back", "Rows", SHEETS | LOOKED_AT
    ),
    Command("rows.close", "q", "dismiss_sheet", "close", "go back to the mail", "Rows", SHEETS | LOOKED_AT, 10),
    Command("letters.redirect", "r", "redirect", "redirect", "send them on to somebody else", "Letters", LETTERS, 2),
    Command("letters.resend", "s", "resend", "send again", "send them again, with a new TTL", "Letters", LETTERS, 3),
    Command("letters.acknowledge", "A", "acknowledge", "acknowledge", "seen, nothing to do", "Letters", LETTERS, 4),
    # Program
    Command(
        "palette",
        "colon,ctrl+p",
        "app.command_palette",
        "palette",
        "every command, view, agent and theme",
        "Program",
        ROWS,
    ),
    Command("help", "question_mark,f1", "help", "help", "the keys of this pane", "Program", ROWS, 0, "keys"),
    Command("problems", "", "problems", "problems", "what is wrong in the settings, by file and key", "Program", LISTS),
    Command("quit", "q", "close", "quit", "quit; asks when a draft is open", "Program", LISTS),
)


def commands_for(pane: str) -> list[Command]:
    """Return the commands that work in a pane, in the order of the table."""
    return [command for command in COMMANDS if pane in command.panes]


def keys_of(action: str, keymap: Mapping[str, str]) -> frozenset[str]:
    """Return the keys of the commands whose action begins so."""
    chosen = (keymap.get(it.id, it.keys) for it in COMMANDS if it.action.startswith(action))
    return frozenset(key for keys in chosen for key in keys.split(","))


def footer_keys(
    pane: str, keymap: Mapping[str, str], ask: Callable[[Capability], str]
) -> tuple[tuple[str, str, bool], ...]:
    """Return the keys that the footer names for a pane, the most useful first, and whether each can be used here."""
    shown = sorted((command for command in commands_for(pane) if command.footer), key=lambda command: command.footer)
    return tuple((command.key_label(keymap), command.label, not command.why_not(ask)) for command in shown)


def bindings(panes: frozenset[str] = ANYWHERE) -> list[Binding]:
    """Return the bindings, under their ids, of the commands that have keys in any of some panes."""
    return [
        Binding(
            command.keys,
            command.action,
            command.label,
            id=command.id,
            show=False,
            priority=command.panes == WRITE,  # text fields have ctrl+e and others of their own
        )
        for command in COMMANDS
        if command.keys and command.panes & panes
    ]


HELP = next(command for command in COMMANDS if command.id == "help")
QUIT = next(command for command in COMMANDS if command.id == "quit")
PLAN_ARCHIVAL = next(command for command in COMMANDS if command.id == "archive")
