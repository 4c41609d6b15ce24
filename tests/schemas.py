"""What commands print with `--json`, held to the schemas that the program says they follow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import jsonschema

from console.cli.document import JsonLines
from console.cli.own_commands import all_commands
from console.cli.schemas import outputs_of, schema_of

MOST = 20
"""How many rows of a long list are looked at."""


def strict(schema: Any) -> Any:
    """Return a schema by which an object may have no field but those it names."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(value) for key, value in schema.items()}
    if isinstance(found.get("properties"), dict) and "type" in found:
        found["additionalProperties"] = False
    return found


@cache
def _validator(command: str) -> jsonschema.Draft202012Validator | None:
    outputs = outputs_of(command)
    return jsonschema.Draft202012Validator(strict(schema_of(command, outputs))) if outputs else None


def faults_in(command: str, document: Any) -> list[str]:
    """Return what in a document the schema of a command doesn't allow."""
    validator = _validator(command)
    if validator is None:
        return [f"{command} has no schema"]
    shown = document[:MOST] if isinstance(document, list) else document
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(shown)]


def check_output(words: Sequence[str], out: str) -> None:
    """Fail if what a command has printed with `--json` is not what its schema says."""
    command = next((word for word in words if word in all_commands()), "")
    form = words[words.index("--format") + 1] if "--format" in words else "json"
    is_json = "--json" in words or (command == "export" and form in ("json", "jsonl") and out.startswith("{"))
    if not is_json or not command or not out.strip() or "--help" in words:
        return
    if any(isinstance(output, JsonLines) for output in outputs_of(command)) and not out.startswith("{\n"):
        documents = [json.loads(line) for line in out.splitlines()]
    else:
        documents = [json.loads(out)]
    faults = [fault for document in documents for fault in faults_in(command, document)]
    assert not faults, f"signalbox {' '.join(words)}: {faults[:5]}"
