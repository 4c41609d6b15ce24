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
    found = list(fitting(words))
    if not found:
        raise Refused(f'no error is "{words}"', "give its code, or some words of its message", "E254")
    if args.json:
        EXPLAINED.put(found)
        return 0
    for each in found[:MOST]:
        put(f"{bold(each.message)}{f' ({each.code})' if each.code else ''}")
        put(f"  why: {each.cause}")
        put(f"  fix: {each.remedy}\n")
    if len(found) > MOST:
        put(f"{len(found) - MOST} more have these words: give more of them")
    return 0


def fitting(words: str) -> Iterator[Explanation]:
    """Yield the explanations of a code; of the whole message, before those that only have the words."""
    every = explanations()
    if CODE.fullmatch(words):
        yield from (each for each in every if each.code == words.upper())
        return
    whole = [each for each in every if _pattern(each.message).match(words)]
    yield from sorted(whole, key=lambda each: -len(NAMES.sub("", each.message)))
    wanted = words.casefold().split()
    some = (each for each in every if all(word in f"{each.message} {each.cause}".casefold() for word in wanted))
    yield from (each for each in some if each not in whole)


def explanations() -> list[Explanation]:
    """Return all explanations."""
    text = read_text(Path(__file__).with_name(TABLE))
    return [Explanation(*line.split("\t")) for line in text.splitlines()]


def _pattern(message: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in NAMES.split(message)]
    return re.compile(".+?".join(parts), re.IGNORECASE | re.DOTALL)
