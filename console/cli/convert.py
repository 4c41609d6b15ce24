"""`signalbox convert FROM TO`: copies a mailbox into another kind, and tells what could not be carried."""

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

import msgspec

from console.cli.document import put_json
from console.cli.options import json_option
from console.cli.plain import columns, put
from console.cli.problems import Refused
from console.cli.progress import Progress
from console.cli.settings import settings
from console.render.safe import visible_line
from mailstore.registry import KIND, open_store, store_class
from mailstore.store import Capability, Store
from mailstore.transfer.convert import ConvertReport, Loss, convert

SORTS = ("messages", "agents", "receipts", "deliveries", "interventions")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("source", metavar="FROM", help="the mailbox to copy: KIND:PATH, or a path")
    parser.add_argument("target", metavar="TO", help="KIND:FOLDER, a folder where nothing lies yet")
    parser.add_argument("--dry-run", action="store_true", help="tell what would be carried, and keep nothing")
    parser.add_argument("--strict", action="store_true", help="keep the copy only if everything is carried")
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Copy, compare, report; 1 where something was to be carried strictly and could not."""
    kind, folder = _target(args.target)
    if why := kind.capabilities.why_not(Capability.ADOPT):
        raise Refused(f"a {kind.kind} mailbox can't be made of another one", why)
    beside = folder.parent
    if not args.dry_run and not beside.is_dir():
        raise Refused(f"there is no folder {beside}", "make it first")
    with open_store(args.source, poll=settings().poll) as source:
        if args.dry_run:
            with tempfile.TemporaryDirectory(prefix="signalbox-") as passing:
                report = convert(source, _maker(kind, Path(passing) / "copy"), Progress())
        else:
            # made beside its place and put there whole: what ends suddenly leaves no half of a mailbox
            with _as_private(source.url), _passing(folder) as made:
                report = convert(source, _maker(kind, made), Progress())
                if not (args.strict and report.losses):
                    made.rename(folder)
    is_kept = not args.dry_run and not (args.strict and report.losses)
    url = ""
    if is_kept:
        with open_store(f"{kind.kind}:{folder}") as store:
            url = store.url
    if args.json:
        put_json({**msgspec.to_builtins(report), "url": url, "dry_run": args.dry_run})
    else:
        _print(report, url, is_strict=args.strict)
    return int(bool(args.strict and report.losses))


@contextmanager
def _as_private(url: str) -> Iterator[None]:
    """Let nobody read what is made who can't read the mailbox that a URL names."""
    before = os.umask(0o077)
    try:
        with suppress(OSError):
            mode = os.stat(url.partition(":")[2]).st_mode  # noqa: PTH116 - a URL's rest is text
            os.umask(
                before | (0 if mode & stat.S_IRGRP else stat.S_IRWXG) | (0 if mode & stat.S_IROTH else stat.S_IRWXO)
            )
        yield
    finally:
        os.umask(before)


@contextmanager
def _passing(folder: Path) -> Iterator[Path]:
    """Give an empty folder beside another one, and take it away again; what a sudden end left there goes first."""
    passing = folder.with_name(f".{folder.name}.signalbox-new")
    passing.mkdir(exist_ok=True)
    fd = os.open(passing, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for path in passing.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        try:
            yield passing
        finally:
            shutil.rmtree(passing, ignore_errors=True)
    except BlockingIOError as error:
        raise Refused(f"a copy to {folder} is being made", "wait until it is done") from error
    finally:
        os.close(fd)


def _target(text: str) -> tuple[type[Store], Path]:
    kind, colon, rest = text.partition(":")
    if not colon or not KIND.fullmatch(kind) or not rest:
        raise Refused(f"{text!r} does not say which kind of mailbox to make", "write KIND:FOLDER, as in haak:copy")
    folder = Path(rest).expanduser().absolute()
    if folder.is_dir() and not any(folder.iterdir()):
        return store_class(kind), folder
    if folder.exists() or folder.is_symlink():
        raise Refused(f"something is at {folder} already", "name a folder where nothing lies yet")
    return store_class(kind), folder


def _maker(kind: type[Store], folder: Path) -> Callable[[], Store]:
    def make() -> Store:
        folder.mkdir(exist_ok=True)
        return kind.create(folder)

    return make


def _table(title: str, rows: tuple[Loss, ...]) -> None:
    cells = [
        (row.field, f"{row.number:,}", visible_line(row.before), visible_line(row.after), ", ".join(row.examples))
        for row in rows
    ]
    put("")
    put(title)
    put(columns(cells, ("what", "records", "was", "is", "such as")))
    put("")


def _print(report: ConvertReport, url: str, *, is_strict: bool) -> None:
    for sort in SORTS:
        compared = getattr(report, sort)
        others = f" (and {compared.others:,} that the copy tells of by itself)" if compared.others else ""
        if compared.there or others:
            put(f"{compared.copied:,} of {compared.there:,} {sort}{others}")
    if report.losses:
        _table("not carried, or otherwise than it was:", report.losses)
    if report.changes:
        _table("the same in another form:", report.changes)
    if not report.losses:
        put("everything is carried")
    if url:
        put(f"the copy: {visible_line(url)}")
    elif report.losses and is_strict:
        put("nothing was kept: leave --strict out to keep the copy all the same")
