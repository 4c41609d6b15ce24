"""One setting by its name: what holds, where it comes from, and changing it in the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from msgspec import Struct
from msgspec.structs import asdict, fields

from console.errors import Refused
from console.settings.config import Config, config_file, whole_config
from console.settings.config_check import problems_of
from console.settings.config_edit import UneditableSettings, as_typed, edited, removed, split_key
from console.settings.config_file import config_in, load_config, locked_settings, place_of
from console.settings.field_meanings import struct_in
from console.settings.toml_errors import InvalidToml, read_toml
from mailstore.encoding import is_encodable
from mailstore.errors import reason_of
from mailstore.files.append import replace_file
from mailstore.files.whole import read_text

VARIABLES = {"store": "SIGNALBOX_STORE"}
"""What goes before the file, in the environment."""
DEFAULTS = whole_config()()
TABLES = {name for name, value in asdict(DEFAULTS).items() if isinstance(value, Struct | dict)}


class SettingValue(Struct, frozen=True):
    """One setting."""

    name: Annotated[str, "Its name, after that of its table and a dot."]
    value: Annotated[
        bool | int | float | str | list[str] | dict[str, str] | None, "What holds now; null if nothing is set."
    ]
    source: Annotated[str, "Where that comes from: a line of the file, a variable of the environment, or `default`."]
    default: Annotated[
        bool | int | float | str | list[str] | dict[str, str] | None, "What holds where nothing else is set."
    ]


def setting(key: str) -> SettingValue:
    """Return a setting as it holds now, and where it comes from. Raises Refused if there is none by that name."""
    table, name = _split(key)
    value = _setting(load_config(model=whole_config()).config, _written(), key, table, name)
    if value is None:
        raise _unknown(key)
    return value


def all_settings() -> list[SettingValue]:
    """Return every setting that has one value, those outside of tables first; not keys, views and inner tables."""
    config, written = load_config(model=whole_config()).config, _written()
    names = [("", name) for name in DEFAULTS.__struct_fields__ if name not in TABLES]
    for table in DEFAULTS.__struct_fields__:
        if isinstance(inside := getattr(DEFAULTS, table), Struct):
            names += [(table, field.name) for field in fields(type(inside)) if not _has_tables(field.type)]
    values = (_setting(config, written, f"{table}.{name}".lstrip("."), table, name) for table, name in names)
    return [value for value in values if value is not None]


def _has_tables(kind: Any) -> bool:
    """Return whether a field's type is a table, or a list of them."""
    plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    return any(struct_in(arg) is not None for arg in (plain, *get_args(plain)))


def _setting(config: Config, written: dict[str, Any], key: str, table: str, name: str) -> SettingValue | None:
    default = _value(DEFAULTS, table, name)
    variable = VARIABLES.get(key, "")
    if variable and (given := os.environ.get(variable)):
        return SettingValue(key, given, f"${variable}", default)
    value = _value(config, table, name)
    inside = written.get(table, {}) if table else written
    is_there = name in inside
    is_used = is_there and _plain(inside[name]) == value
    if (
        value is None
        and default is None
        and not is_there
        and (table in ("keymap", "views") or not _is_known(table, name))
    ):
        return None
    return SettingValue(key, value, place_of((table,) if table else (), name) if is_used else "default", default)


def _written() -> dict[str, Any]:
    try:
        return read_toml(read_text(config_file()))
    except (OSError, ValueError):
        return {}


def set_value(key: str, value: str) -> str:
    """Write a setting into the file, and return its line there. Raises Refused where it would be invalid."""
    if not is_encodable(key + value):
        raise Refused(f"{key} was not set", "write it as UTF-8", "E140")
    table, name = _split(key)
    problem = ""
    with _editing() as (path, text):
        before = set(map(_words, problems_of(config_in(text, path))))
        for each in as_typed(value):
            after = _changed(path, lambda value=each: edited(text, table, name, value))
            problems = [one for one in problems_of(config_in(after, path)) if _words(one) not in before]
            if not problems:
                replace_file(path, after.encode())
                return place_of((table,) if table else (), name)
            problem = problem or problems[0]
    raise Refused(f"{key} was not set", _words(problem), "E140")


def unset_value(key: str) -> None:
    """Take a setting out of the file, so that its default holds. Raises Refused where it is not there."""
    table, name = _split(key)
    with _editing() as (path, text):
        try:
            after = _changed(path, lambda: removed(text, table, name))
        except KeyError:
            raise Refused(f"{key} is not set in {path}", "its default holds already", "E139") from None
        replace_file(path, after.encode())


def _split(key: str) -> tuple[str, str]:
    """Return the table and the name of a setting; a name that one table alone has needs no table before it."""
    table, name = split_key(key, TABLES)
    tables = [each for each in TABLES if _is_known(each, name)]
    if not table and len(tables) == 1 and not _is_known("", name):
        return tables[0], name
    if not table and name in TABLES:
        raise Refused(
            f"{name} is a table", f"name one of its settings, such as {name}.NAME, or use signalbox config show", "E141"
        )
    return table, name


def _changed(path: Path, change: Any) -> str:
    try:
        text: str = change()
    except UneditableSettings:
        raise Refused(f"in {path} that setting can't be changed alone", "use signalbox config edit", "E144") from None
    except InvalidToml:
        raise Refused(f"{path} is not valid TOML", "signalbox config check says where", "E145") from None
    return text


@contextmanager
def _editing() -> Iterator[tuple[Path, str]]:
    """Return the file and its text, which nobody else changes meanwhile: two threads or commands may set settings."""
    path = config_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"{path} can't be created ({reason_of(error)})", "make its folder writable", "E148") from error
    with locked_settings(path):
        yield path, _read(path)


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path} can't be read ({reason_of(error)})", "make it readable, as UTF-8", "E251") from error


def _value(config: Config, table: str, name: str) -> Any:
    """Return a setting as JSON has it, None if it is not set or unknown."""
    inside = getattr(config, table) if table else config
    return _plain(inside.get(name) if isinstance(inside, dict) else getattr(inside, name, None))


def _plain(value: Any) -> Any:
    return asdict(value) if isinstance(value, Struct) else list(value) if isinstance(value, tuple) else value


def _is_known(table: str, name: str) -> bool:
    model = getattr(DEFAULTS, table) if table else DEFAULTS
    return isinstance(model, Struct) and name in model.__struct_fields__


def _unknown(key: str) -> Refused:
    from difflib import get_close_matches

    defaults = asdict(DEFAULTS)
    names = [
        f"{table}.{name}" for table in TABLES if isinstance(defaults[table], Struct) for name in asdict(defaults[table])
    ]
    near = get_close_matches(key, [*defaults, *names], n=1)
    return Refused(
        f'unknown setting "{key}"', f'did you mean "{near[0]}"?' if near else "signalbox config show lists all", "E150"
    )


def _words(problem: str) -> str:
    """Return a problem without the place of its line, which moves, and without what would be used instead."""
    return problem.partition(": ")[2].partition("; using ")[0]
