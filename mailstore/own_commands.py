"""The commands of its own that a kind of mailbox has: the kind says what they take and answer, a program does the rest.

A `StoreKind` lists them by name, with a summary and the module of each, which has

    def add_arguments(parser): ...              # an argparse.ArgumentParser
    def run(args, program): ...                 # returns a CommandAnswer

and may have

    ACTIONS = {"guess": "Propose a mapping"}    # words that come first, with what each does
    STATUSES = {1: "an account fails"}          # exit statuses that mean more than an error
    ANSWERS = {Guessed: ("guess",)}             # the Structs that --json prints, each with the words that lead to it
    USES_MAILBOX = True                         # whether it takes the options that choose a mailbox

The program parses, prints, completes and documents the command. It adds `--json` where there are ANSWERS, makes all
that is printed safe for a terminal, and words errors as its own commands do.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from msgspec import Struct

from mailstore.errors import MailError
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store


class WrongArguments(MailError):
    """The arguments of a command are invalid."""

    status = 2


class AlignedRows(NamedTuple):
    """Rows to be aligned under headings; `before` begins each line."""

    rows: Sequence[Sequence[str]]
    headings: Sequence[str]
    before: str = ""


class CommandAnswer(NamedTuple):
    """What a command says at its end: lines, or with --json the document, if there is one; and its exit status."""

    lines: Sequence[str | AlignedRows] = ()
    document: Struct | None = None
    status: int = 0


class Program(Protocol):
    """What a command may ask of the program that runs it. Its methods may be called from any thread."""

    @property
    def mailbox_url(self) -> str:
        """Return the mailbox that is meant where none is named: the user's, or the nearest one. Raises MailError."""

    def mailbox(self) -> AbstractContextManager[tuple[Store, Mailbox]]:
        """Open and fold the mailbox that the options choose. Raises MailError."""

    def say(self, words: str) -> None:
        """Print a line at once."""

    def tell(self, problem: str, remedy: str = "") -> None:
        """Tell of a problem that does not end the command."""

    def warn(self, words: str) -> None:
        """Tell of something that may not be as it was meant."""

    def show_status(self, words: str) -> None:
        """Show at a terminal how things stand, in place of what was shown before; nothing: remove that."""
