"""`signalbox convert FROM TO`: copy a mailbox into another kind and report what could not be copied."""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import msgspec

from console.cli.document import JsonOutput
from console.cli.options import json_option
from console.cli.plain import columns, put
from console.cli.progress import ProgressLine
from console.cli.settings import settings
from console.errors import Refused
from console.render.safe import visible_line
from mailstore.location import path_in, without_secrets
from mailstore.registry import kind_and_location, open_store, store_class
from mailstore.store import Capability, Store
from mailstore.transfer.convert import ConvertReport, Loss, convert


class ConvertedRow(ConvertReport, frozen=True):
    """What a copy has of the source, what was lost, and what has another form."""

    dry_run: Annotated[bool, "Whether the copy was made only to be compared."] = False


COPIED = JsonOutput(ConvertedRow)
OUTPUTS = (COPIED,)

SORTS = ("messages", "agents", "receipts", "deliveries", "interventions")

STATUSES = {1: "with --strict: something would be lost, and no copy was kept"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="FROM", help="Mailbox to copy: KIND:PATH or a path")
    parser.add_argument("target", metavar="TO", help="KIND:FOLDER, a new or empty folder")
    parser.add_argument("--dry-run", action="store_true", help="Report what would be copied without keeping the copy")
    parser.add_argument("--strict", action="store_true", help="Keep the copy only if nothing is lost")
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Copy, compare and report; return 1 if `--strict` is set and something was lost."""
    kind, folder = _target(args.target)
    if why := kind.declared.why_not(Capability.ADOPT):
        raise Refused(f"a {kind.kind} mailbox can't be made from another one", why, "E202")
    beside = folder.parent
    if not args.dry_run and not beside.is_dir():
        raise Refused(f"no folder {beside}", "create it first", "E203")
    with open_store(args.source, poll=settings().poll) as source:
        if args.dry_run:
            with tempfile.TemporaryDirectory(prefix="signalbox-") as temporary:
                report = convert(source, _maker(kind, Path(temporary) / "copy"), ProgressLine())
        else:
            # made beside its destination and renamed: a crash leaves no partial mailbox
            with _as_private(source.url), _temporary(folder) as made:
                report = convert(source, _maker(kind, made), ProgressLine())
                if not (args.strict and report.losses):
                    made.rename(folder)
    is_kept = not args.dry_run and not (args.strict and report.losses)
    url = ""
    if is_kept:
        with open_store(f"{kind.kind}:{folder}") as store:
            url = store.url
    if args.json:
        COPIED.put(ConvertedRow(**{**msgspec.structs.asdict(report), "url": url}, dry_run=args.dry_run))
    else:
        _print(report, url, is_strict=args.strict)
    return int(bool(args.strict and report.losses))


@contextmanager
def _as_private(url: str) -> Iterator[None]:
    """Set the umask so that the copy is readable only for those who can read the source."""
    before = os.umask(0o077)
    try:
        path = path_in(url) or Path("/nowhere")
        with suppress(OSError):
            mode = path.stat().st_mode
            os.umask(
                before | (0 if mode & stat.S_IRGRP else stat.S_IRWXG) | (0 if mode & stat.S_IROTH else stat.S_IRWXO)
            )
        yield
    finally:
        os.umask(before)


@contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    """Provide an empty temporary folder beside another one; remove what a crash left there, and itself at the end."""
    temporary = folder.with_name(f".{folder.name}.signalbox-new")
    temporary.mkdir(exist_ok=True)
    fd = os.open(temporary, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for path in temporary.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except BlockingIOError as error:
        raise Refused(f"another copy to {folder} is in progress", "wait until it is done", "E206") from error
    finally:
        os.close(fd)


def _target(text: str) -> tuple[type[Store], Path]:
    kind, rest = kind_and_location(text)
    if not kind or not rest:
        raise Refused(
            f'"{without_secrets(text)}" names no kind of mailbox', "write KIND:FOLDER, for example haak:copy", "E151"
        )
    if rest.startswith("//"):
        raise Refused(f"{without_secrets(text)} is on a server", "fill it with signalbox mirror FROM TO --once", "E204")
    folder = Path(rest).expanduser().absolute()
    if folder.is_dir() and not any(folder.iterdir()):
        return store_class(kind), folder
    if folder.exists() or folder.is_symlink():
        raise Refused(f"{folder} already exists", "choose a new or empty folder", "E205")
    return store_class(kind), folder


def _maker(kind: type[Store], folder: Path) -> Callable[[], Store]:
    def make() -> Store:
        folder.mkdir(exist_ok=True)
        return kind.create(str(folder))

    return make


def _table(title: str, rows: tuple[Loss, ...]) -> None:
    cells = [
        (row.field, f"{row.number:,}", visible_line(row.before), visible_line(row.after), ", ".join(row.examples))
        for row in rows
    ]
    put("")
    put(title)
    put(columns(cells, ("what", "records", "source", "copy", "examples")))
    put("")


def _print(report: ConvertReport, url: str, *, is_strict: bool) -> None:
    for sort in SORTS:
        compared = getattr(report, sort)
        others = f" (and {compared.others:,} that only the copy has)" if compared.others else ""
        if compared.there or others:
            put(f"{compared.copied:,} of {compared.there:,} {sort}{others}")
    if report.losses:
        _table("Not copied, or changed:", report.losses)
    if report.changes:
        _table("Same content in another form:", report.changes)
    if not report.losses:
        put("Everything was copied")
    if url:
        put(f"Copy: {visible_line(url)}")
    elif report.losses and is_strict:
        put("Nothing was kept. Without --strict the copy is kept anyway")
