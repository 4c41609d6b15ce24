"""`signalbox map guess PATH`: propose a mapping for a custom mail format, with the evidence for it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from mailstore.kinds.mapped.guess import Choice, Guess, guess, look, toml
from mailstore.own_commands import AlignedRows, CommandAnswer, Program
from mailstore.records.message import Message, Problem
from mailstore.registry import recognised_kind, store_class

ACTIONS = {"guess": "Propose a mapping and print the evidence for it"}
MOST_PROBLEMS = 3


class FieldRow(msgspec.Struct, frozen=True):
    """Where a field of a message is taken from."""

    field: Annotated[str, "The field of the message."]
    origin: Annotated[str, "The field of the records that it is taken from; empty if none was found."]
    evidence: Annotated[str, "Why that one, in words."]
    others: Annotated[tuple[str, ...], "Other fields that could hold it."]
    is_sure: Annotated[bool, "Whether the evidence is enough."]


class MappedRow(msgspec.Struct, frozen=True):
    """A message as the guessed mapping gives it."""

    id: Annotated[str, "Its id."]
    sender: Annotated[str, "Who sent it."]
    recipients: Annotated[tuple[str, ...], "The addresses that it was sent to."]
    timestamp: Annotated[str, "When it was sent, as its record has it."]
    subject: Annotated[str, "Its subject."]
    thread: Annotated[str | None, "The id of the message that it answers; null if it begins a thread."]
    type: Annotated[str, "Its type; empty if it has none."]


class MappingRow(msgspec.Struct, frozen=True):
    """A guessed mapping."""

    toml: Annotated[str, "The mapping as a file, mapping.toml."]
    sampled: Annotated[int, "How many records it was guessed from."]
    fields: Annotated[list[FieldRow], "Where each field is taken from."]
    messages: Annotated[list[MappedRow], "The newest messages, as the mapping gives them."]
    problems: Annotated[int, "How many records are not messages by this mapping."]
    kind: Annotated[
        str, "The kind of mailbox that the path holds, which opens without a mapping; empty if it is none."
    ] = ""


ANSWERS = {MappingRow: ()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=ACTIONS, help="Propose a mapping; redirect the output to mapping.toml to keep it"
    )
    parser.add_argument("path", metavar="PATH", help="JSONL file, folder of JSON files, or SQLite database")


def run(args: argparse.Namespace, program: Program) -> CommandAnswer:
    """Return a usable mapping, then, as comments, the evidence and the messages it gives."""
    kind = recognised_kind(Path(args.path))
    guessed = guess(Path(args.path))
    text = toml(guessed)
    messages, problems = look(text)
    rows = [
        FieldRow(choice.field, _origin(choice), choice.evidence, choice.others, choice.is_sure)
        for choice in guessed.choices
    ]
    document = MappingRow(text, guessed.sampled, rows, [_row(message) for message in messages], len(problems), kind)
    lines: list[str | AlignedRows] = []
    if kind:
        lines.append(f"# This is {store_class(kind).called()}: signalbox open {kind}:{args.path} shows more of it")
    return CommandAnswer([*lines, *text.rstrip("\n").splitlines(), *_comments(guessed, messages, problems)], document)


def _comments(guessed: Guess, messages: list[Message], problems: list[Problem]) -> Iterator[str | AlignedRows]:
    kept = "Keep it as mapping.toml; then: signalbox --store mapped:mapping.toml"
    yield f"# Guessed from {guessed.sampled} records. {kept}"
    yield "#"
    cells = [(choice.field, _origin(choice), choice.evidence, ", ".join(choice.others)) for choice in guessed.choices]
    yield AlignedRows(cells, ("field", "source", "why", "alternatives"), "# ")
    for choice in guessed.choices:
        if not choice.is_sure:
            yield "#"
            if "constant" in choice.found:
                candidates = f"candidates: {', '.join(choice.others)}" if choice.others else "no candidates"
                yield f"# {choice.field} could not be guessed; {candidates}"
            else:
                yield f"# {choice.field} is uncertain: check that it is {_origin(choice)}"
    yield "#"
    if messages:
        shown = [
            (message.timestamp, message.sender, ", ".join(message.recipients), message.type, message.subject)
            for message in messages
        ]
        yield AlignedRows(shown, ("time", "sender", "recipients", "type", "subject"), "# ")
    else:
        yield "# No record becomes a message with this mapping"
    for problem in problems[:MOST_PROBLEMS]:
        yield f"# {problem.file}, line {problem.line}: {problem.reason}"
    if len(problems) > MOST_PROBLEMS:
        yield f"# and {len(problems) - MOST_PROBLEMS:,} more records that are not messages"


def _origin(choice: Choice) -> str:
    return "; ".join(str(value) if key == "path" else f"{key} {value}" for key, value in choice.found.items())


def _row(message: Message) -> MappedRow:
    return MappedRow(
        message.id, message.sender, message.recipients, message.timestamp, message.subject, message.thread, message.type
    )
