"""Write all that is made from the code: the reference, man pages, completion's table: `python -m manual.reference`."""

from __future__ import annotations

import sys
from pathlib import Path

from console.completion.table import TABLE
from console.completion.table_maker import table_text
from manual.man_pages import MAN, man_pages
from manual.reference.pages import FOLDER, pages
from manual.reference.troubleshooting_page import EXPLANATIONS, explanations_table

if __name__ == "__main__":
    written = pages()
    for name, text in written.items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            sys.stdout.write(f"docs/{name}\n")
    for path in (FOLDER / "reference").rglob("*.*"):
        if path.relative_to(FOLDER).as_posix() not in written:
            path.unlink()
            sys.stdout.write(f"removed docs/{path.relative_to(FOLDER)}\n")
    pages_there = {path.name for path in MAN.glob("*.1")}
    manuals = man_pages()
    for name in pages_there - set(manuals):
        (MAN / name).unlink()
    tables = ((Path(TABLE), table_text()), (EXPLANATIONS, explanations_table()))
    for path, text in (*tables, *((MAN / name, text) for name, text in manuals.items())):
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            sys.stdout.write(f"{path.name}\n")
