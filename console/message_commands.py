"""Declare the commands for the message at the cursor: showing more of it, copying it, passing it on."""

from __future__ import annotations

from console.command import MAIL, Command

__all__ = ["MESSAGE_COMMANDS"]

MESSAGE_COMMANDS: tuple[Command, ...] = (
    Command(
        "unfold",
        "enter",
        "navigation.enter",
        "unfold / fold",
        "Unfold the receipts and a long text, or fold both",
        "Look",
        frozenset({"conversation"}),
    ),
    Command(
        "open.text",
        "plus",
        "navigation.toggle_text",
        "open / cut",
        "Show the whole of a long message, or cut it to a screenful again",
        "Look",
        MAIL,
    ),
    Command(
        "scroll.right",
        "shift+right",
        "navigation.scroll_sideways(1)",
        "scroll right",
        "Scroll wide code and tables to the right",
        "Look",
        MAIL,
    ),
    Command(
        "scroll.left",
        "shift+left",
        "navigation.scroll_sideways(-1)",
        "scroll left",
        "Scroll wide code and tables to the left",
        "Look",
        MAIL,
    ),
    Command(
        "details",
        "i",
        "pages.details",
        "details",
        "Show recipients, receipts, file and offset",
        "Look",
        MAIL,
        7,
        when="row",
    ),
    Command("record", "o", "pages.record", "record", "Show the record as it is in the file", "Look", MAIL, when="row"),
    Command("links", "b", "links.show", "links", "List the message's links, to open or copy", "Look", MAIL, when="row"),
    Command(
        "acknowledge",
        "I",
        "acknowledging.acknowledge",
        "acknowledge",
        "Acknowledge the message to its sender, where its system knows that",
        "Write",
        MAIL,
        when="live row",
    ),
    Command(
        "copy.text",
        "y",
        "clipboard.copy_text",
        "copy text",
        "Copy the message's text (OSC 52)",
        "Look",
        MAIL,
        when="row",
    ),
    Command("copy.id", "Y", "clipboard.copy_id", "copy id", "Copy the message's id", "Look", MAIL, when="row"),
    Command(
        "copy.command",
        "C",
        "clipboard.copy_command",
        "copy command",
        "Copy the command that shows the thread",
        "Look",
        MAIL,
        when="row",
    ),
    Command(
        "export",
        "x",
        "exporting.export",
        "export",
        "Export the thread, or all marked threads, to a file",
        "Look",
        MAIL,
        cli="export",
        when="row",
    ),
    Command(
        "pipe", "vertical_line", "piping.pipe", "pipe", "Pipe the message's text to a command", "Look", MAIL, when="row"
    ),
)
