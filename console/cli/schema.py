"""`signalbox schema [COMMAND]`: what commands print with `--json`, as a JSON Schema."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from typing import Any

from console.cli.document import JsonLines, JsonOutput, put_schema
from console.cli.own_commands import all_commands
from console.cli.plain import columns, put
from console.cli.schemas import all_outputs, outputs_of, schema_of
from console.errors import UsedWrongly

LIST = "signalbox schema lists the commands that print JSON"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="COMMAND", help="Command whose schema to print (default: list them)")
    parser.add_argument("part", nargs="?", metavar="ACTION", help="Only what this action of the command prints")


def run(args: argparse.Namespace) -> int:
    """Print the schema of one command's output, or a row for each command."""
    if args.name is None:
        rows = [
            (name, action, *_kind(output))
            for name, outputs in all_outputs().items()
            for output in outputs
            for action in output.when or ("",)
        ]
        put(columns(rows, ("command", "with", "prints", "of")))
        return 0
    put_schema(schema_of(args.name, _chosen(args.name, args.part)))
    return 0


def _chosen(name: str, action: str | None) -> tuple[JsonOutput[Any], ...]:
    """Return what a command prints, or an action of it. Raises UsedWrongly for what prints no JSON."""
    if name not in (known := all_commands()):
        near = get_close_matches(name.lower(), known, n=1)
        raise UsedWrongly(f'unknown command "{name}"', f"did you mean {near[0]}?" if near else LIST, "E123")
    if not (outputs := outputs_of(name)):
        raise UsedWrongly(f"{name} prints no JSON", LIST, "E124")
    of_action = tuple(output for output in outputs if action is None or action in output.when)
    if not of_action:
        words = ", ".join(word for output in outputs for word in output.when)
        raise UsedWrongly(f'"{action}" is not an action of {name}', f"use {words}" if words else "leave it out", "E125")
    return of_action


def _kind(output: JsonOutput[Any]) -> tuple[str, str]:
    (kind,) = getattr(output.kind, "__args__", None) or (output.kind,)
    form = "lines" if isinstance(output, JsonLines) else "a list" if kind is not output.kind else "a document"
    return form, "text" if kind is str else kind.__name__
