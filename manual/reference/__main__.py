"""Write the reference: `python -m manual.reference`."""

from __future__ import annotations

import sys

from manual.reference.pages import FOLDER, pages

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
