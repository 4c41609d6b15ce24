"""Declare the commands that mute, star and snooze."""

from __future__ import annotations

from console.command import LISTS, MAIL, Command

QUIET_COMMANDS: tuple[Command, ...] = (
    Command(
        "mute",
        "m",
        "muting.mute",
        "mute",
        "Mute or unmute the thread, channel, agent or type",
        "Read",
        LISTS,
    ),
    Command("mute.list", "", "muting.list_all", "muted", "List what is muted, and unmute it", "Read", LISTS),
    Command(
        "star",
        "asterisk",
        "starring.toggle",
        "star",
        "Star the message, in the list the thread, or take the star away",
        "Read",
        MAIL,
        when="row",
    ),
    Command(
        "snooze",
        "s",
        "snoozing.snooze",
        "snooze",
        "Snooze the thread until a time or an event",
        "Read",
        MAIL,
        when="live row",
    ),
)
