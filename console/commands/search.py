"""Find commands by a key, or by the beginnings of words."""

from __future__ import annotations

from collections.abc import Mapping

from console.commands.command import Command, pretty


def has_key(command: Command, query: str, keymap: Mapping[str, str]) -> bool:
    """Say whether a query is one of a command's keys."""
    keys = command.keys_in(keymap).split(",")
    return query.strip() != "" and (query.strip() in keys or query.strip() in map(pretty, keys))


def fits(command: Command, query: str, keymap: Mapping[str, str]) -> bool:
    """Say whether a query is one of a command's keys, or each of its words begins one of the command's."""
    if has_key(command, query, keymap):
        return True
    text = f"{command.help} {command.label} {command.group} {command.cli} {command.id}".lower()
    begun = [*text.replace("-", " ").replace(".", " ").split(), *text.split()]
    return all(any(each.startswith(word) for each in begun) for word in query.lower().split())
