"""Schemas (JSON Schema 2020-12) of what commands print with `--json`, made from the types that they print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import UNSET, Struct
from msgspec.inspect import StructType, type_info
from msgspec.json import schema_components
from msgspec.structs import fields

from console.cli.document import JsonLines, JsonOutput
from console.cli.own_commands import all_commands, module_of
from console.settings.field_meanings import field_meanings

DIALECT = "https://json-schema.org/draft/2020-12/schema"
LINES = "Each line of the output is such a document."
NULL = {"type": "null"}
NOT_SET = " (null: not set)"


def outputs_of(command: str) -> tuple[JsonOutput[Any], ...]:
    """Return what a command prints with `--json`; nothing for one without that option. Imports its module."""
    outputs: tuple[JsonOutput[Any], ...] = getattr(module_of(command), "OUTPUTS", ())
    return outputs


def all_outputs() -> dict[str, tuple[JsonOutput[Any], ...]]:
    """Return the commands that print JSON, and what they print. Imports the modules of all commands."""
    return {name: outputs for name in all_commands() if (outputs := outputs_of(name))}


def schema_of(command: str, outputs: Sequence[JsonOutput[Any]]) -> dict[str, Any]:
    """Return the schema of one or more outputs of a command."""
    kinds, defined = schema_components([output.kind for output in outputs], ref_template="#/$defs/{name}")
    for model in structs_in(output.kind for output in outputs):
        _complete(defined[model.__name__], model)
    parts = [{"title": _title(command, output), **_about(output), **kind}
             for output, kind in zip(outputs, kinds, strict=True)]  # fmt: skip
    whole: dict[str, Any] = parts[0] if len(parts) == 1 else {"title": f"signalbox {command} --json", "anyOf": parts}
    return {"$schema": DIALECT, **whole, **({"$defs": defined} if defined else {})}


def _title(command: str, output: JsonOutput[Any]) -> str:
    actions = [word for word in output.when if not word.startswith("-")]
    options = [word for word in output.when if word.startswith("-")]
    how = options if any("json" in word for word in options) else [*options, "--json"]
    return " ".join(["signalbox", command, *(["|".join(actions)] if actions else []), *how])


def _about(output: JsonOutput[Any]) -> dict[str, str]:
    return {"description": LINES} if isinstance(output, JsonLines) else {}


def _complete(schema: dict[str, Any], model: type[Struct]) -> None:
    """Describe the fields, and require those that are always printed; reading would do without their defaults."""
    meanings = field_meanings(model)
    is_sparse = model.__struct_config__.omit_defaults
    required = []
    for field in fields(model):
        said = schema["properties"][field.encode_name]
        said.pop("default", None)
        is_left_out = field.default is UNSET or (is_sparse and not field.required)
        if not is_left_out:
            required.append(field.encode_name)
        elif field.default is None:
            _without_null(said)
        if meaning := meanings.get(field.name, ""):
            said["description"] = meaning if "null" in meaning or not _may_be_null(said) else f"{meaning}{NOT_SET}"
    schema["required"] = required


def _may_be_null(schema: dict[str, Any]) -> bool:
    return NULL in schema.get("anyOf", ())


def _without_null(schema: dict[str, Any]) -> None:
    """Remove null from what a field may be: where that is its value, the field is left out."""
    others = [each for each in schema.pop("anyOf") if each != NULL]
    schema.update(others[0] if len(others) == 1 else {"anyOf": others})


def structs_in(kinds: Iterable[Any]) -> list[type[Struct]]:
    """Return every struct that occurs in some types, once each."""
    structs: dict[type[Struct], None] = {}
    for kind in kinds:
        for model in _structs(type_info(kind), set()):
            structs[model] = None
    return list(structs)


def _structs(info: Any, seen: set[type]) -> Iterator[type[Struct]]:
    if isinstance(info, StructType):
        if info.cls in seen:
            return
        seen.add(info.cls)
        yield info.cls
        for field in info.fields:
            yield from _structs(field.type, seen)
        return
    for name in ("item_type", "key_type", "value_type"):
        if hasattr(info, name):
            yield from _structs(getattr(info, name), seen)
    for name in ("types", "item_types"):
        for inner in getattr(info, name, ()):
            yield from _structs(inner, seen)
    if hasattr(info, "type"):
        yield from _structs(info.type, seen)
