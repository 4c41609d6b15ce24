"""Glyphs of states come from one table."""

from __future__ import annotations

import ast
from pathlib import Path

import console
from console.words.symbols import ACTIVITIES, AGENTS, CONNECTION, NEVER_SEEN, STALE, STATES

CONSOLE = Path(console.__file__).parent
TABLE = CONSOLE / "words" / "symbols.py"
ORDINARY = frozenset("…·?!")
"""Punctuation, which texts use in its own right."""


def test_no_other_module_has_a_glyph_of_its_own_for_a_state() -> None:
    glyphs = {
        symbol.glyph for table in (STATES, AGENTS, ACTIVITIES, CONNECTION) for symbol in table.values()
    } - ORDINARY
    assert len(glyphs) >= 8
    strangers = [
        f"{path.relative_to(CONSOLE)}:{node.lineno}: {node.value!r}"
        for path in sorted(CONSOLE.rglob("*.py"))
        if path != TABLE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and glyphs & set(node.value)
    ]
    assert not strangers, strangers


def test_what_agents_do_is_told_apart_without_colour() -> None:
    symbols = [*AGENTS.values(), *ACTIVITIES.values(), STALE, NEVER_SEEN]
    assert len({symbol.glyph for symbol in symbols}) == len(symbols)
