"""The options that several commands share, worded once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["json_option", "mailbox_options", "reader_option", "type_option"]


def json_option(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")


def mailbox_options(parser: argparse.ArgumentParser, *, json: bool = True, at: bool = True) -> None:
    """Add the choice of the mailbox: `--store`, `--poll` and `--at`, and `--json` where the command prints."""
    parser.add_argument("--store", metavar="URL", help="the mailbox: KIND:PATH, or a path")
    parser.add_argument("--poll", action="store_true", help="look for changes by polling")
    if at:
        parser.add_argument("--at", metavar="TIME", help="the mailbox as it stood then; nothing can be written")
    if json:
        json_option(parser)


def reader_option(parser: argparse.ArgumentParser, help: str, *, required: bool = False) -> None:  # noqa: A002
    """Add `--as ID`, kept under the name `reader`."""
    parser.add_argument("--as", dest="reader", metavar="ID", required=required, help=help)


def type_option(parser: argparse.ArgumentParser, help: str) -> None:  # noqa: A002
    """Add `--type T`, which may be given several times."""
    parser.add_argument("--type", action="append", metavar="T", help=help)
