"""The help: a legend, the person's own keys, filtered while they type, with what can't act now and why."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from textual.screen import Screen

import console
from console.settings.config import Config
from console.words.symbols import LEGEND, STATES, TYPE_GLYPHS
from tests.console.screen_text import Seat, opened
from tests.mailboxes import MailFiles

CONSOLE = Path(console.__file__).parent
ORDINARY = frozenset("…·–─│→←↑↓•—×▅█▏▎■□“”’✓") | {chr(at) for at in range(0x2500, 0x2590)}
"""Punctuation, lines, arrows and bars, which mean nothing of their own."""


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"])
    mail.message("one", "ann-00000001", "user", "A question.", ago=60, type="question")
    return mail


def page(seat: Seat) -> str:
    return " ".join(seat.text.replace("│", " ").split())


async def test_the_help_begins_with_ten_keys_ends_with_the_legend_and_filters_as_one_types(tmp_path: Path) -> None:
    config = Config(keymap={"reply": "ctrl+y"})
    async with opened(write_mail(tmp_path).data, size=(120, 60), config=config) as seat:
        await seat.press("question_mark")
        text = page(seat)
        assert text.index("Basic keys") < text.index("Move")
        basic = text[text.index("Basic keys") : text.index("── in")]
        assert basic.index("j ↓ Move down") < basic.index("ctrl+y Reply") < basic.index("p List what needs attention")
        await seat.press("ctrl+end")
        assert "✓ read" in page(seat)
        assert "◐ recipient frozen" in page(seat)
        await seat.type("reply")
        assert "ctrl+y Reply; between agents, to both sides" in page(seat)
        assert "Glyphs" not in page(seat)
        strips = seat.app.screen._compositor.render_strips()
        found = [part.text for line in strips for part in line if part.style is not None and part.style.underline]
        assert found[:2] == ["reply", "Reply"]
        assert "Go to the threads" not in page(seat)
        await seat.press("escape")  # clears the filter
        assert "Basic keys" in page(seat)
        await seat.type("zzzz")
        assert "Nothing found for zzzz" in page(seat)
        await seat.press("escape", "escape")
        assert seat.app.screen is seat.screen


async def test_the_help_finds_keys_and_glyphs_and_says_why_a_command_cannot_act(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(120, 60)) as seat:
        await seat.press("question_mark", "z")
        assert page(seat).index("Key z") < page(seat).index("z Undo")
        assert "z Undo your last action unavailable: nothing to undo" in page(seat)
        await seat.press("escape")
        await seat.paste("◐")
        assert "◐ recipient frozen" in page(seat)
        assert "✓ read" not in page(seat)
        await seat.press("escape", *"hour")
        assert "In the past: go back an hour unavailable: only while time travelling" in page(seat)
        await seat.press("escape", "slash", *"full screen")
        assert "f Show this pane on the full screen" in page(seat)


@pytest.mark.parametrize("size", [(40, 12), (60, 15), (200, 60)])
async def test_the_help_scrolls_at_each_size(size: tuple[int, int], tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=size) as seat:
        await seat.press("f1")
        assert "type to filter" in seat.text
        assert "Basic keys" in seat.text
        first = seat.lines
        await seat.press("pagedown")
        assert seat.lines != first
        await seat.press("ctrl+end")
        shown = seat.app.screen.query_one("#viewer-text")
        assert shown.scroll_y == shown.max_scroll_y > 0
        await seat.press("f1")
        assert seat.app.screen is seat.screen


async def test_the_screen_below_is_not_laid_out_anew_when_the_help_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        before = seat.lines
        await seat.press("question_mark")
        assert seat.lines != before
        layouts: list[object] = []
        monkeypatch.setattr(Screen, "_refresh_layout", lambda screen, *args, **more: layouts.append(screen))
        await seat.press("escape")
        assert seat.lines == before
        assert layouts == []


async def test_only_screens_that_can_be_seen_are_painted(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("L")
        journal = seat.app.screen
        assert journal is not seat.screen
        assert seat.app._background_screens == []
        await seat.press("question_mark")
        assert seat.app._background_screens == [journal]


def test_the_legend_names_every_glyph_that_panes_draw() -> None:
    named = {symbol.glyph for _, symbols in LEGEND for symbol, _ in symbols}
    assert {symbol.glyph for symbol in STATES.values()} | set(TYPE_GLYPHS.values()) <= named
    strangers = [
        f"{path.relative_to(CONSOLE)}:{node.lineno}: {node.value!r}"
        for folder in ("panes", "screens", "widgets")
        for path in sorted((CONSOLE / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and any(ord(message) > 0x7F and message not in ORDINARY | named for message in node.value)
    ]
    assert not strangers, f"declare these glyphs in console/words/symbols.py, with their meaning: {strangers}"
