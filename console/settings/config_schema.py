"""What config.toml can hold: as a JSON Schema, by which editors complete and check it, and as the file itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

from msgspec import NODEFAULT, Struct, to_builtins
from msgspec.json import schema_components
from msgspec.structs import FieldInfo, fields

from console.commands.table import COMMANDS
from console.settings.config import Config, whole_config
from console.settings.field_meanings import field_meanings, struct_in
from console.settings.toml_errors import in_toml

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NULL = {"type": "null"}
NAMED = {"keymap": '"search" = "f3"', "views": 'questions = "type:question is:unread"'}
"""Tables whose keys are the user's own, with an example of one."""


def config_schema() -> dict[str, Any]:
    """Return the schema; it names no other place in itself, so that simple readers can follow it."""
    schema = _table(whole_config())
    schema["properties"]["keymap"] |= {
        "properties": {
            command.id: {"type": "string", "description": command.help, "default": command.keys} for command in COMMANDS
        },
        "additionalProperties": False,
    }
    return {"$schema": DIALECT, "title": "Signalbox: config.toml", **schema}


def default_of(setting: FieldInfo) -> Any:
    """Return the default of a setting as TOML has it; None for one that must be set or is not."""
    if setting.default is not NODEFAULT:
        return to_builtins(setting.default)
    return None if setting.default_factory is NODEFAULT else to_builtins(setting.default_factory())


def _table(model: type[Struct]) -> dict[str, Any]:
    _, defined = schema_components([model], ref_template="{name}")
    schema = _resolved(defined[model.__name__], defined)
    meanings = field_meanings(model)
    for setting in fields(model):
        setting_schema = schema["properties"][setting.name]
        if table := struct_in(setting.type):
            setting_schema = _table(table)
        elif (inner := _listed(setting.type)) is not None:
            setting_schema |= {"items": _table(inner)}
        elif (default := default_of(setting)) is not None:
            setting_schema["default"] = default
        if setting.name in meanings:
            setting_schema["description"] = meanings[setting.name]
        schema["properties"][setting.name] = setting_schema
    return {key: value for key, value in schema.items() if key != "title" and value != []} | {
        "additionalProperties": False
    }


def _listed(kind: Any) -> type[Struct] | None:
    """Return the table of which there is a list."""
    plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    return struct_in(get_args(plain)[0]) if get_origin(plain) is list else None


def _resolved(value: Any, defined: dict[str, Any]) -> Any:
    """Return a part of a schema without references, and without null, which TOML doesn't have."""
    if isinstance(value, list):
        return [_resolved(each, defined) for each in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return _resolved(defined[value["$ref"]], defined)
    resolved = {key: _resolved(each, defined) for key, each in value.items() if not (key == "default" and each is None)}
    if NULL in resolved.get("anyOf", ()):
        others = [each for each in resolved.pop("anyOf") if each != NULL]
        resolved |= others[0] if len(others) == 1 else {"anyOf": others}
    return resolved


def settings_text(config: Config) -> str:
    """Return all settings with their meaning; those that have their default value are commented out."""
    return "\n".join([*_written(config, ()), ""])


def _written(values: Struct, name: tuple[str, ...]) -> Iterator[str]:
    tables: list[tuple[str, Any]] = []
    default = type(values)()
    meanings = field_meanings(type(values))
    if name:
        yield f"[{'.'.join(name)}]"
    for setting in fields(values):
        value = getattr(values, setting.name)
        if isinstance(value, list) and value and all(isinstance(each, Struct) for each in value):
            tables += [(setting.name, each) for each in value]
            continue
        if isinstance(value, Struct | dict):
            tables.append((setting.name, value))
            continue
        is_default = value == getattr(default, setting.name)
        if meaning := meanings.get(setting.name):
            yield f"# {meaning}"
        given = "(not set)" if value is None else in_toml(value)
        yield f"{'# ' if is_default else ''}{setting.name} = {given}"
    for key, value in tables:
        yield ""
        if isinstance(value, Struct):
            yield from [f"# {meanings[key]}"] if key in meanings else []
            yield from _written(value, (*name, key))
            continue
        yield f"# {meanings[key]}"
        yield f"[{'.'.join((*name, key))}]"
        yield from (f"{in_toml(each)} = {in_toml(what)}" for each, what in value.items())
        yield from [] if value else [f"# {NAMED[key]}"]
