"""Text styles of rows and messages, read from the theme's colours."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from rich.style import Style
from textual.color import Color, ColorParseError

from mailstore.rules.delivery import State


class TextStyles(Struct, frozen=True):
    """Styles by meaning; a glyph always says the same without them."""

    text: Style
    muted: Style
    accent: Style
    strong: Style
    unread: Style
    mine: Style
    intervention: Style
    good: Style
    warn: Style
    bad: Style
    hit: Style
    """Added to the style of a word that a search found; reversed, so that it is seen without colours too."""
    states: Mapping[State, Style]
    code_theme: str

    @classmethod
    def of(cls, variables: Mapping[str, str], code_theme: str) -> TextStyles:
        """Read the styles from a theme's CSS variables."""

        def style(name: str, *, bold: bool = False) -> Style:
            try:
                colour = Color.parse(variables.get(name, variables["foreground"]))
            except ColorParseError:
                colour = Color.parse(variables["foreground"])
            return Style(color=colour.rich_color, bold=bold or None)

        return cls(
            text=style("foreground"),
            muted=style("muted"),
            accent=style("accent"),
            strong=style("foreground", bold=True),
            unread=style("mail-unread", bold=True),
            mine=style("mail-mine"),
            intervention=style("mail-intervention"),
            good=style("success"),
            warn=style("warning"),
            bad=style("error"),
            hit=Style(
                color=style("mail-hit").color, bgcolor=style("background").color, reverse=True, bold=True, dim=False
            ),
            states={state: style(f"state-{state.value}") for state in State},
            code_theme=code_theme,
        )
