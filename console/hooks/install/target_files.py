"""Read the files of a project or of the user that are to be changed: never through a link that leads astray."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from console.errors import Refused
from console.hooks.install.programs import Target
from mailstore.errors import reason_of
from mailstore.files.whole import read_whole

LONGEST = 64 << 20


def real_path(path: Path, target: Target) -> Path:
    """Return the file that a path leads to.

    The user's own settings may be links to anywhere, as dotfiles are; a project's may not leave the project, because
    the project's authors chose where they lead. Raises Refused.
    """
    try:
        real = path.resolve()
        if leads_outside(path, target):
            raise Refused(f"{path} points outside {target.folder}", "replace the link with a regular file", "E224")
        if path.is_symlink() and not real.exists():
            raise Refused(
                f"{path} is a link to {real}, which does not exist", "remove the link, or create that file", "E225"
            )
    except (OSError, RuntimeError, ValueError) as error:
        raise Refused(f"{path} can't be found ({reason_of(error)})", "check its links", "E226") from error
    return real


def leads_outside(path: Path, target: Target) -> Path | None:
    """Return where a project's file leads if that is outside of the project; None for the user's own files."""
    try:
        real = path.resolve()
        return None if target.is_user or real.is_relative_to(_top(target.folder.resolve())) else real
    except (OSError, RuntimeError, ValueError):
        return None


def read_text(real: Path) -> str | None:
    """Return the text of a file, None if there is none. Raises Refused for what is not a file of UTF-8 text."""
    try:
        found = real.stat()
        if not stat.S_ISREG(found.st_mode):
            raise Refused(f"{real} is not a regular file", "move it away first", "E227")
        if found.st_size > LONGEST:
            raise Refused(f"{real} is larger than {LONGEST >> 20} MB", "make it smaller first", "E228")
        return read_whole(real, LONGEST).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise Refused(f"{real} is not UTF-8 text", "convert it to UTF-8 first", "E229") from error
    except OSError as error:
        raise Refused(f"{real} can't be read ({reason_of(error)})", "check its permissions", "E230") from error


def refuse_if_read_only(real: Path) -> None:
    """Raise Refused if a file, or the folder that it is in, is read-only, even for root."""
    place = real if real.exists() else next(folder for folder in real.parents if folder.exists())
    for path in {place, real.parent if real.exists() else place}:
        if not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK):
            raise Refused(
                f"{path} is read-only", f"make it writable first (chmod u+w {path}); nothing was changed", "E231"
            )


def shown(path: Path, target: Target) -> str:
    """Return a path as a user knows it: within the project, or below the home folder."""
    if path.is_relative_to(target.folder) and path != target.folder:
        return f"{'~/' if target.is_user else ''}{path.relative_to(target.folder)}"
    return str(path)


def _top(folder: Path) -> Path:
    """Return the folder of the repository that a folder is in; the folder itself outside of any."""
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), folder)


def missing_folders(real: Path) -> list[Path]:
    """Return the folders that have to be made for a file, the innermost first."""
    return [folder for folder in real.parents if not folder.exists()]
