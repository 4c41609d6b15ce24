"""Declare the commands: module, summary, and group in the help."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COMMANDS", "Command"]


class Command(NamedTuple):
    """The module of a command in this package, its one-line summary, and its group in the help.

    The module has `add_arguments(parser)` and `run(args) -> int`, and may have `arrange(words) -> words`,
    which rewrites the arguments before they are parsed.
    """

    module: str
    summary: str
    group: str


COMMANDS = {
    "open": Command("open", "Open the console on a mailbox", "Console"),
    "demo": Command("demo", "Open the console on a temporary mailbox with simulated agents", "Console"),
    "send": Command("send", "Send a message and print its id", "Mail"),
    "read": Command("read", "Show an agent's mail", "Mail"),
    "check": Command("check", "Show an agent's unread mail for it to read, and mark it as read", "Mail"),
    "wait": Command("wait", "Wait until an agent has unread mail, then show it", "Mail"),
    "watch": Command("watch", "Print a line for each event, until interrupted", "Mail"),
    "history": Command("history", "List all messages in the order they were sent", "Mail"),
    "mark-read": Command("mark_read", "Mark messages as read by an agent", "Mail"),
    "thread": Command("thread", "Show the whole thread of a message", "Mail"),
    "timeline": Command("timeline", "Show everything that happened to a message", "Mail"),
    "search": Command("search", "Search messages", "Mail"),
    "views": Command("views", "List saved views and what each finds", "Mail"),
    "export": Command("export", "Export a thread, a view or search results", "Mail"),
    "verify": Command("verify", "Check an export against the mailbox", "Mail"),
    "threads": Command("threads", "List threads", "Overview"),
    "channels": Command("channels", "List channels", "Overview"),
    "agents": Command("agents", "List agents", "Overview"),
    "who": Command("who", "List the agents that are present and what they are doing", "Overview"),
    "dead-letters": Command("dead_letters", "List and settle mail that nobody will read unless you act", "Overview"),
    "attention": Command("attention", "List what needs attention, and why", "Overview"),
    "init": Command("init", "Create an empty mailbox and roster", "Mailbox"),
    "archive": Command("archive", "Archive settled threads (shows a plan, asks first)", "Mailbox"),
    "convert": Command("convert", "Copy a mailbox into another kind and report what could not be copied", "Mailbox"),
    "roster": Command("roster", "List the roster; register, update, freeze, resume or retire an agent", "Mailbox"),
    "presence": Command("presence", "Report what an agent is doing (its heartbeat)", "Mailbox"),
    "wake": Command("wake", "Run a command when mail arrives that should wake a sleeping agent", "Mailbox"),
    "hook": Command("hooks", "Install or remove an agent's session-start hook", "Mailbox"),
    "mcp": Command("mcp", "Serve an agent its mailbox over the Model Context Protocol", "Mailbox"),
    "doctor": Command("doctor", "Check the whole mailbox for damage; changes nothing", "Mailbox"),
    "map": Command("map", "Guess a mapping for a custom mail format", "Mailbox"),
    "stores": Command("stores", "List the kinds of mailbox", "Reference"),
    "themes": Command("themes", "List themes", "Reference"),
    "keys": Command("keys", "List the keys of the console", "Reference"),
}
