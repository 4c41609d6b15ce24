"""`signalbox attachments MSG`: list the files attached to a message, or save them."""

from __future__ import annotations

import argparse
from pathlib import Path

from console.cli.document import JsonOutput
from console.cli.loading import Loaded, find_message, loaded
from console.cli.options import mailbox_options
from console.cli.output import AttachmentRow
from console.cli.plain import columns, put
from console.errors import Refused, UsedWrongly
from console.render.safe import visible_line
from console.render.short_text import size_words
from mailstore.records.details import AttachedFile
from mailstore.records.message import Message

ROWS = JsonOutput(list[AttachmentRow])
OUTPUTS = (ROWS,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", metavar="MSG", help="Id of the message, or the start of it")
    parser.add_argument("names", nargs="*", metavar="NAME", help="Only these files (default: all)")
    parser.add_argument("--save", metavar="DIR", help="Save the files in this folder; none there is replaced")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print a row for each file, or save the files and print where."""
    folder = None if args.save is None else Path(args.save).expanduser()
    if folder is not None and not folder.is_dir():
        raise UsedWrongly(f'"{args.save}" is not a folder', "make it, or name another", "E168")
    with loaded(args) as mail:
        message = find_message(mail.mailbox, args.message)
        places = mail.mailbox.places(message.id)
        files = _chosen(list(mail.store.attachments(message, places)), args.names)
        rows = [_row(file, "" if folder is None else _saved(mail, message, file, folder, places)) for file in files]
    if args.json:
        ROWS.put(rows)
    elif folder is not None:
        for row in rows:
            put(visible_line(row.saved or f"{row.name}: not saved: {row.problem}"))
    elif rows:
        cells = [(row.name, row.problem if row.size is None else size_words(row.size)) for row in rows]
        put(columns(cells, ("file", "size")))
    else:
        put("No files are attached to this message")
    return int(folder is not None and any(row.problem for row in rows))


def _chosen(files: list[AttachedFile], names: list[str]) -> list[AttachedFile]:
    """Return the files with these names, or all. Raises Refused for a name that no file has."""
    known = {file.name for file in files}
    if missing := [name for name in names if name not in known]:
        there = ", ".join(sorted(known)) or "none"
        raise Refused(f'no file "{missing[0]}" is attached to this message', f"there are: {there}", "E169")
    return [file for file in files if not names or file.name in names]


def _saved(mail: Loaded, message: Message, file: AttachedFile, folder: Path, places: tuple[str, ...]) -> str:
    """Save a file and return where; empty if it can't be read. Raises Refused, ContentGone."""
    if file.size is None:
        return ""
    from console.opening import save_attachment

    return str(save_attachment(mail.store, message, file.name, folder, places))


def _row(file: AttachedFile, saved: str) -> AttachmentRow:
    return AttachmentRow(file.name, file.size, file.problem, saved)
