"""What a console in a browser asks of its page: open a link, take a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.app import App

__all__ = ["give_file", "open_in_page"]


def open_in_page(app: App[Any], target: str) -> None:
    """Open a link in another tab; `console.render.links.safe_target` returned it."""
    app.open_url(target, new_tab=True)


def give_file(app: App[Any], path: Path, name: str) -> None:
    """Have the browser download a file under a name; the file may be removed at once."""
    app.deliver_binary(path.open("rb"), save_filename=name, mime_type="application/octet-stream")
