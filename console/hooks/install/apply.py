"""Show planned changes, and make them: all of them, or none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path

from console.errors import Refused
from console.hooks.install.install_notes import forget, remember
from console.hooks.install.plan import FileChange
from console.hooks.install.target_files import read_text
from console.render.safe import visible_line
from mailstore.errors import StoreError, reason_of
from mailstore.files.append import replace_file

CONTEXT = 3
MOST_LINES = 2000
WIDEST = 300


def diff(changes: Sequence[FileChange]) -> list[str]:
    """Return what would change, as unified diffs, safe to print."""
    lines: list[str] = []
    for change in changes:
        if change.is_one:
            lines += _diff(change)
    return [line if len(line) <= WIDEST else f"{line[:WIDEST]}…" for line in map(visible_line, lines)]


def make(changes: Sequence[FileChange]) -> None:
    """Make the changes; where one fails, those before it are undone. Raises Refused."""
    done: list[FileChange] = []
    try:
        for change in changes:  # the notes first: if this is killed, they still tell how the files were
            if change.note is not None and change.note != change.old_note:
                remember(change.note)
        for change in changes:
            if change.is_one:
                if read_text(change.path) != change.before:
                    raise Refused(f"{change.path} was changed meanwhile", "run the command again", "E219")
                done.append(change)
                _write(change.path, change.after)
                if change.after is None:
                    _remove_folders(change.old_note.folders if change.old_note else ())
        for change in changes:
            if change.note is None and change.old_note is not None:
                forget(change.path)
    except (OSError, StoreError, Refused) as error:
        _undo(changes, done)
        if isinstance(error, Refused):
            raise
        problem = error.problem if isinstance(error, StoreError) else f"{error.filename}: {reason_of(error)}"
        raise Refused(problem, "free some space or check the permissions; nothing was changed") from error


def _undo(changes: Sequence[FileChange], done: Sequence[FileChange]) -> None:
    """Restore files, and what was remembered of all."""
    for change in reversed(done):
        with suppress(OSError, StoreError):
            _write(change.path, change.before)
        if change.before is None and change.note:
            _remove_folders(change.note.folders)
    for change in changes:
        with suppress(OSError, StoreError):
            if change.old_note is not None:
                remember(change.old_note)
            else:
                forget(change.path)


def _write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text.encode())


def _remove_folders(folders: Sequence[str]) -> None:
    """Remove folders that were made for a file, the innermost first, as far as they are empty."""
    for folder in folders:
        with suppress(OSError):
            Path(folder).rmdir()


def _diff(change: FileChange) -> list[str]:
    """Return the diff of one file; what is the same at both ends is left out first, because files may be huge."""
    before, after = (change.before or "").splitlines(), (change.after or "").splitlines()
    names = (
        "/dev/null" if change.before is None else change.name,
        "/dev/null" if change.after is None else change.name,
    )
    shortest = min(len(before), len(after))
    head = next((at for at in range(shortest) if before[at] != after[at]), shortest)
    rest = shortest - head
    tail = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    start, more = max(0, head - CONTEXT), max(0, tail - CONTEXT)
    old, new = before[start : len(before) - more], after[start : len(after) - more]
    if len(old) + len(new) > MOST_LINES:
        return [
            f"--- {names[0]}",
            f"+++ {names[1]}",
            f"@@ {len(new) - len(old):+} lines between {start + 1} and {start + len(new)} @@",
        ]
    lines = list(unified_diff(old, new, *names, lineterm="", n=CONTEXT))
    return [_numbered(line, start) for line in lines]


def _numbered(line: str, shift: int) -> str:
    """Return a line of a diff; the line numbers of a hunk are shifted by what was left out before it."""
    if not line.startswith("@@ "):
        return line
    words = line.split(" ")
    for at in (1, 2):
        number, comma, count = words[at][1:].partition(",")
        shifted = int(number) + shift if int(number) or shift else 0
        words[at] = f"{words[at][0]}{shifted}{comma}{count}"
    return " ".join(words)
