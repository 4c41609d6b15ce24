"""Every command of the console, a row each: keys, footer, help, palette, reference and the user's keymap come from it.

What a command does is said by the screen that has it, under the same id (`actions`).
"""

from __future__ import annotations

from console.commands.command import (
    ANYWHERE,
    ARCHIVE,
    ATTENTION,
    CONVERSATION,
    DEAD_LETTERS,
    DESKS,
    DRAFTS,
    LISTS,
    LOOKED_AT,
    MAIL,
    OVERVIEW,
    ROWS,
    SEND,
    SHEETS,
    SIDEBAR,
    THREADS,
    UNREADABLE,
    VIEWS,
    WRITE,
    Command,
)
from mailstore.store import Capability

COMMANDS: tuple[Command, ...] = (
    Command("pane.sidebar", "1", "views", "Go to views, channels and agents", "Move"),
    Command("pane.threads", "2", "threads", "Go to the threads", "Move"),
    Command("pane.conversation", "3", "conversation", "Go to the conversation", "Move"),
    Command("pane.composer", "4", "composer", "Go to the composer", "Move"),
    Command(
        "pane.next",
        "tab",
        "next pane",
        "Go to the next pane or field; in the text, complete a name or indent",
        "Move",
        ANYWHERE,
    ),
    Command("pane.previous", "shift+tab", "previous pane", "Go to the previous pane or field", "Move", ANYWHERE),
    Command("list.down", "j,down", "down", "Move down", "Move", ROWS),
    Command("list.up", "k,up", "up", "Move up", "Move", ROWS),
    Command("list.first", "g,home", "first", "Go to the first row", "Move", ROWS),
    Command("list.last", "G,end", "last", "Go to the last row", "Move", ROWS),
    Command("list.half-down", "ctrl+d", "half page down", "Move half a page down", "Move", ROWS),
    Command("list.half-up", "ctrl+u", "half page up", "Move half a page up", "Move", ROWS),
    Command("list.page-down", "pagedown", "page down", "Move a page down", "Move", ROWS),
    Command("list.page-up", "pageup", "page up", "Move a page up", "Move", ROWS),
    Command("open", "enter", "open", "Open what is under the cursor", "Move", SIDEBAR | THREADS, footer=1),
    Command("jump", "enter", "go to message", "Go to the message", "Move", SHEETS - DRAFTS, footer=1, when="row"),
    Command(
        "back", "escape", "back", "Go back one step; never quits", "Move", ANYWHERE | SHEETS | LOOKED_AT | OVERVIEW
    ),
    Command("left", "h,left", "fold", "Fold replies; then go to the parent, then to the pane at the left", "Move"),
    Command("right", "l,right", "unfold", "Unfold replies; then go to the first reply; open", "Move"),
    Command("history.back", "left_square_bracket", "back in history", "Go back to the previous view", "Move"),
    Command("history.forward", "right_square_bracket", "forward", "Go forward again", "Move"),
    Command("read.on", "space", "read on", "Scroll a page; at the end, go to the next new message", "Read", footer=6),
    Command(
        "read.next", "n", "next new", "Go to the next new message; during a search, to the next hit", "Read", footer=9
    ),
    Command("read.previous", "N", "previous new", "Go to the previous new message, or hit", "Read"),
    Command("read.scroll-down", "J", "scroll down", "Scroll the conversation down from the list", "Read"),
    Command("read.scroll-up", "K", "scroll up", "Scroll the conversation up from the list", "Read"),
    Command(
        "mark.seen",
        "u",
        "seen / unseen",
        "Mark as seen by you, or unseen: the message, in the list the thread",
        "Read",
        MAIL,
        when="live row",
    ),
    Command(
        "mark.thread",
        "A",
        "thread seen, next",
        "Mark the thread as seen and go to the next; or all marked ones",
        "Read",
        MAIL,
        when="live row",
    ),
    Command(
        "mark.all", "E", "mark all listed as seen", "Mark everything in the list as seen by you", "Read", when="live"
    ),
    Command("mark.row", "v", "mark thread", "Mark the thread, or remove its mark", "Read", THREADS, when="row"),
    Command(
        "mark.range",
        "V",
        "mark range",
        "Mark all threads from the last marked one to this one",
        "Read",
        THREADS,
        when="row",
    ),
    Command("mark.query", "M", "mark by query", "Mark the threads that match a query", "Read", THREADS),
    Command("undo", "z", "undo", "Undo your last action", "Read", LISTS | DESKS | VIEWS | DRAFTS, when="live undo"),
    Command("redo", "Z", "redo", "Redo what you undid last", "Read", LISTS | DESKS | VIEWS | DRAFTS, when="live redo"),
    Command("search", "slash", "search", "Search all mail as you type", "Look", footer=8, cli="search"),
    Command(
        "notes", "S", "agent notes", "List what agents note and remember; during a search, what it finds there", "Look"
    ),
    Command("filter", "backslash", "filter", "Filter this list", "Look"),
    Command("only-unread", "U", "only new", "List only threads with messages new to you", "Look"),
    Command("zoom", "f", "full screen", "Show this pane on the full screen, or restore the columns", "Look"),
    Command("pane.narrower", "left_parenthesis", "narrower", "Make this pane narrower", "Look"),
    Command("pane.wider", "right_parenthesis", "wider", "Make this pane wider", "Look"),
    Command("pane.reset", "equals_sign", "usual sizes", "Give the panes their usual sizes", "Look"),
    Command("follow", "F", "follow", "Follow the newest message of what is selected", "Look"),
    Command(
        "tree",
        "t",
        "tree / flat / stream",
        "Show threads as trees, sorted by time, or a channel or an agent as one stream",
        "Look",
    ),
    Command("timeline", "", "timeline", "Show all mail, or that of a type, as one stream", "Look"),
    Command(
        "view.dead",
        "D",
        "dead letters",
        "Review and settle dead letters",
        "Look",
        LISTS | ATTENTION,
        cli="dead-letters",
    ),
    Command("travel", "T", "time travel", "Show the mailbox as it was; again: back to live", "Past"),
    Command("travel.back", "comma", "message back", "In the past: go to the previous message", "Past", when="past"),
    Command("travel.on", "full_stop", "message forward", "In the past: go to the next message", "Past", when="past"),
    Command("travel.hour-back", "left_curly_bracket", "hour back", "In the past: go back an hour", "Past", when="past"),
    Command(
        "travel.hour-on", "right_curly_bracket", "hour forward", "In the past: go forward an hour", "Past", when="past"
    ),
    Command("travel.to", "at", "go to a time", "Show the mailbox as it was at a given time", "Past"),
    Command(
        "compose",
        "c",
        "write",
        "Write to the channel or agent under the cursor",
        "Write",
        footer=2,
        cli="send",
        needs=SEND,
    ),
    Command(
        "reply", "r", "reply", "Reply; between agents, to both sides", "Write", MAIL, footer=3, needs=SEND, when="row"
    ),
    Command(
        "quote",
        "greater_than_sign",
        "quote",
        "Redirect a dead letter; else reply with the text quoted",
        "Write",
        MAIL,
        needs=SEND,
        when="row",
    ),
    Command(
        "intervene",
        "R",
        "step in",
        "Reply to all sides of the conversation",
        "Write",
        MAIL,
        footer=11,
        needs=SEND,
        when="row",
    ),
    Command("editor", "e", "editor", "Write in $EDITOR", "Write", when="live"),
    Command("compose.editor", "ctrl+e", "editor", "Continue in $EDITOR", "Write", WRITE, footer=2),
    Command("compose.send-now", "", "send held messages now", "Don't wait to send them", "Write"),
    Command("compose.follow", "ctrl+g", "follow newest", "Follow the newest message while writing", "Write", WRITE),
    Command("compose.attach", "ctrl+o", "attach", "Choose files to send with it", "Write", WRITE),
    Command("compose.send", "ctrl+s,ctrl+enter,f5", "send", "Send the message", "Write", WRITE, footer=1),
    Command("compose.discard", "", "discard draft", "Discard the draft, after asking", "Write", WRITE),
    Command("wake", "W", "wake", "Wake the selected agent for its unread mail", "Write", when="live"),
    Command(
        "channel.join",
        "",
        "join or leave channel",
        "Join the channel, or leave it: agents see whether you read it",
        "Write",
        when="live",
    ),
    Command(
        "unfold", "enter", "unfold / fold", "Unfold the receipts and a long text, or fold both", "Look", CONVERSATION
    ),
    Command(
        "open.text",
        "plus",
        "open / cut",
        "Show the whole of a long message, or cut it to a screenful again",
        "Look",
        MAIL,
    ),
    Command("scroll.right", "shift+right", "scroll right", "Scroll wide code and tables to the right", "Look", MAIL),
    Command("scroll.left", "shift+left", "scroll left", "Scroll wide code and tables to the left", "Look", MAIL),
    Command(
        "details",
        "i",
        "details",
        "Show recipients, receipts, ways and files; of an agent, what is known",
        "Look",
        footer=10,
        when="row",
    ),
    Command("agent", "", "about the agent", "Show what is known about the agent", "Look", cli="agents"),
    Command("record", "o", "record", "Show the record as it is in the file", "Look", MAIL, when="row"),
    Command("links", "b", "links", "List the message's links, to open or copy", "Look", MAIL, when="row"),
    Command(
        "acknowledge",
        "I",
        "acknowledge",
        "Acknowledge the message to its sender, where its system knows that",
        "Write",
        MAIL,
        when="live row",
    ),
    Command(
        "files",
        "X",
        "files",
        "List the files attached to the message, to open or save",
        "Look",
        MAIL,
        cli="attachments",
        when="row",
    ),
    Command("copy.text", "y", "copy text", "Copy the message's text (OSC 52)", "Look", MAIL, when="row"),
    Command("copy.id", "Y", "copy id", "Copy the message's id", "Look", MAIL, when="row"),
    Command("copy.command", "C", "copy command", "Copy the command that shows the thread", "Look", MAIL, when="row"),
    Command(
        "export",
        "x",
        "export",
        "Export the thread, or all marked threads, to a file",
        "Look",
        MAIL,
        cli="export",
        when="row",
    ),
    Command("pipe", "vertical_line", "pipe", "Pipe the message's text to a command", "Look", MAIL, when="row"),
    Command("mute", "m", "mute", "Mute or unmute the thread, channel, agent or type", "Read"),
    Command("mute.list", "", "muted", "List what is muted, and unmute it", "Read"),
    Command(
        "star",
        "asterisk",
        "star",
        "Star the message, in the list the thread, or take the star away",
        "Read",
        MAIL,
        when="row",
    ),
    Command("snooze", "s", "snooze", "Snooze the thread until a time or an event", "Read", MAIL, when="live row"),
    Command("views", "w", "saved views", "List saved searches", "Look"),
    Command("views.save", "s", "save a search", "Save a search under a name", "Views", VIEWS, footer=2),
    Command("views.delete", "X", "delete", "Delete the view, after asking", "Views", VIEWS, footer=3, when="row"),
    Command("away", "B", "while you were away", "List what happened while you were away", "Look", cli="away"),
    Command("drafts", "d", "drafts", "List your drafts", "Look"),
    Command(
        "drafts.continue",
        "enter",
        "continue",
        "Continue the draft in its place",
        "Drafts",
        DRAFTS,
        footer=1,
        when="row",
    ),
    Command(
        "drafts.discard", "X", "discard", "Discard the drafts, after asking", "Drafts", DRAFTS, footer=2, when="row"
    ),
    Command(
        "attention",
        "p",
        "attention",
        "List what needs attention, and why",
        "Look",
        LISTS | DEAD_LETTERS,
        footer=5,
        cli="attention",
    ),
    Command("archive", "a", "archive", "Review what can be archived", "Look", cli="archive", needs=Capability.ARCHIVE),
    Command(
        "unreadable", "exclamation_mark", "unreadable lines", "List unreadable lines: file, number and reason", "Look"
    ),
    Command("unreadable.hex", "x", "hex / text", "Show the bytes as hex, or as text", "Rows", UNREADABLE, footer=1),
    Command(
        "archive.now", "y", "archive it", "Move the listed mail to the archive", "Rows", ARCHIVE, footer=1, when="row"
    ),
    Command("journal", "L", "journal", "List your interventions", "Look"),
    Command("rows.mark", "space,v", "mark", "Mark the row, or remove its mark", "Rows", SHEETS, footer=8, when="row"),
    Command("rows.mark-all", "V", "mark all", "Mark all rows, or none", "Rows", SHEETS, footer=9, when="row"),
    Command("rows.scroll-down", "J", "details down", "Scroll the details down", "Rows", SHEETS | LOOKED_AT),
    Command("rows.scroll-up", "K", "details up", "Scroll the details up", "Rows", SHEETS | LOOKED_AT),
    Command("rows.close", "q", "close", "Go back to the mail", "Rows", SHEETS | LOOKED_AT, footer=10),
    Command(
        "desk.reply",
        "r",
        "answer",
        "Reply to the message of the row, and come back",
        "Attention",
        DESKS,
        footer=2,
        when="live row",
    ),
    Command(
        "letters.redirect",
        "greater_than_sign",
        "redirect",
        "Redirect the messages to another recipient",
        "Attention",
        DESKS,
        footer=3,
        when="live row",
    ),
    Command(
        "letters.resend",
        "R",
        "send again",
        "Send the messages again, with a new TTL",
        "Attention",
        DESKS,
        footer=6,
        when="live row",
    ),
    Command(
        "letters.acknowledge",
        "A",
        "acknowledge",
        "Acknowledge the rows: nothing to do; of messages, in the journal",
        "Attention",
        DESKS,
        footer=4,
        when="live row",
    ),
    Command(
        "desk.snooze",
        "s",
        "snooze",
        "Snooze the rows until a time, or until an agent resumes",
        "Attention",
        DESKS,
        footer=5,
        when="live row",
    ),
    Command(
        "desk.wake",
        "W",
        "wake agent",
        "Wake the agent of the row for its unread mail",
        "Attention",
        DESKS,
        footer=5,
        when="live row",
    ),
    Command(
        "overview",
        "O",
        "overview",
        "Show the fleet: its heartbeat, agents, channels, and who writes to whom",
        "Look",
        cli="overview",
    ),
    Command("overview.open", "enter", "list threads", "List the threads behind it", "Overview", OVERVIEW, footer=1),
    Command("overview.section", "tab", "next section", "Go to the next section", "Overview", OVERVIEW, footer=2),
    Command("overview.section-back", "shift+tab", "previous section", "Go back a section", "Overview", OVERVIEW),
    Command("overview.heartbeat", "1", "heartbeat", "Go to the heartbeat", "Overview", OVERVIEW),
    Command("overview.agents", "2", "agents", "Go to the agents", "Overview", OVERVIEW),
    Command("overview.channels", "3", "channels", "Go to the channels", "Overview", OVERVIEW),
    Command("overview.matrix", "4", "who writes to whom", "Go to who writes to whom", "Overview", OVERVIEW),
    Command("overview.left", "h,left", "cell left", "Go to the cell at the left", "Overview", OVERVIEW),
    Command("overview.right", "l,right", "cell right", "Go to the cell at the right", "Overview", OVERVIEW),
    Command("overview.extend-left", "shift+left,H", "extend left", "Extend the range of bars", "Overview", OVERVIEW),
    Command("overview.extend-right", "shift+right,L", "extend right", "Extend the range of bars", "Overview", OVERVIEW),
    Command("overview.range", "v", "range", "Begin a range of bars, or end it", "Overview", OVERVIEW, footer=5),
    Command(
        "overview.shorter",
        "left_square_bracket,minus",
        "shorter span",
        "Show a shorter span of time",
        "Overview",
        OVERVIEW,
        footer=3,
    ),
    Command(
        "overview.longer",
        "right_square_bracket,plus",
        "longer span",
        "Show a longer span of time",
        "Overview",
        OVERVIEW,
        footer=4,
    ),
    Command(
        "overview.travel",
        "T",
        "go to this time",
        "Show the mailbox as it was at the end of the chosen bars; in the past: back to live",
        "Overview",
        OVERVIEW,
        footer=6,
    ),
    Command("overview.close", "q,O", "close overview", "Go back to the mail", "Overview", OVERVIEW, footer=7),
    Command("palette", "colon,ctrl+p", "palette", "Find any command, view, agent or theme", "Program", ROWS, footer=7),
    Command("help", "question_mark,f1", "help", "Show the keys of this pane", "Program", ROWS, cli="keys"),
    Command("problems", "", "problems", "Show problems in the settings, by file and key", "Program"),
    Command("quit", "q", "quit", "Quit; asks if a draft is open", "Program"),
)

BY_ID = {command.id: command for command in COMMANDS}


def commands_for(pane: str) -> list[Command]:
    """Return the commands that work in a pane, in the order of the table."""
    return [command for command in COMMANDS if pane in command.panes]


OPENERS = {
    "attention": "attention",
    "dead-letters": "view.dead",
    "drafts": "drafts",
    "journal": "journal",
    "views": "views",
    "away": "away",
    "archive": "archive",
    "unreadable": "unreadable",
    "overview": "overview",
}
"""The command that opens each list over the mail, by the list's name."""

BASIC = (
    *("list.down", "list.up", "open", "jump", "back", "read.on", "reply", "desk.reply", "letters.redirect"),
    *("letters.acknowledge", "compose", "attention", "search", "palette", "compose.send", "compose.editor", "help"),
)
"""The commands to learn first; a pane has ten of them at most."""
MOST_BASIC = 10


def basic_commands(pane: str) -> list[Command]:
    """Return at most ten commands with which one begins in a pane; what its footer names fills them up."""
    here = commands_for(pane)
    rest = sorted((it for it in here if it.footer and it.id not in BASIC), key=lambda it: it.footer)
    return [*(BY_ID[name] for name in BASIC if BY_ID[name] in here), *rest][:MOST_BASIC]


def action_of(command: str) -> str:
    """Return the action that runs a command on the screen that is shown, as Textual writes it; raises KeyError."""
    return BY_ID[command].screen_action
