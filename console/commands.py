"""Every console command, declared once: bindings, footer, help, palette and keymap are made from this."""

from __future__ import annotations

from console.command import LISTS, Command
from mailstore.store import Capability

__all__ = [
    "ANYWHERE",
    "COMMANDS",
    "HELP",
    "PLAN_ARCHIVAL",
    "QUIT",
    "SHEETS",
    "commands_for",
]

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


COMMANDS: tuple[Command, ...] = (
    # Move
    Command("pane.sidebar", "1", "navigation.go_pane(1)", "views", "go to views, channels and agents", "Move"),
    Command("pane.threads", "2", "navigation.go_pane(2)", "threads", "go to the threads", "Move"),
    Command("pane.conversation", "3", "navigation.go_pane(3)", "conversation", "go to the conversation", "Move"),
    Command("pane.composer", "4", "navigation.go_pane(4)", "composer", "go to the composer", "Move"),
    Command(
        "pane.next",
        "tab",
        "navigation.next_pane(1)",
        "next pane",
        "go to the next pane, or field; indent in the text that is written",
        "Move",
        ANYWHERE,
    ),
    Command(
        "pane.previous",
        "shift+tab",
        "navigation.next_pane(-1)",
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
        "navigation.enter",
        "open",
        "open what is under the cursor",
        "Move",
        frozenset({"sidebar", "threads"}),
        1,
    ),
    Command("jump", "enter", "enter", "go there", "go to the message", "Move", SHEETS, 1),
    Command("back", "escape", "back", "back", "go back one step; never quits", "Move", ANYWHERE | SHEETS | LOOKED_AT),
    Command(
        "left", "h,left", "navigation.left", "fold", "fold the replies, to the parent, to the pane at the left", "Move"
    ),
    Command("right", "l,right", "navigation.right", "unfold", "unfold, to the first reply; open", "Move"),
    Command(
        "history.back",
        "left_square_bracket",
        "navigation.history(-1)",
        "back in history",
        "go back to the view before",
        "Move",
    ),
    Command("history.forward", "right_square_bracket", "navigation.history(1)", "forward", "go forward again", "Move"),
    # Read
    Command(
        "read.on", "space", "reading.read_on", "read on", "a page on, and at the end the next unread", "Read", LISTS, 4
    ),
    Command(
        "read.next",
        "n",
        "reading.next_unread(1)",
        "next unread",
        "next unread; next hit while a search is on",
        "Read",
        LISTS,
        5,
    ),
    Command("read.previous", "N", "reading.next_unread(-1)", "previous unread", "previous unread, or hit", "Read"),
    Command(
        "read.scroll-down",
        "J",
        "navigation.scroll_conversation(3)",
        "scroll down",
        "scroll the conversation from the list",
        "Read",
    ),
    Command(
        "read.scroll-up", "K", "navigation.scroll_conversation(-3)", "scroll up", "scroll the conversation back", "Read"
    ),
    Command(
        "mark.seen",
        "u",
        "reading.toggle_seen",
        "seen or not",
        "my own read mark; agents' marks are not touched",
        "Read",
        MAIL,
    ),
    Command(
        "mark.thread",
        "A",
        "reading.thread_seen",
        "thread seen",
        "mark the thread (or all marked) as seen",
        "Read",
        MAIL,
    ),
    Command(
        "mark.all",
        "",
        "reading.all_seen",
        "mark all listed as seen",
        "mark all that the list shows as seen by me",
        "Read",
    ),
    Command(
        "mark.row", "v", "marking.toggle", "mark thread", "mark the thread, or take the mark away", "Read", THREADS
    ),
    Command(
        "mark.range",
        "V",
        "marking.mark_range",
        "mark range",
        "mark from the last marked thread to here",
        "Read",
        THREADS,
    ),
    Command(
        "mark.query", "M", "marking.mark_query", "mark by query", "mark the threads that a query finds", "Read", THREADS
    ),
    Command("undo", "z", "undo", "undo", "take back what I did last", "Read", LISTS | LETTERS | VIEWS),
    Command("redo", "Z", "redo", "redo", "do again what I took back", "Read", LISTS | LETTERS | VIEWS),
    # Look
    Command(
        "search", "slash", "searching.search", "search", "search all mail, as you type", "Look", LISTS, 6, "search"
    ),
    Command("filter", "backslash", "searching.filter", "filter", "filter this list", "Look"),
    Command("only-unread", "U", "reading.only_unread", "only unread", "list only what I have not seen", "Look"),
    Command("zoom", "f", "navigation.zoom", "full screen", "give this pane the whole screen, or take it back", "Look"),
    Command("follow", "F", "navigation.follow", "follow", "follow the newest message of the conversation", "Look"),
    Command(
        "tree", "t", "navigation.toggle_tree", "tree or flat", "replies as a tree, or in the order of time", "Look"
    ),
    Command("details", "i", "pages.details", "details", "recipients, receipts, file and offset", "Look", MAIL, 7),
    Command("record", "o", "pages.record", "record", "the record as it stands in the file", "Look", MAIL),
    Command(
        "view.dead",
        "D",
        "opening.dead_letters",
        "dead letters",
        "review and settle the dead letters",
        "Look",
        LISTS,
        0,
        "dead-letters",
    ),
    Command("copy.text", "y", "clipboard.copy_text", "copy text", "copy the message's text (OSC 52)", "Look", MAIL),
    Command("copy.id", "Y", "clipboard.copy_id", "copy id", "copy the message's id", "Look", MAIL),
    Command(
        "copy.command",
        "C",
        "clipboard.copy_command",
        "copy command",
        "copy the command that shows the thread",
        "Look",
        MAIL,
    ),
    Command(
        "export",
        "x",
        "exporting.export",
        "export",
        "write the thread, or all marked ones, to a file",
        "Look",
        MAIL,
        cli="export",
    ),
    Command("pipe", "vertical_line", "piping.pipe", "pipe", "give the message's text to a command", "Look", MAIL),
    Command("travel", "T", "time_travel.toggle", "time travel", "the mailbox as it stood; back to now", "Past", LISTS),
    Command(
        "travel.back", "comma", "time_travel.step(-1)", "message back", "in the past: a message back", "Past", LISTS
    ),
    Command("travel.on", "full_stop", "time_travel.step(1)", "message on", "in the past: a message on", "Past", LISTS),
    Command(
        "travel.hour-back",
        "left_curly_bracket",
        "time_travel.step_hours(-1)",
        "hour back",
        "an hour back",
        "Past",
        LISTS,
    ),
    Command(
        "travel.hour-on", "right_curly_bracket", "time_travel.step_hours(1)", "hour on", "an hour on", "Past", LISTS
    ),
    Command(
        "travel.to", "at", "time_travel.ask_moment", "to a moment", "look at a moment that is typed", "Past", LISTS
    ),
    # Write
    Command(
        "compose",
        "c",
        "composing.compose",
        "write",
        "write to what is under the cursor",
        "Write",
        LISTS,
        2,
        "send",
        needs=SEND,
    ),
    Command(
        "reply", "r", "composing.reply", "reply", "answer; between agents, to both sides", "Write", MAIL, 3, needs=SEND
    ),
    Command(
        "quote",
        "greater_than_sign",
        "composing.quote",
        "quote",
        "answer with the message quoted",
        "Write",
        MAIL,
        0,
        "",
        SEND,
    ),
    Command(
        "intervene",
        "R",
        "composing.reply_all",
        "step in",
        "answer to all sides of the conversation",
        "Write",
        MAIL,
        8,
        "",
        SEND,
    ),
    Command("editor", "e", "composing.edit", "editor", "write in $EDITOR", "Write"),
    Command("compose.editor", "ctrl+e", "composing.edit", "editor", "go on writing in $EDITOR", "Write", WRITE, 2),
    Command(
        "compose.send", "ctrl+s,ctrl+enter,f5", "composing.send", "send", "send what is written", "Write", WRITE, 1
    ),
    Command(
        "compose.discard", "", "composing.discard", "discard draft", "discard the draft, after asking", "Write", WRITE
    ),
    Command(
        "wake", "W", "waking.wake", "wake", "wake the agent that is looked at, for mail it sleeps on", "Write", LISTS
    ),
    Command(
        "channel.join",
        "",
        "channels.toggle_joined",
        "join or leave channel",
        "let agents see that I read this channel",
        "Write",
    ),
    # Lists over the mail
    Command("views", "w", "opening.saved_views", "saved views", "searches kept under a name", "Look", LISTS),
    Command("views.save", "s", "save_view", "save a search", "save a search under a name", "Views", VIEWS, 2),
    Command("views.delete", "X", "delete_view", "delete", "delete the view, after asking", "Views", VIEWS, 3),
    Command(
        "attention",
        "p",
        "opening.attention",
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
        "opening.archive",
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
        "opening.unreadable",
        "unreadable lines",
        "lines that can't be read: file, number and reason",
        "Look",
        LISTS,
    ),
    Command("archive.now", "y", "archive_now", "archive it", "move what leaves to the archive", "Rows", ARCHIVE, 1),
    Command("journal", "L", "opening.journal", "journal", "what I did as the person in charge", "Look", LISTS),
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
    Command(
        "problems", "", "pages.problems", "problems", "what is wrong in the settings, by file and key", "Program", LISTS
    ),
    Command("quit", "q", "closing.close", "quit", "quit; asks when a draft is open", "Program", LISTS),
)


def commands_for(pane: str) -> list[Command]:
    """Return the commands that work in a pane, in the order of the table."""
    return [command for command in COMMANDS if pane in command.panes]


HELP = next(command for command in COMMANDS if command.id == "help")
QUIT = next(command for command in COMMANDS if command.id == "quit")
PLAN_ARCHIVAL = next(command for command in COMMANDS if command.id == "archive")
