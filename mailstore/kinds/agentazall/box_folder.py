"""Create the folder of a box."""

from __future__ import annotations

from pathlib import Path

from mailstore.files.owned import look_of, make_folder


def make_box(root: Path, folder: Path) -> None:
    """Create a box and the folders above it, none of which may be a symbolic link. Raises OSError and StoreError."""
    for place in [*reversed(folder.relative_to(root).parents), folder.relative_to(root)][1:]:
        make_folder(root / place, look_of((root / place).parent))
        if (root / place).is_symlink():
            raise NotADirectoryError(20, "symbolic link: links are not followed", str(root / place))
