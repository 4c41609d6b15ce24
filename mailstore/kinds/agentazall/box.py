"""One box of one day: its message files with their stamps, newest first."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import islice
from pathlib import Path

from mailstore.files.folder import Folder
from mailstore.files.stamp import Stamp

LARGE = 2000
HEAD = 200
"""Number of files in a large box that are checked at every change; the others are checked now and then."""
FEW = 1000


class AgentBox:
    """The message files of a folder; a stamp covers the folder of a message's attachments too.

    `parts` are the files by their path from the root, newest first; `head` is the first of them. Not thread-safe.
    """

    def __init__(self, root: Path, name: str) -> None:
        self._folder = Folder(root / name, _is_kept)
        self._prefix = f"{name}/"
        self._entries: dict[str, Stamp] = {}
        self.parts: dict[str, Hashable] = {}
        self.head: dict[str, Hashable] = {}

    def look(self, *, closely: bool, wholly: bool) -> None:
        """Update the entries; `closely` checks the stamps of the newest files, `wholly` those of all."""
        is_large = len(self._entries) > LARGE
        before = self._entries
        try:
            found = self._folder.look(closely=wholly or (closely and not is_large))
        except OSError:
            # unreadable for us: treated as empty
            found = {}
        changed: list[str] = []
        if found is not before:
            changed = [name for name, stamp in found.items() if before.get(name) != stamp]
            changed += [name for name in before if name not in found]
        if closely and is_large:
            names = {part[len(self._prefix) :] for part in self.head}
            stamps = {name: found[name] for name in names if name in found}
            self._folder.look_at(names)
            changed += [name for name, stamp in stamps.items() if found[name] != stamp]
        self._entries = found
        if changed:
            self._take_in({name if name.endswith(".txt") else f"{name}.txt" for name in changed})

    def _take_in(self, changed: set[str]) -> None:
        """Put the changed files in front, or sort all of them if many changed."""
        is_few = len(changed) < FEW < len(self.parts)
        names: Iterable[str] = changed if is_few else (name for name in self._entries if name.endswith(".txt"))
        rows = sorted((name for name in names if name in self._entries), key=self._age)
        fresh = {self._prefix + name: self._stamp(name) for name in rows}
        if is_few:
            gone = {self._prefix + name for name in changed}
            fresh.update((part, stamp) for part, stamp in self.parts.items() if part not in gone)
        self.parts = fresh
        self.head = dict(islice(fresh.items(), HEAD))

    def _age(self, name: str) -> tuple[int, str]:
        return -self._entries[name].changed, name

    def _stamp(self, name: str) -> Hashable:
        stamp, beside = self._entries[name], self._entries.get(name[:-4])
        return (stamp, beside) if beside else stamp


def _is_kept(name: str) -> bool:
    """Return whether a name may be a message's or its attachment folder's."""
    return not (name.startswith(".") or name.endswith((".tmp", ".synced", ".ftp_synced")))
