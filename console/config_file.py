"""Read the settings from config.toml, key by key, so that an invalid value doesn't affect the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from msgspec import NODEFAULT, Struct, ValidationError, convert
from msgspec.structs import fields

from console.config import Config, config_file, whole_config
from console.field_meanings import struct_in
from mailstore.files.whole import read_text

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
        return LoadedConfig(model(), [f"{path}: can't be read ({error}); using the defaults"])
    return config_in(text, path, model)


def config_in(text: str, path: Path, model: type[Config] = Config) -> LoadedConfig:
    """Return the settings in the text of a file, and a message for each problem."""
    import tomllib

    from console.toml_errors import invalid_toml, line_of

    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return LoadedConfig(model(), [f"{path}{invalid_toml(error, text)}; using the defaults"])
    if not found.keys() <= set(model.__struct_fields__):
        model = whole_config()
    return LoadedConfig(*_read(model, found, lambda tables, key: f"{path}{line_of(text, tables, key)}"))


def place_of(tables: tuple[str, ...], key: str, path: Path | None = None) -> str:
    """Return the file and, if it can be found, the line of a setting, as `FILE:LINE`; reads the file again."""
    from console.toml_errors import line_of

    path = path or config_file()
    try:
        return f"{path}{line_of(read_text(path), tables, key)}"
    except (OSError, UnicodeDecodeError):
        return str(path)


def _read(
    model: type[S], found: dict[str, Any], place: Callable[[tuple[str, ...], str], str], tables: tuple[str, ...] = ()
) -> tuple[S, list[str]]:
    """Return a table of the valid values, and a message for each invalid one; nested tables likewise."""
    inside = "".join(f"[{table}]: " for table in tables)
    good: dict[str, Any] = {}
    problems: list[str] = []
    known = {setting.name: setting for setting in fields(model)}
    for key, value in found.items():
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
                from console.toml_errors import in_toml, must_be

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
