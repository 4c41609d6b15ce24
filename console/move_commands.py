"""Declare the commands that move about: between panes, within lists, through the views that were shown."""

from __future__ import annotations

from console.command import ANYWHERE, DRAFTS, LOOKED_AT, OVERVIEW, ROWS, SHEETS, Command

MOVE_COMMANDS: tuple[Command, ...] = (
    Command("pane.sidebar", "1", "navigation.go_pane(1)", "views", "Go to views, channels and agents", "Move"),
    Command("pane.threads", "2", "navigation.go_pane(2)", "threads", "Go to the threads", "Move"),
    Command("pane.conversation", "3", "navigation.go_pane(3)", "conversation", "Go to the conversation", "Move"),
    Command("pane.composer", "4", "navigation.go_pane(4)", "composer", "Go to the composer", "Move"),
    Command(
        "pane.next",
        "tab",
        "navigation.next_pane(1)",
        "next pane",
        "Go to the next pane or field; in the text, complete a name or indent",
        "Move",
        ANYWHERE,
    ),
    Command(
        "pane.previous",
        "shift+tab",
        "navigation.next_pane(-1)",
        "previous pane",
        "Go to the previous pane or field",
        "Move",
        ANYWHERE,
    ),
    Command("list.down", "j,down", "move('cursor_down')", "down", "Move down", "Move", ROWS),
    Command("list.up", "k,up", "move('cursor_up')", "up", "Move up", "Move", ROWS),
    Command("list.first", "g,home", "move('first')", "first", "Go to the first row", "Move", ROWS),
    Command("list.last", "G,end", "move('last')", "last", "Go to the last row", "Move", ROWS),
    Command(
        "list.half-down", "ctrl+d", "move('half_page_down')", "half page down", "Move half a page down", "Move", ROWS
    ),
    Command("list.half-up", "ctrl+u", "move('half_page_up')", "half page up", "Move half a page up", "Move", ROWS),
    Command("list.page-down", "pagedown", "move('page_down')", "page down", "Move a page down", "Move", ROWS),
    Command("list.page-up", "pageup", "move('page_up')", "page up", "Move a page up", "Move", ROWS),
    Command(
        "open",
        "enter",
        "navigation.enter",
        "open",
        "Open what is under the cursor",
        "Move",
        frozenset({"sidebar", "threads"}),
        1,
    ),
    Command("jump", "enter", "enter", "go to message", "Go to the message", "Move", SHEETS - DRAFTS, 1, when="row"),
    Command(
        "back",
        "escape",
        "back",
        "back",
        "Go back one step; never quits",
        "Move",
        ANYWHERE | SHEETS | LOOKED_AT | OVERVIEW,
    ),
    Command(
        "left",
        "h,left",
        "navigation.left",
        "fold",
        "Fold replies; then go to the parent, then to the pane at the left",
        "Move",
    ),
    Command(
        "right", "l,right", "navigation.right", "unfold", "Unfold replies; then go to the first reply; open", "Move"
    ),
    Command(
        "history.back",
        "left_square_bracket",
        "navigation.history(-1)",
        "back in history",
        "Go back to the previous view",
        "Move",
    ),
    Command("history.forward", "right_square_bracket", "navigation.history(1)", "forward", "Go forward again", "Move"),
)
