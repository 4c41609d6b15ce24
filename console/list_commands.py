"""Declare the commands that open list screens, and those of the list screens."""

from __future__ import annotations

from console.command import ARCHIVE, DESKS, DRAFTS, LISTS, LOOKED_AT, SHEETS, UNREADABLE, VIEWS, Command
from mailstore.store import Capability

__all__ = ["LIST_COMMANDS"]

LIST_COMMANDS: tuple[Command, ...] = (
    # Lists over the mail
    Command("views", "w", "opening.views", "saved views", "List saved searches", "Look", LISTS),
    Command("views.save", "s", "save_view", "save a search", "Save a search under a name", "Views", VIEWS, 2),
    Command(
        "views.delete", "X", "delete_view", "delete", "Delete the view, after asking", "Views", VIEWS, 3, when="row"
    ),
    Command(
        "away", "B", "opening.away", "while you were away", "List what happened while you were away", "Look", LISTS
    ),
    Command("drafts", "d", "opening.drafts", "drafts", "List your drafts", "Look", LISTS),
    Command(
        "drafts.continue",
        "enter",
        "enter",
        "continue",
        "Continue the draft in its place",
        "Drafts",
        DRAFTS,
        1,
        when="row",
    ),
    Command(
        "drafts.discard",
        "X",
        "discard_draft",
        "discard",
        "Discard the drafts, after asking",
        "Drafts",
        DRAFTS,
        2,
        when="row",
    ),
    Command(
        "attention",
        "p",
        "opening.attention",
        "needs attention",
        "List what needs attention, and why",
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
        "Review what can be archived",
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
        "List unreadable lines: file, number and reason",
        "Look",
        LISTS,
    ),
    Command(
        "unreadable.hex", "x", "toggle_hex", "hex / text", "Show the bytes as hex, or as text", "Rows", UNREADABLE, 1
    ),
    Command(
        "archive.now",
        "y",
        "archive_now",
        "archive it",
        "Move the listed mail to the archive",
        "Rows",
        ARCHIVE,
        1,
        when="row",
    ),
    Command("journal", "L", "opening.journal", "journal", "List your interventions", "Look", LISTS),
    Command("rows.mark", "space,v", "mark", "mark", "Mark the row, or remove its mark", "Rows", SHEETS, 8, when="row"),
    Command("rows.mark-all", "V", "mark_all", "mark all", "Mark all rows, or none", "Rows", SHEETS, 9, when="row"),
    Command(
        "rows.scroll-down",
        "J",
        "scroll_about(3)",
        "details down",
        "Scroll the details down",
        "Rows",
        SHEETS | LOOKED_AT,
    ),
    Command(
        "rows.scroll-up", "K", "scroll_about(-3)", "details up", "Scroll the details up", "Rows", SHEETS | LOOKED_AT
    ),
    Command("rows.close", "q", "dismiss_sheet", "close", "Go back to the mail", "Rows", SHEETS | LOOKED_AT, 10),
    # What needs attention, and dead letters
    Command(
        "desk.reply",
        "r",
        "reply",
        "answer",
        "Reply to the message of the row, and come back",
        "Desk",
        DESKS,
        2,
        when="live row",
    ),
    Command(
        "letters.redirect",
        "greater_than_sign",
        "redirect",
        "redirect",
        "Redirect the letters to another recipient",
        "Desk",
        DESKS,
        3,
        when="live row",
    ),
    Command(
        "letters.resend",
        "R",
        "resend",
        "send again",
        "Send the letters again, with a new TTL",
        "Desk",
        DESKS,
        6,
        when="live row",
    ),
    Command(
        "letters.acknowledge",
        "A",
        "acknowledge",
        "acknowledge",
        "Acknowledge the rows: nothing to do; of letters, in the journal",
        "Desk",
        DESKS,
        4,
        when="live row",
    ),
    Command(
        "desk.snooze",
        "s",
        "snooze",
        "put off",
        "Put the rows off until a time, or until an agent resumes",
        "Desk",
        DESKS,
        5,
        when="live row",
    ),
    Command(
        "desk.wake",
        "W",
        "wake",
        "wake agent",
        "Wake the agent of the row for its unread mail",
        "Desk",
        DESKS,
        5,
        when="live row",
    ),
)
