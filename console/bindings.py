"""Make key bindings, and the keys that the footer names, from the table of commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.binding import Binding

from console.command import ANYWHERE, WRITE
from console.commands import COMMANDS, commands_for
from mailstore.store import Capability

__all__ = ["bindings", "footer_keys", "keys_of"]


def keys_of(action: str, keymap: Mapping[str, str]) -> frozenset[str]:
    """Return the keys of the commands whose action begins so."""
    chosen = (keymap.get(it.id, it.keys) for it in COMMANDS if it.action.startswith(action))
    return frozenset(key for keys in chosen for key in keys.split(","))


def footer_keys(
    pane: str, keymap: Mapping[str, str], ask: Callable[[Capability], str]
) -> tuple[tuple[str, str, bool], ...]:
    """Return the keys that the footer names for a pane, the most useful first, and whether each can be used here."""
    shown = sorted((command for command in commands_for(pane) if command.footer), key=lambda command: command.footer)
    return tuple((command.key_label(keymap), command.label, not command.why_not(ask)) for command in shown)


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
