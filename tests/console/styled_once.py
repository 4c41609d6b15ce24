"""Styling a widget without working out again which rules hold for it: other consoles had one like it before."""

from __future__ import annotations

from typing import Any

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

FLAGS = ("_has_hover_style", "_has_focus_within", "_has_order_style", "_has_odd_or_even")

_apply = Stylesheet.apply
_replace = Stylesheet.replace_rules.__func__  # type: ignore[attr-defined]
_sheets: dict[tuple[int, ...], tuple[list[RuleSet], list[str]]] = {}
_numbers: dict[tuple[object, ...], int] = {}
_found: dict[tuple[int, int], tuple[Any, tuple[bool, ...]]] = {}
_given: dict[DOMNode, Any] = {}


def _known(sheet: Any) -> tuple[list[RuleSet], list[str]]:
    """Return the first list of the same rules, and the pseudo classes that any of them asks for."""
    rules = sheet.rules
    mine, known = getattr(sheet, "_known", (None, None))
    if mine is not rules:
        key = tuple(map(id, rules))
        known = _sheets.get(key)
        if known is None:
            asked = [it.pseudo_classes for rule in rules for those in rule.selector_set for it in those.selectors]
            known = _sheets[key] = rules, sorted(set().union(*asked))
        sheet._known = rules, known
    return known  # type: ignore[no-any-return]


def _path_of(node: DOMNode, names: list[str], paths: dict[DOMNode, int]) -> int:
    """Return the number of all that a rule can ask of a node and of those above it."""
    path = paths.get(node)
    if path is None:
        above = _path_of(node._parent, names, paths) if isinstance(node._parent, DOMNode) else -1
        checks = node._PSEUDO_CLASSES
        holds = tuple([name for name in names if name in checks and checks[name](node)])  # type: ignore[arg-type]
        asked = above, type(node), node._id, frozenset(node._classes), holds
        path = paths[node] = _numbers.setdefault(asked, len(_numbers))
    return path


def _apply_known(self: Any, node: Any, *, animate: bool = False, cache: Any = None) -> None:
    """Style a node as Textual does; not at all while neither the rules nor what they ask for changed."""
    rules, names = _known(self)
    is_first = not hasattr(self, "_paths")
    paths = self.__dict__.setdefault("_paths", {})
    if cache is not None and is_first:
        paths = self._paths = cache.setdefault(("paths",), {})
    try:
        path = _path_of(node, names, paths)
        if getattr(node, "_styled", None) == (id(rules), path, node._css_styles._updates):
            node.notify_style_update()
            return
        found = _found.get((id(rules), path))
        if found is None:
            _apply(self, node, animate=animate)
            _found[id(rules), path] = _given.pop(node, None), tuple(getattr(node, flag) for flag in FLAGS)
        else:
            for flag, holds in zip(FLAGS, found[1], strict=True):
                setattr(node, flag, holds)
            if found[0] is not None:
                _replace(Stylesheet, node, found[0], animate)
            self._process_component_classes(node)
        node._styled = id(rules), path, node._css_styles._updates
    finally:
        if is_first:
            del self._paths


def _replace_told(cls: Any, node: Any, rules: Any, animate: bool = False) -> None:
    _given[node] = rules
    _replace(cls, node, rules, animate)


def style_once() -> None:
    """Take effect for all consoles that are opened in this process."""
    Stylesheet.apply = _apply_known  # type: ignore[assignment, method-assign]
    Stylesheet.replace_rules = classmethod(_replace_told)  # type: ignore[assignment]
