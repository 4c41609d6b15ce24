"""Declare the commands of the shell: module, summary, and group in the help. `own_commands` adds those of kinds."""

from __future__ import annotations

from typing import NamedTuple


class CliCommand(NamedTuple):
    """The module of a command in `console.cli`, its one-line summary, and its group in the help.

    The module has `add_arguments(parser)` and `run(args) -> int`, and may have `arrange(words) -> words`,
    which rewrites the arguments before they are parsed.
    """

    module: str
    summary: str
    group: str


COMMANDS = {
    "open": CliCommand("open", "Open the console on a mailbox", "Console"),
    "demo": CliCommand("demo", "Open the console on a temporary mailbox with simulated agents", "Console"),
    "serve": CliCommand("serve", "Open the console in a browser, on this machine or with TLS", "Console"),
    "send": CliCommand("send", "Send a message and print its id", "Mail"),
    "read": CliCommand("read", "Show an agent's mail", "Mail"),
    "check": CliCommand("check", "Show an agent's unread mail for it to read, and mark it as read", "Mail"),
    "wait": CliCommand("wait", "Wait until an agent has unread mail, then show it", "Mail"),
    "watch": CliCommand("watch", "Print a line for each event, until interrupted", "Mail"),
    "history": CliCommand("history", "List all messages in the order they were sent", "Mail"),
    "mark-read": CliCommand("mark_read", "Mark messages as read by an agent", "Mail"),
    "thread": CliCommand("thread", "Show the whole thread of a message", "Mail"),
    "attachments": CliCommand("attachments", "List the files attached to a message, or save them", "Mail"),
    "timeline": CliCommand("timeline", "Show everything that happened to a message", "Mail"),
    "why": CliCommand("why", "Show the messages and reads that led to a message", "Mail"),
    "search": CliCommand("search", "Search messages", "Mail"),
    "views": CliCommand("views", "List saved views and what each finds", "Mail"),
    "export": CliCommand("export", "Export a thread, a view or search results", "Mail"),
    "verify": CliCommand("verify", "Check an export against the mailbox", "Mail"),
    "status": CliCommand("status", "Print the numbers of a mailbox, for status bars and scripts", "Overview"),
    "threads": CliCommand("threads", "List threads", "Overview"),
    "channels": CliCommand("channels", "List channels", "Overview"),
    "agents": CliCommand("agents", "List agents", "Overview"),
    "who": CliCommand("who", "List the agents that are present and what they are doing", "Overview"),
    "dead-letters": CliCommand("dead_letters", "List and settle mail that will stay unread unless you act", "Overview"),
    "attention": CliCommand("attention", "List what needs attention, and why", "Overview"),
    "overview": CliCommand("overview", "Show who writes, reads and answers, how fast, and when", "Overview"),
    "away": CliCommand("away", "Show what happened while you were away", "Overview"),
    "init": CliCommand("init", "Create an empty mailbox and roster", "Mailbox"),
    "archive": CliCommand("archive", "Archive settled threads (shows a plan, asks first)", "Mailbox"),
    "convert": CliCommand("convert", "Copy a mailbox into another kind, and report what is lost", "Mailbox"),
    "mirror": CliCommand("mirror", "Keep two mailboxes the same while both are used", "Mailbox"),
    "roster": CliCommand("roster", "List the roster; register, update, freeze, resume, retire agents", "Mailbox"),
    "bye": CliCommand("bye", "End an agent's session, after a last look at its mail", "Mailbox"),
    "checkpoint": CliCommand("checkpoint", "Show what an agent has not finished, and send what waits", "Mailbox"),
    "presence": CliCommand("presence", "Report what an agent is doing (its heartbeat)", "Mailbox"),
    "wake": CliCommand("wake", "Run a command when mail comes that should wake a sleeping agent", "Mailbox"),
    "hold": CliCommand("hold", "Keep agents' tools from running until they are released", "Mailbox"),
    "stop": CliCommand("hold", "Refuse agents' tools, and end their turn where that can be done", "Mailbox"),
    "release": CliCommand("hold", "Let agents that were held or stopped go on", "Mailbox"),
    "hook": CliCommand("hooks", "Install, remove or check hooks that tell agents of their mail", "Mailbox"),
    "mcp": CliCommand("mcp", "Serve an agent its mailbox over the Model Context Protocol", "Mailbox"),
    "doctor": CliCommand("doctor", "Check the whole mailbox for damage; changes nothing", "Mailbox"),
    "service": CliCommand("service", "Print a systemd unit that runs a command in the background", "Mailbox"),
    "explain": CliCommand("explain", "Say why an error comes and what to do about it", "Reference"),
    "stores": CliCommand("stores", "List the kinds of mailbox", "Reference"),
    "themes": CliCommand("themes", "List themes", "Reference"),
    "config": CliCommand("config", "Find, check, edit and show the settings", "Reference"),
    "completion": CliCommand("completion", "Print the script that completes commands in a shell", "Reference"),
    "keys": CliCommand("keys", "List the keys of the console", "Reference"),
    "schema": CliCommand("schema", "Print a JSON Schema of what a command prints with --json", "Reference"),
}
