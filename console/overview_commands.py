"""Declare the commands of the overview."""

from __future__ import annotations

from console.command import LISTS, OVERVIEW, Command

__all__ = ["OVERVIEW_COMMANDS"]

OVERVIEW_COMMANDS: tuple[Command, ...] = (
    Command(
        "overview",
        "O",
        "overviewing.open",
        "overview",
        "Show the fleet: its heartbeat, agents, channels, and who writes to whom",
        "Look",
        LISTS,
        0,
        "overview",
    ),
    Command("overview.open", "enter", "enter", "list threads", "List the threads behind it", "Overview", OVERVIEW, 1),
    Command("overview.section", "tab", "section(1)", "next section", "Go to the next section", "Overview", OVERVIEW, 2),
    Command(
        "overview.section-back",
        "shift+tab",
        "section(-1)",
        "previous section",
        "Go back a section",
        "Overview",
        OVERVIEW,
    ),
    Command("overview.heartbeat", "1", "go_section(1)", "heartbeat", "Go to the heartbeat", "Overview", OVERVIEW),
    Command("overview.agents", "2", "go_section(2)", "agents", "Go to the agents", "Overview", OVERVIEW),
    Command("overview.channels", "3", "go_section(3)", "channels", "Go to the channels", "Overview", OVERVIEW),
    Command(
        "overview.matrix", "4", "go_section(4)", "who writes to whom", "Go to who writes to whom", "Overview", OVERVIEW
    ),
    Command("overview.left", "h,left", "go_side(-1)", "cell left", "Go to the cell at the left", "Overview", OVERVIEW),
    Command(
        "overview.right",
        "l,right",
        "go_side(1)",
        "cell right",
        "Go to the cell at the right",
        "Overview",
        OVERVIEW,
    ),
    Command(
        "overview.extend-left",
        "shift+left,H",
        "extend(-1)",
        "extend left",
        "Extend the range of bars",
        "Overview",
        OVERVIEW,
    ),
    Command(
        "overview.extend-right",
        "shift+right,L",
        "extend(1)",
        "extend right",
        "Extend the range of bars",
        "Overview",
        OVERVIEW,
    ),
    Command("overview.range", "v", "range", "range", "Begin a range of bars, or end it", "Overview", OVERVIEW, 5),
    Command(
        "overview.shorter",
        "left_square_bracket,minus",
        "span(-1)",
        "shorter span",
        "Show a shorter span of time",
        "Overview",
        OVERVIEW,
        3,
    ),
    Command(
        "overview.longer",
        "right_square_bracket,plus",
        "span(1)",
        "longer span",
        "Show a longer span of time",
        "Overview",
        OVERVIEW,
        4,
    ),
    Command(
        "overview.travel",
        "T",
        "travel",
        "go to this time",
        "Show the mailbox as it was at the end of the chosen bars; in the past: back to live",
        "Overview",
        OVERVIEW,
        6,
    ),
    Command("overview.close", "q,O", "dismiss_sheet", "close overview", "Go back to the mail", "Overview", OVERVIEW, 7),
)
