"""What Signalbox may know of notes before one is read: hooks import this, so it imports nothing else."""

from __future__ import annotations

from mailstore.installed_kinds import OwnCommand, StoreKind

KIND = StoreKind(
    "signalbox_notes.store:NotesStore",
    places=("mail.notes",),
    commands=(OwnCommand("notes", "Count what each agent wrote into a folder of notes", "signalbox_notes.command"),),
    quick="signalbox_notes.quick:ANSWERS",
)
