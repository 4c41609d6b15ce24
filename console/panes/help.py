"""The help page, built from the commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.content import Content

from console.commands import COMMANDS, commands_for
from console.panes.facts import FactPage, Row
from console.render.safe import visible_line
from mailstore.store import Capability

__all__ = ["help_page"]

EMPTY = Content(), Content()


def help_page(pane: str, keymap: Mapping[str, str], ask: Callable[[Capability], str]) -> FactPage:
    """Return the keys of a pane by group, then those of other panes, with the reasons why some are unavailable."""
    here = commands_for(pane)
    parts: list[Row] = []
    for title, commands in ((f"in {pane}", here), ("elsewhere", [c for c in COMMANDS if c not in here])):
        groups = dict.fromkeys(command.group for command in commands)
        if parts and commands:
            parts += [EMPTY, (Content(), Content.styled(f"── {title} " + "─" * 24, "$muted"))]
        for group in groups:
            parts.append((Content(), Content.styled(group, "bold $accent")))
            for command in commands:
                if command.group == group:
                    keys = command.keys_label(keymap)
                    name = f"  [{command.cli}]" if command.cli else ""
                    reason = command.why_not(ask)
                    why = f"  unavailable: {visible_line(reason)}" if reason else ""
                    told = Content.assemble(command.help, (name, "$muted"), (why, "$warning"))
                    parts.append((Content.styled(f"  {keys:<18} ", "bold"), told))
    return FactPage(parts)
