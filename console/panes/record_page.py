"""A record as it is in the store; JSON is also laid out over lines."""

from __future__ import annotations

from rich.text import Text
from textual.content import Content

from console.render.code import highlighted
from console.render.json_layout import laid_out
from console.render.markdown import reduced
from console.render.safe import visible
from console.words.styles import TextStyles

MOST_COLOURED = 60_000
"""Characters; longer records are laid out without colours."""


def record_page(raw: bytes, styles: TextStyles) -> Content:
    """Return a record, laid out if it is JSON, and then as it is in the store; control characters are visible."""
    text = raw.decode("utf-8", "backslashreplace")
    as_it_is = Content(visible(text))
    lines = laid_out(text)
    if lines is None or lines == [text.strip()]:
        return as_it_is
    code = visible("\n".join(lines))
    page = Content(code) if len(code) > MOST_COLOURED else Content.from_rich_text(_coloured(code, styles))
    return Content.assemble(
        ("JSON, formatted\n\n", "$muted"), page, ("\n\nAs it is in the file\n\n", "$muted"), as_it_is
    )


def _coloured(code: str, styles: TextStyles) -> Text:
    page = Text("\n").join(highlighted(code, "json", styles.code_theme))
    page.spans = [span._replace(style=reduced(span.style)) for span in page.spans if not isinstance(span.style, str)]
    return page
