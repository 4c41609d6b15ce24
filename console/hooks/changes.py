"""Changes to files, shown before they are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from console.errors import Refused
from console.render.safe import visible_line
from mailstore.errors import reason_of
from mailstore.files.append import replace_file

__all__ = ["FileChange", "diff", "make", "read_text"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a file holds before and after; None where there is none."""

    path: Path
    before: str | None
    after: str | None

    @property
    def is_one(self) -> bool:
        """Whether anything changes at all."""
        return self.before != self.after


def read_text(folder: Path, name: str) -> str | None:
    """Return the text of a file in a folder, None if there is none.

    Raises Refused for a link out of the folder, and for a file that is not text.
    """
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise Refused(f"{path} points outside {folder}", "replace the link with a regular file")
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not UTF-8 text", "convert it to UTF-8 first") from error
    except OSError as error:
        raise Refused(f"{path} can't be read ({reason_of(error)})", "check its permissions") from error


def diff(changes: Sequence[FileChange], folder: Path) -> list[str]:
    """Return what would change, as unified diffs, safe to print."""
    lines: list[str] = []
    for change in changes:
        name = change.path.relative_to(folder)
        lines += unified_diff(
            (change.before or "").splitlines(),
            (change.after or "").splitlines(),
            "/dev/null" if change.before is None else str(name),
            "/dev/null" if change.after is None else str(name),
            lineterm="",
        )
    return [visible_line(line) for line in lines]


def make(changes: Sequence[FileChange]) -> None:
    """Make the changes, each file at once. Raises Refused and StoreError."""
    for change in changes:
        if change.after is None:
            change.path.unlink()
            continue
        try:
            change.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"{change.path.parent} can't be created ({reason_of(error)})"
            raise Refused(problem, "check the path and its permissions") from error
        replace_file(change.path, change.after.encode())
