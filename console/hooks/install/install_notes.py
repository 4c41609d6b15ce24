"""What `hook install` remembers of each file that it changed, so that `hook uninstall` restores it exactly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b, sha256
from pathlib import Path

from console.hooks.install.text_edits import Edit, edited
from console.hooks.state_folder import state_home
from mailstore.files.append import replace_file
from mailstore.files.whole import open_binary

LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Note:
    """How a file was before it was changed, and what was done to it."""

    path: str
    programs: tuple[str, ...]
    was_there: bool
    """Whether there was a file before."""
    after: str = ""
    """The digest of the file as it was left: while it is still that, the edits below restore it."""
    undo: tuple[tuple[int, int, str], ...] = ()
    rules: tuple[str, ...] = ()
    """The permission rules that were added."""
    folders: tuple[str, ...] = ()
    """The folders that were made for the file."""
    lines: tuple[str, ...] = ()
    """The lines that were added to a list of files that git ignores."""

    def restored(self, text: str) -> str | None:
        """Return the text as it was; None if the file has changed since."""
        if digest(text) != self.after:
            return None
        return edited(text, (Edit(*each) for each in self.undo))

    def without(self, program: str) -> Note:
        """Return the note of a file that a program no longer uses."""
        return replace(self, programs=tuple(each for each in self.programs if each != program))


def digest(text: str) -> str:
    """Return the digest of a file's text."""
    return sha256(text.encode()).hexdigest()


def note_of(path: Path) -> Note | None:
    """Return what is remembered of a file; None if nothing is, or if the note is damaged."""
    return _read(_place(path), str(path))


def notes() -> list[Note]:
    """Return what is remembered of all files."""
    try:
        places = sorted(_folder().glob("*.json"))
    except OSError:
        return []
    return [note for place in places if (note := _read(place, None))]


def remember(note: Note) -> None:
    """Write down what was done to a file. Raises StoreError and OSError."""
    place = _place(Path(note.path))
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(place, json.dumps(asdict(note)).encode())


def forget(path: Path) -> None:
    """Remove the note of a file. Raises OSError."""
    _place(path).unlink(missing_ok=True)


def _folder() -> Path:
    return Path(state_home()) / "hook-installs"


def _place(path: Path) -> Path:
    return _folder() / f"{blake2b(str(path).encode('utf-8', 'surrogateescape'), digest_size=12).hexdigest()}.json"


def _read(place: Path, path: str | None) -> Note | None:
    try:
        with open_binary(place) as file:
            decoded = json.loads(file.read(LONGEST))
        edits = tuple((int(start), int(end), str(text)) for start, end, text in decoded["undo"])
        note = Note(
            path=str(decoded["path"]),
            programs=_texts(decoded["programs"]),
            was_there=bool(decoded["was_there"]),
            after=str(decoded["after"]),
            undo=edits,
            rules=_texts(decoded["rules"]),
            folders=_texts(decoded["folders"]),
            lines=_texts(decoded["lines"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return note if path in (None, note.path) else None


def _texts(found: Sequence[object]) -> tuple[str, ...]:
    return tuple(str(each) for each in found)
