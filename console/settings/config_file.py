"""Read the settings from config.toml, key by key, so that an invalid value doesn't affect the others.

What a kind of mailbox reads of them is in a `ConfigFile`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from msgspec import NODEFAULT, Struct, ValidationError, convert
from msgspec.structs import asdict, fields

from console.errors import UsedWrongly
from console.settings.config import Config, config_file, whole_config
from console.settings.field_meanings import struct_in
from mailstore.encoding import is_encodable
from mailstore.errors import StoreError, reason_of
from mailstore.files.append import locked, replace_file
from mailstore.files.whole import read_text
from mailstore.server_settings import ProgramSettings

S = TypeVar("S", bound=Struct)


class LoadedConfig(NamedTuple):
    """The settings, and a message for each problem in them."""

    config: Config
    problems: list[str]


def load_config(path: Path | None = None, model: type[Config] = Config) -> LoadedConfig:
    """Read the settings; return them and a message for each problem. An invalid value is replaced by its default.

    The tables of kinds of mailbox are among them where the file has one, or if the model has them.
    """
    path = path or config_file()
    try:
        text = read_text(path)
    except FileNotFoundError:
        return LoadedConfig(model(), [])
    except (OSError, UnicodeDecodeError) as error:
        return LoadedConfig(model(), [f"{path}: can't be read ({reason_of(error)}); using the defaults"])
    return config_in(text, path, model)


def config_in(text: str, path: Path, model: type[Config] = Config) -> LoadedConfig:
    """Return the settings in the text of a file, and a message for each problem."""
    from console.settings.toml_errors import InvalidToml, invalid_toml, line_of, read_toml

    try:
        tables_read = read_toml(text)
    except InvalidToml as error:
        return LoadedConfig(model(), [f"{path}{invalid_toml(error, text)}; using the defaults"])
    if not tables_read.keys() <= set(model.__struct_fields__):
        model = whole_config()
    return LoadedConfig(*_read(model, tables_read, lambda tables, key: f"{path}{line_of(text, tables, key)}"))


def place_of(tables: tuple[str, ...], key: str, path: Path | None = None) -> str:
    """Return the file and, if it can be found, the line of a setting, as `FILE:LINE`; reads the file again."""
    from console.settings.toml_errors import line_of

    path = path or config_file()
    try:
        return f"{path}{line_of(read_text(path), tables, key)}"
    except (OSError, UnicodeDecodeError):
        return str(path)


def _read(
    model: type[S], given: dict[str, Any], place: Callable[[tuple[str, ...], str], str], tables: tuple[str, ...] = ()
) -> tuple[S, list[str]]:
    """Return a table of the valid values, and a message for each invalid one; nested tables likewise."""
    inside = "".join(f"[{table}]: " for table in tables)
    good: dict[str, Any] = {}
    problems: list[str] = []
    known = {setting.name: setting for setting in fields(model)}
    for key, value in given.items():
        setting = known.get(key)
        if setting is None:
            problems.append(f'{place(tables, key)}: {inside}unknown setting "{key}"; {_hint(key, known)}')
        elif isinstance(value, dict) and (table := struct_in(setting.type)):
            good[key], more = _read(table, value, place, (*tables, key))
            problems += more
        else:
            try:
                good[key] = convert(value, setting.type)
            except ValidationError as error:
                from console.settings.toml_errors import in_toml, must_be

                default = setting.default if setting.default is not NODEFAULT else setting.default_factory()
                used = "using the defaults" if isinstance(default, Struct) else f"using {in_toml(default)}"
                wrong = must_be(error)
                gap = "" if wrong.startswith("[") else " "
                problems.append(f"{place(tables, key)}: {inside}{key}{gap}{wrong}; {used}")
    return model(**good), problems


def _hint(key: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1)
    return f'did you mean "{near[0]}"?' if near else "it is ignored"


def locked_settings(path: Path) -> AbstractContextManager[object]:
    """Lock the folder of the settings, from before they are read until they are written. Raises StoreError."""
    return locked(path.parent, os.O_RDONLY | os.O_DIRECTORY)


class ConfigFile(ProgramSettings):
    """The settings in config.toml, read again at each question."""

    def __init__(self) -> None:
        self.file = config_file()

    def table(self, name: str) -> Mapping[str, object]:
        """Return a table, each invalid value replaced by its default."""
        table = getattr(load_config(self.file).config, name, None)
        return {} if table is None else asdict(table)

    def checked(self, name: str, model: type[S]) -> S:
        """Return a table that must be right as a whole. Raises UsedWrongly and OSError."""
        from console.settings.toml_errors import InvalidToml, invalid_toml, must_be, read_toml

        try:
            text = read_text(self.file)
            return convert(read_toml(text).get(name, {}), model)
        except FileNotFoundError:
            return model()
        except InvalidToml as error:
            raise UsedWrongly(f"{self.file}{invalid_toml(error, text)}", "signalbox config edit opens it") from error
        except ValidationError as error:
            is_inside = "`$." in str(error)
            raise UsedWrongly(
                f"[{name}] in {self.file}{',' * is_inside} {must_be(error)}", "signalbox config edit opens it", "E250"
            ) from error

    def add(self, header: str, fields: Mapping[str, object]) -> tuple[str, str]:
        """Add a table at the end of the file; return its text, and why the file can't take it, if so."""
        from console.settings.toml_errors import InvalidToml, in_toml, read_toml

        table = "\n".join([header, *(f"{key} = {in_toml(value)}" for key, value in fields.items()), ""])
        if not all(is_encodable(value) for value in fields.values() if isinstance(value, str)):
            return table, f"{self.file} can't name a file whose name is not UTF-8"
        try:
            with locked_settings(self.file):
                before = read_text(self.file) if self.file.exists() else ""
                text = f"{before.rstrip()}\n\n{table}" if before.strip() else table
                read_toml(text)
                replace_file(self.file, text.encode())
        except InvalidToml:
            return table, f"{self.file} can't take a table {header}"
        except UnicodeDecodeError:
            return table, f"{self.file} is not UTF-8"
        except (OSError, StoreError) as error:
            return table, f"{self.file} can't be written ({reason_of(error)})"
        return table, ""
