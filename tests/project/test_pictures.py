"""The pictures of the manual show what the program shows; `python -m screenshots.take --check` looks at all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from screenshots.take import SHOTS, Shot, kept, taken, text_in
from tests.console.screen_text import settle

LOOKED_AT = ("console-80x24", "attention", "composer", "redirect", "help", "what-led-to-it")


@pytest.mark.parametrize("shot", [shot for shot in SHOTS if shot.name in LOOKED_AT], ids=lambda shot: shot.name)
async def test_a_picture_shows_what_the_program_shows(shot: Shot, tmp_path: Path) -> None:
    now = text_in(await taken(shot, tmp_path, settle))
    assert now == text_in(kept(shot)), "python -m screenshots.take takes it anew"
    assert len(now) >= shot.size[1] - 1
