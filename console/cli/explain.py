"""`signalbox explain CODE|WORDS`: why an error comes, and what to do about it.

The explanations are those of docs/troubleshooting.md, in a table that is made with it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from console.cli.document import JsonOutput
from console.cli.options import json_option
from console.cli.plain import bold, put
from console.errors import Refused
from mailstore.files.whole import read_text

TABLE = "explanations.tsv"
"""Code, message, cause and remedy, with tabs between them; names in capitals stand for what a message names."""
NAMES = re.compile(r"\b[A-Z][A-Z]+(?: [A-Z][A-Z]+)*\b")
CODE = re.compile(r"[Ee]\d{3}")
MOST = 5
STATUSES = {1: "no error has that code, or those words"}


class Explanation(Struct, frozen=True):
    """An error: its message, why it comes, and what to do about it."""

    code: Annotated[str, "Its code, such as E103; empty where it has none."]
    message: Annotated[str, "The message, with words in capitals for what it names."]
    cause: Annotated[str, "Why it comes."]
    remedy: Annotated[str, "What to do about it."]


EXPLAINED = JsonOutput(list[Explanation])
OUTPUTS = (EXPLAINED,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words", nargs="+", metavar="CODE|WORDS", help="A code such as E103, or the message or words of it"
    )
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the explanations that fit, the best first. Raises Refused if there is none."""
    words = " ".join(args.words).strip().removeprefix("signalbox: ")
    fits = list(fitting(words))
    if not fits:
        raise Refused(f'no error is "{words}"', "give its code, or some words of its message", "E254")
    if args.json:
        EXPLAINED.put(fits)
        return 0
    for explanation in fits[:MOST]:
        put(f"{bold(explanation.message)}{f' ({explanation.code})' if explanation.code else ''}")
        put(f"  why: {explanation.cause}")
        put(f"  fix: {explanation.remedy}\n")
    if len(fits) > MOST:
        put(f"{len(fits) - MOST} more have these words: give more of them")
    return 0


def fitting(words: str) -> Iterator[Explanation]:
    """Yield the explanations of a code; of the whole message, before those that only have the words."""
    every = explanations()
    if CODE.fullmatch(words):
        yield from (explanation for explanation in every if explanation.code == words.upper())
        return
    whole = [explanation for explanation in every if _pattern(explanation.message).match(words)]
    yield from sorted(whole, key=lambda explanation: -len(NAMES.sub("", explanation.message)))
    wanted = words.casefold().split()
    some = (
        explanation
        for explanation in every
        if all(word in f"{explanation.message} {explanation.cause}".casefold() for word in wanted)
    )
    yield from (explanation for explanation in some if explanation not in whole)


def explanations() -> list[Explanation]:
    """Return all explanations."""
    text = read_text(Path(__file__).with_name(TABLE))
    return [Explanation(*line.split("\t")) for line in text.splitlines()]


def _pattern(message: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in NAMES.split(message)]
    return re.compile(".+?".join(parts), re.IGNORECASE | re.DOTALL)
