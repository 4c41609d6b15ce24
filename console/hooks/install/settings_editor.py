"""Add members to settings and remove them, as edits of the text in the style around them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from console.hooks.install.settings_tokens import JsonMember, JsonValue
from console.hooks.install.text_edits import Edit

DEFAULT_INDENT = "  "
NEXT_LINE = re.compile(r"[ \t]*\r?\n")


def addition(text: str, root: JsonValue, into: JsonValue, members: Sequence[tuple[str | None, Any]]) -> list[Edit]:
    """Return the edits that add members to the end of an object, or elements (without a key) to a list."""
    style = _Style(text, root)
    edits: list[Edit] = []
    if into.members:
        last = into.members[-1]
        gap = text[last.lead : last.start]
        if last.comma is None:
            edits.append(Edit(last.value.end, last.value.end, ","))
        if "\n" in gap:
            lead, is_block = style.newline + gap.rpartition("\n")[2], True
        else:
            lead, is_block = gap if len(into.members) > 1 else ("" if style.is_dense else " "), False
        close = ""
    else:
        base = style.indent_at(into.start)
        is_block = not style.is_dense
        lead = style.newline + base + style.indent if is_block else ""
        close = style.newline + base if is_block and "\n" not in text[into.tail : into.end - 1] else ""
    trailing = "," if into.members and into.members[-1].comma is not None else ""
    first = style.newline if into.has_line_comment_last and not is_block else lead
    between = "," + (lead or ("" if style.is_dense else " "))
    indent = lead.rpartition("\n")[2]
    parts = [style.member(key, value, indent, is_block) for key, value in members]
    edits.append(Edit(into.tail, into.tail, first + between.join(parts) + trailing + close))
    return edits


def replacement(text: str, root: JsonValue, node: JsonValue, value: Any) -> Edit:
    """Return the edit that puts a value in the place of another."""
    style = _Style(text, root)
    return Edit(node.start, node.end, style.member(None, value, style.indent_at(node.start), not style.is_dense))


def removals(text: str, node: JsonValue, gone: Sequence[JsonMember]) -> list[Edit]:
    """Return the edits that remove members of an object or a list, with their commas and the gaps before them."""
    edits: list[Edit] = []
    kept = [member for member in node.members if member not in gone]
    after = len(text)
    following: JsonMember | None = None
    for member in reversed(gone):
        end = member.value.end
        if member.comma is not None and not text[end : member.comma].strip():
            end = member.comma + 1
        elif member.comma is not None:
            edits.append(Edit(member.comma, member.comma + 1, ""))
        if following is None or following.lead != end:
            after = end  # else the gap after this one goes too, with the next one
        # what follows a comment that ends with its line must not become a part of it
        is_held = member.after_line_comment and not NEXT_LINE.match(text, after)
        edits.append(Edit(member.start if is_held else member.lead, end, ""))
        following = member
    if gone and gone[-1] is node.members[-1] and gone[-1].comma is None and kept and kept[-1].comma is not None:
        edits.append(Edit(kept[-1].comma, kept[-1].comma + 1, ""))
    return edits


def rendered(value: Any, indent: str = DEFAULT_INDENT, newline: str = "\n") -> str:
    """Return a value as the text of a new file."""
    return (json.dumps(value, indent=indent, ensure_ascii=False) + "\n").replace("\n", newline)


class _Style:
    """How a file is written: its line ends, its indentation, and whether everything stands on one line."""

    def __init__(self, text: str, root: JsonValue) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        inner = text[root.start : root.end]
        self.is_dense = bool(root.members) and "\n" not in inner
        self.has_spaces = not self.is_dense or ": " in inner or ", " in inner
        first = root.members[0] if root.members else None
        gap = text[first.lead : first.start] if first else ""
        self.indent = gap.rpartition("\n")[2] if "\n" in gap else DEFAULT_INDENT

    def indent_at(self, at: int) -> str:
        """Return the indentation of the line that a position is in."""
        line = self.text.rfind("\n", 0, at) + 1
        match = re.compile(r"\ufeff?([ \t]*)").match(self.text, line)
        return match[1] if match else ""

    def member(self, key: str | None, value: Any, base: str, is_block: bool) -> str:
        """Return a member as text; `base` is the indentation of its line."""
        colon = ": " if self.has_spaces else ":"
        if is_block:
            text = json.dumps(value, indent=self.indent, ensure_ascii=False).replace("\n", self.newline + base)
        else:
            text = json.dumps(value, ensure_ascii=False, separators=(", " if self.has_spaces else ",", colon))
        return text if key is None else f"{json.dumps(key, ensure_ascii=False)}{colon}{text}"
