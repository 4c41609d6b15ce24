"""The commands there are: each one's module, its summary, and the group under which the help lists it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COMMANDS", "Command"]


class Command(NamedTuple):
    """A command's module in this package, the one line that tells what it does, and its group.

    The module has `add_arguments(parser)` and `run(args) -> int`, and may have `arrange(words) -> words`,
    which sees the words before they are parsed.
    """

    module: str
    summary: str
    group: str


COMMANDS = {
    "open": Command("open", "open the console on a mailbox", "The console"),
    "demo": Command("demo", "open the console on a throw-away mailbox of simulated agents", "The console"),
    "send": Command("send", "append a message and print its id", "Mail"),
    "read": Command("read", "print an agent's mail", "Mail"),
    "check": Command("check", "print an agent's unread mail for it to read, and record that it was", "Mail"),
    "wait": Command("wait", "block until there is mail for an agent, and print it", "Mail"),
    "watch": Command("watch", "print a line for each thing that happens, until interrupted", "Mail"),
    "history": Command("history", "list all mail in the order in which it was sent", "Mail"),
    "mark-read": Command("mark_read", "record that an agent has read messages", "Mail"),
    "thread": Command("thread", "print the whole thread of a message", "Mail"),
    "timeline": Command("timeline", "tell a message's whole life, moment by moment", "Mail"),
    "search": Command("search", "print the messages that a query finds", "Mail"),
    "views": Command("views", "list the searches that are kept under a name, and what each finds", "Mail"),
    "export": Command("export", "write a thread, a view or what a query finds as a document", "Mail"),
    "verify": Command("verify", "check an export against the mailbox", "Mail"),
    "threads": Command("threads", "list the threads", "Overview"),
    "channels": Command("channels", "list the channels", "Overview"),
    "agents": Command("agents", "list the agents", "Overview"),
    "who": Command("who", "list who is there, and what they are doing", "Overview"),
    "dead-letters": Command("dead_letters", "list, and settle, what will not be read unless somebody acts", "Overview"),
    "attention": Command("attention", "list what needs a look, and why", "Overview"),
    "init": Command("init", "make an empty mailbox and roster", "The mailbox"),
    "archive": Command("archive", "move what is done with to the archive: plans first, and asks", "The mailbox"),
    "convert": Command("convert", "copy a mailbox into another kind, and tell what was not carried", "The mailbox"),
    "roster": Command("roster", "list the roster; register, update, freeze, resume or bury an agent", "The mailbox"),
    "presence": Command("presence", "say what an agent is doing: its heartbeat", "The mailbox"),
    "wake": Command("wake", "run a command when mail comes that wakes a sleeping agent", "The mailbox"),
    "hook": Command("hooks", "give an agent its session-start hook, or take it out again", "The mailbox"),
    "mcp": Command("mcp", "serve an agent its mailbox over the Model Context Protocol", "The mailbox"),
    "doctor": Command("doctor", "read everything and report what is damaged; changes nothing", "The mailbox"),
    "map": Command("map", "guess the mapping by which mail of a shape of its own can be read", "The mailbox"),
    "stores": Command("stores", "list the kinds of mailbox", "What is available"),
    "themes": Command("themes", "list the themes", "What is available"),
    "keys": Command("keys", "list the keys of the console", "What is available"),
}
