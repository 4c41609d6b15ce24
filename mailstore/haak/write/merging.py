"""Take records of other mailboxes into a HAAK mailbox that programs read and write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mailstore.errors import MailboxBusy, StoreError
from mailstore.files.append import appending
from mailstore.files.owned import make_folder
from mailstore.haak.archive.recovery import unfinished_runs
from mailstore.haak.places import MailboxFiles
from mailstore.haak.reader import Reader
from mailstore.haak.write.adopt import archive_month, file_of
from mailstore.haak.write.roster_writer import merge_into_document
from mailstore.haak_records.adopted import INCOMPLETE, adopted_record, is_whole
from mailstore.kit.json_records import encode_record
from mailstore.kit.known_records import KnownRecords
from mailstore.records.adopted import Adopted, AdoptedMessage, Merged, TurnedAway
from mailstore.records.message import Delivery, Intervention, Receipt
from mailstore.records.roster import Agent

ARCHIVED = -1


class HaakMerger:
    """Appends what a mailbox lacks; knows its records from reading along. One thread at a time."""

    def __init__(self, places: MailboxFiles) -> None:
        self._places = places
        self._reader = Reader(places)
        self._known: KnownRecords | None = None

    def merge(self, records: Sequence[Adopted]) -> Merged:
        """Write the records that are missing, all of them or none; agents in a document come first. Raises StoreError.

        Raises OSError too.
        """
        whole = [record for record in records if is_whole(record)]
        refused = tuple(TurnedAway(record, INCOMPLETE) for record in records if not is_whole(record))
        missing = self._read_along().missing(whole)
        written: list[Adopted] = []
        if self._has_document():
            agents = [record for record in missing if isinstance(record, Agent)]
            missing = [record for record in missing if not isinstance(record, Agent)]
            if agents:
                written += merge_into_document(self._places.roster_document, agents)
        if missing:
            written += self._append(missing)
        kept = set(map(id, written))
        return Merged(tuple(record for record in whole if id(record) not in kept), refused)

    def _has_document(self) -> bool:
        return self._places.roster_document.exists() and not self._places.roster_lines.exists()

    def _append(self, missing: list[Adopted]) -> list[Adopted]:
        places = self._places
        paths = sorted({_rank(record): file_of(places, record) for record in missing}.items())
        is_into_archive = paths[0][0][0] == ARCHIVED
        self._check_archive(is_into_archive)
        for _, path in paths:
            make_folder(path.parent, places.look())
        with appending([path for _, path in paths], places.look()) as append:
            self._check_archive(is_into_archive)
            known = self._read_along()
            missing = known.missing(missing)
            lines: dict[Path, list[bytes]] = {path: [] for _, path in paths}
            for record in missing:
                lines[file_of(places, record)].append(encode_record(adopted_record(record, known.roster)))
            if missing:
                append(list(lines.values()))
        return missing

    def _check_archive(self, is_needed: bool) -> None:
        """Refuse to write into the archive during an archival, which may cut its files back. Raises MailboxBusy."""
        if is_needed and unfinished_runs(self._places):
            raise MailboxBusy("an archival of the mailbox is running", "try again when it is done", "E381")

    def _read_along(self) -> KnownRecords:
        """Return what the mailbox has now. Raises StoreError, OSError."""
        if self._known is None:
            known = KnownRecords()
            for batch in self._reader.scan():
                known.take(batch)
            self._known = known
        for batch in self._reader.changes():
            self._known.take(batch)
        if not self._places.mailbox.exists():
            self._known = None
            self._reader.begin()
            raise StoreError(f"{self._places.mailbox} is gone", "check whether the mailbox was moved", "E294")
        return self._known


def _rank(record: Adopted) -> tuple[int, str]:
    """Return the rank of a record's file in the order of locking and writing: deliveries come before mail."""
    match record:
        case Agent():
            return 0, ""
        case Receipt():
            return 1, ""
        case Intervention():
            return 2, ""
        case Delivery():
            return 3, ""
        case AdoptedMessage(message=message) if month := archive_month(message):
            return ARCHIVED, month
    return 4, ""
