"""A mailbox below a folder of the test's, into which it can be put away."""

from __future__ import annotations

from pathlib import Path

from mailstore.conformance import FileHarness


class FolderHarness(FileHarness):
    """A mailbox below a folder."""

    _folder: Path

    def remove(self) -> None:
        self.path.replace(self._folder / "away")

    def restore(self) -> None:
        (self._folder / "away").replace(self.path)
