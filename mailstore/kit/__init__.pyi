from mailstore.encoding import encodable, is_encodable, shown_name
from mailstore.errors import reason_of
from mailstore.files.append import append_all, append_line, append_lines, locked, refusal, replace_file
from mailstore.files.database import (
    DatabaseStamp,
    Unreadable,
    database_stamp,
    is_database,
    is_replaced,
    may_have_changed,
    read_database,
)
from mailstore.files.durable import Pending
from mailstore.files.folder import Folder, Stamp, is_fresh, path_stamp, stamp_of
from mailstore.files.lines import Line, LineFile, Replaced
from mailstore.files.naming import safe_name
from mailstore.files.owned import look_of, make_folder
from mailstore.files.salvage import UNREADABLE, Fault, Piece, loads, salvage
from mailstore.files.watch import wakeups
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.json_records import encode_record
from mailstore.kit.locating import found_at, is_found, read_located, unreadable
from mailstore.kit.part_reader import PartReader, PartSource, is_settled
from mailstore.kit.patterns import is_match
from mailstore.kit.record_reader import NOTHING, RecordEvents, RecordMap, RecordReader, RecordSource
from mailstore.kit.timestamps import isoformat, parse_time, time_of, utc, written_time
from mailstore.kit.watched_store import EventReader, WatchedStore
from mailstore.location import path_of, without_secrets

__all__ = [
    "NOTHING",
    "UNREADABLE",
    "DatabaseStamp",
    "EventReader",
    "Fault",
    "Folder",
    "Line",
    "LineFile",
    "NotAFile",
    "PartReader",
    "PartSource",
    "Pending",
    "Piece",
    "RecordEvents",
    "RecordMap",
    "RecordReader",
    "RecordSource",
    "Replaced",
    "Stamp",
    "Unreadable",
    "WatchedStore",
    "append_all",
    "append_line",
    "append_lines",
    "database_stamp",
    "encodable",
    "encode_record",
    "first_line",
    "found_at",
    "is_database",
    "is_encodable",
    "is_found",
    "is_fresh",
    "is_match",
    "is_replaced",
    "is_settled",
    "isoformat",
    "loads",
    "locked",
    "look_of",
    "make_folder",
    "may_have_changed",
    "mentions",
    "parse_time",
    "path_of",
    "path_stamp",
    "read_database",
    "read_located",
    "read_whole",
    "reason_of",
    "refusal",
    "replace_file",
    "safe_name",
    "salvage",
    "shown_name",
    "stamp_of",
    "time_of",
    "unreadable",
    "utc",
    "wakeups",
    "without_secrets",
    "written_time",
]
