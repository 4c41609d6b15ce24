"""The mechanisms that make a store short: `from mailstore.kit import PartReader, WatchedStore, read_whole`.

Following      `WatchedStore` over a `PartReader` (files that are read whole) or a `RecordReader` (a database)
Bodies         `first_line`, `mentions`
Time stamps    `parse_time`, `time_of`, `isoformat`, `written_time`, `utc`
Patterns       `is_match`
Locations      `path_of`, `without_secrets`, `is_found`, `found_at`, `read_located`
Reading        `read_whole`, `Folder`, `Stamp`, `LineFile`, `salvage`, `loads`, `read_database`
Writing        `append_line`, `append_all`, `replace_file`, `Pending`, `locked`, `encode_record`, `safe_name`
Watching       `wakeups`, where `WatchedStore` does not fit
Errors         `reason_of`, `unreadable`, `refusal`

What is not named here may change without notice. Names are imported when they are used, because a command that runs
before every prompt of an agent can't afford the others. `docs/writing-a-store.md` shows them at work.
"""

from __future__ import annotations

_MODULES = {
    "encoding": "encodable is_encodable shown_name",
    "errors": "reason_of",
    "files.append": "append_all append_line append_lines locked refusal replace_file",
    "files.database": "DatabaseStamp Unreadable database_stamp is_database is_replaced may_have_changed read_database",
    "files.durable": "Pending",
    "files.folder": "Folder Stamp is_fresh path_stamp stamp_of",
    "files.lines": "Line LineFile Replaced",
    "files.naming": "safe_name",
    "files.owned": "look_of make_folder",
    "files.salvage": "UNREADABLE Fault Piece loads salvage",
    "files.watch": "wakeups",
    "files.whole": "NotAFile read_whole",
    "kit.bodies": "first_line mentions",
    "kit.json_records": "encode_record",
    "kit.locating": "found_at is_found read_located unreadable",
    "kit.part_reader": "PartReader PartSource is_settled",
    "kit.patterns": "is_match",
    "kit.record_reader": "NOTHING RecordEvents RecordMap RecordReader RecordSource",
    "kit.timestamps": "isoformat parse_time time_of utc written_time",
    "kit.watched_store": "EventReader WatchedStore",
    "location": "path_of without_secrets",
}
"""The public names, by the module below `mailstore` that each is defined in."""
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    attribute = globals()[name] = getattr(import_module(f"mailstore.{_HOMES[name]}"), name)
    return attribute
