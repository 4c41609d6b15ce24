"""Signalbox's entries among the hooks of a settings file: find them, and remove them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from console.hooks.install.own_command import is_ours
from console.hooks.install.settings_editor import removals
from console.hooks.install.settings_tokens import JsonMember, JsonValue, parsed, value_of
from console.hooks.install.text_edits import Edit

COMMAND_KEYS = ("command", "bash")
Without = Callable[[JsonMember, list[Edit]], bool]


def found(text: str, name: str) -> list[tuple[str, Any]]:
    """Return Signalbox's entries as (event, entry), without the hooks of others that share a group. Raises Refused."""
    root = parsed(text, name)
    ours: list[tuple[str, Any]] = []
    for event, groups in _events(root) if root else ():
        for member in groups.members:
            hooks = _own_hooks(event, member.value, text)
            if hooks is None:
                ours.append((event, value_of(member.value, text)))
            elif hooks:
                ours.append((event, {"hooks": [value_of(hook.value, text) for hook in hooks]}))
    return ours


def removing(
    text: str, name: str, rules: Sequence[str] = (), names: Mapping[str, Sequence[str]] | None = None
) -> list[Edit]:
    """Return the edits that remove Signalbox's entries and some permission rules, and what is empty without them.

    `names` are texts to be removed from lists at the top.
    """
    root = parsed(text, name)
    if root is None or root.kind != "{":
        return []
    edits: list[Edit] = []
    gone: list[JsonMember] = []
    parts: dict[str, Without] = {
        key: partial(_without_texts, text, frozenset(value)) for key, value in (names or {}).items()
    }
    parts["hooks"] = partial(_without_members, text, partial(_without_own, text))
    if rules:
        parts["permissions"] = partial(_without_members, text, partial(_without_rules, text, frozenset(rules)))
    for top in root.members:
        without = parts.get(top.key or "")
        if without and without(top, edits):
            gone.append(top)
    return edits + removals(text, root, gone)


def _events(root: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    for top in root.members:
        if top.key == "hooks" and top.value.kind == "{":
            for member in top.value.members:
                if member.value.kind == "[":
                    yield member.key or "", member.value


def _own_hooks(event: str, group: JsonValue, text: str) -> list[JsonMember] | None:
    """Return the members of a group's hooks that are ours; None if the whole group is."""
    if group.kind != "{":
        return []
    if _is_own(event, group, text):
        return None
    hooks = group.last("hooks")
    if hooks is None or hooks.kind != "[":
        return []
    own = [member for member in hooks.members if _is_own(event, member.value, text)]
    return None if own and len(own) == len(hooks.members) else own


def _is_own(event: str, hook: JsonValue, text: str) -> bool:
    if hook.kind != "{":
        return False
    commands = [node for key in COMMAND_KEYS if (node := hook.last(key)) is not None and node.kind == '"']
    return any(is_ours(str(value_of(node, text)), event) for node in commands)


def _without_members(text: str, without: Without, member: JsonMember, edits: list[Edit]) -> bool:
    """Remove from the members of an object what is to go; return whether nothing is left of the object."""
    if member.value.kind != "{":
        return False
    gone: list[JsonMember] = []
    for json_member in member.value.members:
        inner: list[Edit] = []
        if without(json_member, inner):
            gone.append(json_member)
        else:
            edits += inner
    if gone and len(gone) == len(member.value.members):
        return True
    edits += removals(text, member.value, gone)
    return False


def _without_own(text: str, event: JsonMember, edits: list[Edit]) -> bool:
    """Remove our hooks from an event; return whether nothing is left of it."""
    if event.value.kind != "[":
        return False
    gone: list[JsonMember] = []
    for group in event.value.members:
        own = _own_hooks(event.key or "", group.value, text)
        if own is None:
            gone.append(group)
        elif own and (hooks := group.value.last("hooks")):
            edits += removals(text, hooks, own)
    if gone and len(gone) == len(event.value.members):
        return True
    edits += removals(text, event.value, gone)
    return False


def _without_rules(text: str, rules: frozenset[str], member: JsonMember, edits: list[Edit]) -> bool:
    """Remove rules from the allowed ones; return whether nothing is left of them."""
    return member.key == "allow" and _without_texts(text, rules, member, edits)


def _without_texts(text: str, texts: frozenset[str], member: JsonMember, edits: list[Edit]) -> bool:
    """Remove texts from a list; return whether nothing is left of it."""
    if member.value.kind != "[":
        return False
    gone = [
        json_member
        for json_member in member.value.members
        if json_member.value.kind == '"' and value_of(json_member.value, text) in texts
    ]
    if gone and len(gone) == len(member.value.members):
        return True
    edits += removals(text, member.value, gone)
    return False
