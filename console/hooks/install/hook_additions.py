"""Add Signalbox's entries to the hooks of a settings file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from console.errors import Refused
from console.hooks.install.settings_editor import addition, rendered, replacement
from console.hooks.install.settings_tokens import JSONC, JsonValue, parsed, value_of
from console.hooks.install.text_edits import Edit

MARK = "\ufeff"


class Wanted(NamedTuple):
    """What a settings file is to hold: an entry for each event, permission rules, and members at the top."""

    entries: Mapping[str, Mapping[str, Any]]
    rules: Sequence[str] = ()
    top: Mapping[str, Any] = {}
    names: Mapping[str, Sequence[str]] = {}
    """Texts in lists at the top."""
    dialect: str = JSONC


def adding(text: str, wanted: Wanted, name: str) -> tuple[list[Edit], list[str]]:
    """Return the edits that add the entries, and the permission rules that were not there. Raises Refused."""
    root = parsed(text, name)
    hooks = {event: [entry] for event, entry in wanted.entries.items()}
    whole: dict[str, Any] = {**wanted.top, **{key: list(names) for key, names in wanted.names.items()}}
    if hooks:
        whole["hooks"] = hooks
    if wanted.rules:
        whole["permissions"] = {"allow": list(wanted.rules)}
    if root is None:
        start = len(MARK) if text.startswith(MARK) else 0
        if text[start:].strip():  # nothing but comments
            return [Edit(len(text), len(text), "\n" + rendered(whole))], list(wanted.rules)
        return [Edit(start, len(text), rendered(whole))], list(wanted.rules)
    if _is_null(root, text):
        return [replacement(text, root, root, whole)], list(wanted.rules)
    if root.kind != "{":
        raise _odd(f"{name} is not a JSON object of settings")
    place = _Place(text, root, name)
    at_top: list[tuple[str | None, Any]] = [(key, value) for key, value in wanted.top.items() if not root.last(key)]
    for key, names in wanted.names.items():
        at_top += place.put_list(root, key, key, [name for name in names if name not in place.texts(root, key)])
    if hooks:
        at_top += place.put_lists("hooks", root, "hooks", hooks)
    missing: list[str] = []
    if wanted.rules:
        allowed = place.node(root, "permissions", "{", "permissions")
        known = place.texts(allowed, "allow", "permissions.allow") if allowed else []
        missing = [rule for rule in wanted.rules if rule not in known]
        if missing:
            at_top += place.put_lists("permissions", root, "permissions", {"allow": missing})
    if at_top:
        place.edits += addition(text, root, root, at_top)
    return place.edits, missing


class _Place:
    """A settings file to which lists in objects are added; collects the edits."""

    def __init__(self, text: str, root: JsonValue, name: str) -> None:
        self.text, self.root, self.name = text, root, name
        self.edits: list[Edit] = []

    def node(self, into: JsonValue, key: str, kind: str, path: str) -> JsonValue | None:
        """Return the value of a key, None if it is missing or null; raises Refused for one of another kind."""
        node = into.last(key)
        if node is None or _is_null(node, self.text):
            return None
        if node.kind != kind:
            raise _odd(f"{path} in {self.name} is not {'an object' if kind == '{' else 'a list'}")
        return node

    def put_lists(
        self, key: str, into: JsonValue, path: str, lists: Mapping[str, Sequence[Any]]
    ) -> list[tuple[str | None, Any]]:
        """Add elements to the lists of an object; return the member to add if the object is missing."""
        node = self.node(into, key, "{", path)
        if node is None:
            return self._or_replace(into, key, dict(lists))
        absent: list[tuple[str | None, Any]] = []
        for name, values in lists.items():
            absent += self.put_list(node, name, f"{path}.{name}", values)
        if absent:
            self.edits += addition(self.text, self.root, node, absent)
        return []

    def put_list(self, into: JsonValue, key: str, path: str, values: Sequence[Any]) -> list[tuple[str | None, Any]]:
        """Add elements to a list; return the member to add where there is none."""
        if not values:
            return []
        there = self.node(into, key, "[", path)
        if there is None:
            return self._or_replace(into, key, list(values))
        self.edits += addition(self.text, self.root, there, [(None, value) for value in values])
        return []

    def texts(self, into: JsonValue, key: str, path: str = "") -> list[Any]:
        """Return the values of a list; none if it is missing."""
        listed = self.node(into, key, "[", path or key)
        return [value_of(member.value, self.text) for member in listed.members] if listed else []

    def _or_replace(self, into: JsonValue, key: str, value: Any) -> list[tuple[str | None, Any]]:
        """Replace a null; return the member to add where there is none."""
        if (null := into.last(key)) is None:
            return [(key, value)]
        self.edits.append(replacement(self.text, self.root, null, value))
        return []


def _is_null(node: JsonValue, text: str) -> bool:
    return text[node.start : node.end] == "null"


def _odd(problem: str) -> Refused:
    return Refused(problem, "fix it first; nothing was changed")
