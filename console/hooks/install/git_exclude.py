"""The repository's own list of files that git ignores, where new files are entered that should not be committed."""

from __future__ import annotations

from pathlib import Path

from mailstore.files.worktree import checkout_at


def exclude_file(folder: Path) -> tuple[Path, Path] | None:
    """Return the top of the repository that a folder is in and its list; None outside of a repository."""
    folder = folder.resolve()
    for top in (folder, *folder.parents):
        if checkout := checkout_at(str(top)):
            common = Path(checkout.common).resolve()
            path = common / "info" / "exclude"
            is_safe = (common / "HEAD").is_file() and path.resolve() == path  # a link may lead anywhere
            return (top, path) if is_safe and (path.is_file() or not path.exists()) else None
    return None


def line_for(top: Path, path: Path) -> str | None:
    """Return the line that names one file; None for a file outside of the repository or with an odd name."""
    if not path.is_relative_to(top):
        return None
    name = path.relative_to(top).as_posix()
    if not name.isprintable() or name != name.strip():
        return None
    return "/" + "".join(f"\\{char}" if char in "\\*?[" else char for char in name)


def excluding(text: str, lines: list[str]) -> str:
    """Return the list with lines added that it lacks."""
    new = [line for line in lines if line not in text.splitlines()]
    gap = "" if not text or text.endswith("\n") else "\n"
    return text + (gap + "".join(f"{line}\n" for line in new) if new else "")


def including(text: str, lines: list[str]) -> str:
    """Return the list without lines."""
    gone = set(lines)
    return "".join(each for each in text.splitlines(keepends=True) if each.rstrip("\r\n") not in gone)
