"""Make key bindings, and the keys that the footer names, from the table of commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from msgspec import Struct
from textual.binding import Binding

from console.commands.command import ANYWHERE, WRITE, Command, Situation
from console.commands.table import BY_ID, COMMANDS, commands_for
from mailstore.store import Capability


def keys_of(commands: Iterable[str], keymap: Mapping[str, str]) -> frozenset[str]:
    """Return the keys of some commands."""
    return frozenset(key for name in commands for key in BY_ID[name].keys_in(keymap).split(","))


class FooterKey(Struct, frozen=True):
    """A key that the footer names: what a click on it runs, if anything, and whether it can act now."""

    key: str
    label: str
    action: str = ""
    is_able: bool = True


@lru_cache(maxsize=32)
def _named_in_footer(pane: str) -> tuple[Command, ...]:
    return tuple(
        sorted((command for command in commands_for(pane) if command.footer), key=lambda command: command.footer)
    )


def footer_keys(
    pane: str, keymap: Mapping[str, str], ask: Callable[[Capability], str], situation: Situation
) -> tuple[FooterKey, ...]:
    """Return the keys that the footer names for a pane, the most useful first, and whether each can act now."""
    return tuple(
        FooterKey(command.key_label(keymap), command.label, command.screen_action, not command.why_not(ask, situation))
        for command in _named_in_footer(pane)
        if command.suits(situation)
    )


def count_keys(keymap: Mapping[str, str]) -> tuple[FooterKey, ...]:
    """Return the keys that the footer names once a count was begun."""
    labels = {"list.down": "rows down", "list.up": "up", "list.last": "to that row"}
    named = ((BY_ID[name], label) for name, label in labels.items())
    keys = (FooterKey(command.key_label(keymap), label, command.screen_action) for command, label in named)
    return (*keys, FooterKey("esc", "no count", "drop_count"))


def bindings(panes: frozenset[str] = ANYWHERE) -> list[Binding]:
    """Return the bindings, under their ids, of the commands that have keys in any of some panes."""
    return [
        Binding(
            command.keys,
            command.screen_action,
            command.label,
            id=command.id,
            show=False,
            priority=command.panes == WRITE,  # text fields have ctrl+e and others of their own
        )
        for command in COMMANDS
        if command.keys and command.panes & panes
    ]
