"""Every console command, declared once: bindings, footer, help, palette and keymap are made from this."""

from __future__ import annotations

from console.command import LISTS, ROWS, Command
from console.list_commands import LIST_COMMANDS
from console.mail_commands import MAIL_COMMANDS
from console.message_commands import MESSAGE_COMMANDS
from console.move_commands import MOVE_COMMANDS
from console.overview_commands import OVERVIEW_COMMANDS
from console.quiet_commands import QUIET_COMMANDS

PROGRAM_COMMANDS: tuple[Command, ...] = (
    # Program
    Command(
        "palette",
        "colon,ctrl+p",
        "app.command_palette",
        "palette",
        "Find any command, view, agent or theme",
        "Program",
        ROWS,
    ),
    Command("help", "question_mark,f1", "help", "help", "Show the keys of this pane", "Program", ROWS, 0, "keys"),
    Command(
        "problems", "", "pages.problems", "problems", "Show problems in the settings, by file and key", "Program", LISTS
    ),
    Command("quit", "q", "closing.close", "quit", "Quit; asks if a draft is open", "Program", LISTS),
)
COMMANDS = (
    *MOVE_COMMANDS,
    *MAIL_COMMANDS,
    *MESSAGE_COMMANDS,
    *QUIET_COMMANDS,
    *LIST_COMMANDS,
    *OVERVIEW_COMMANDS,
    *PROGRAM_COMMANDS,
)


def commands_for(pane: str) -> list[Command]:
    """Return the commands that work in a pane, in the order of the table."""
    return [command for command in COMMANDS if pane in command.panes]


HELP = next(command for command in COMMANDS if command.id == "help")
QUIT = next(command for command in COMMANDS if command.id == "quit")
PLAN_ARCHIVAL = next(command for command in COMMANDS if command.id == "archive")
