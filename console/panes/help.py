"""The help page, made from the commands themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.content import Content

from console.commands import COMMANDS, commands_for
from console.render.safe import visible_line
from mailstore.store import Capability

__all__ = ["help_page"]


def help_page(pane: str, keymap: Mapping[str, str], ask: Callable[[Capability], str]) -> Content:
    """List the keys that work in a pane, by group, then those of the other panes; and why some can't be used here."""
    here = commands_for(pane)
    parts: list[Content] = []
    for title, commands in ((f"in {pane}", here), ("elsewhere", [c for c in COMMANDS if c not in here])):
        groups = dict.fromkeys(command.group for command in commands)
        if parts and commands:
            parts.append(Content.styled(f"\n── {title} " + "─" * 24, "$muted"))
        for group in groups:
            parts.append(Content.styled(group, "bold $accent"))
            for command in commands:
                if command.group == group:
                    keys = command.keys_label(keymap)
                    name = f"  [{command.cli}]" if command.cli else ""
                    reason = command.why_not(ask)
                    why = f"  can't here: {visible_line(reason)}" if reason else ""
                    parts.append(
                        Content.assemble((f"  {keys:<18} ", "bold"), command.help, (name, "$muted"), (why, "$warning"))
                    )
    return Content("\n").join(parts)
