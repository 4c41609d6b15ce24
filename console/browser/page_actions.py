"""What a console in a browser asks of its page: open a link, take a file, show a title."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from textual.app import App


@runtime_checkable
class TitledApp(Protocol):
    """An application that can write to its terminal."""

    def write_to_terminal(self, text: str) -> None: ...


def open_in_page(app: App[Any], target: str) -> None:
    """Open a link in another tab; `console.render.links.safe_target` returned it."""
    app.open_url(target, new_tab=True)


@contextmanager
def room_for_file() -> Iterator[Path]:
    """Give a folder for a file until it was given to the page."""
    with tempfile.TemporaryDirectory(prefix="signalbox-page-") as folder:
        yield Path(folder)


def give_file(app: App[Any], path: Path) -> None:
    """Have the browser download a file under its name; the file may be removed at once."""
    app.deliver_binary(path.open("rb"), save_filename=path.name, mime_type="application/octet-stream")


def title_page(app: App[Any], title: str) -> None:
    """Title the browser's tab; nothing in a title can end or begin an escape."""
    if isinstance(app, TitledApp):
        text = "".join(char for char in title if char.isprintable())
        app.write_to_terminal(f"\x1b]2;{text}\x07")


def colour_page(app: App[Any], background: str) -> None:
    """Colour what is around the terminal's cells, in six hexadecimal digits."""
    if isinstance(app, TitledApp):
        app.write_to_terminal(f"\x1b]11;{background.lower()}\x07")
