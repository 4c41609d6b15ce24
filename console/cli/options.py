"""Define the options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def json_option(parser: argparse.ArgumentParser, help: str = "Print one JSON document and nothing else") -> None:  # noqa: A002
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help=help)


def mailbox_options(parser: argparse.ArgumentParser, *, json: bool = True, at: bool = True) -> None:
    """Add the options that choose the mailbox: `--store` and `--poll`, and on request `--at` and `--json`."""
    parser.add_argument("--store", metavar="URL", help="Mailbox: KIND:PATH, a path, or KIND://HOST/NAME")
    parser.add_argument("--poll", action="store_true", help="Poll for changes")
    if at:
        parser.add_argument("--at", metavar="TIME", help="Show the mailbox as it was at TIME; read-only")
    if json:
        json_option(parser)


def reader_option(parser: argparse.ArgumentParser, help: str, *, required: bool = False) -> None:  # noqa: A002
    """Add `--as ID`, stored as `reader`."""
    parser.add_argument("--as", dest="reader", metavar="ID", required=required, help=help)


def type_option(parser: argparse.ArgumentParser, help: str) -> None:  # noqa: A002
    """Add `--type T`, which is repeatable."""
    parser.add_argument("--type", action="append", metavar="T", help=help)
