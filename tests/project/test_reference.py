"""The reference in docs/reference is what the code says, whole, and its examples work."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from console.commands import COMMANDS
from console.config_file import load_config
from console.config_schema import config_schema
from console.theme_files import DEFAULTS
from mailstore.queries.language.fields import FIELDS, SYNTAX, TIMES
from manual.reference.markdown import code, prose
from manual.reference.pages import FOLDER, pages
from manual.reference.settings_page import examples

AGAIN = "python -m manual.reference writes it anew"


def test_every_page_and_schema_is_what_the_code_says() -> None:
    written = pages()
    for name, text in written.items():
        assert (FOLDER / name).is_file(), f"docs/{name} is missing: {AGAIN}"
        assert (FOLDER / name).read_text("utf-8") == text, f"docs/{name} is not current: {AGAIN}"
    there = {path.relative_to(FOLDER).as_posix() for path in (FOLDER / "reference").rglob("*.*")}
    assert there <= set(written), AGAIN


def test_every_setting_has_an_example_that_the_program_accepts(tmp_path: Path) -> None:
    shown: set[str] = set()
    for number, text in enumerate(examples()):
        path = tmp_path / f"{number}.toml"
        path.write_text(text.partition("```")[0], "utf-8")
        assert not load_config(path).problems, text
        shown |= set(keys_of(tomllib.loads(path.read_text("utf-8"))))
    assert shown >= set(keys_in(config_schema()))


def keys_of(value: object, place: str = "") -> list[str]:
    """Return the places of all values in settings."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = value[0]
    if not isinstance(value, dict) or place.endswith((".addresses", "views", "keymap")):
        return [place]
    return [found for key, each in value.items() for found in keys_of(each, f"{place}.{key}" if place else key)]


def keys_in(schema: dict[str, object], place: str = "") -> list[str]:
    """Return the places of all values that a schema of settings has."""
    inner = schema.get("items", schema)
    assert isinstance(inner, dict)
    if "properties" not in inner or place == "keymap":
        return [place]
    return [
        found
        for key, each in inner["properties"].items()
        for found in keys_in(each, f"{place}.{key}" if place else key)
    ]


def test_every_setting_says_what_it_means() -> None:
    def silent(schema: dict[str, object], place: str) -> list[str]:
        inner = schema.get("items", schema)
        assert isinstance(inner, dict)
        found = [] if schema.get("description") else [place]
        return found + [
            name for key, each in inner.get("properties", {}).items() for name in silent(each, f"{place}.{key}")
        ]

    assert not silent(config_schema(), "")


def test_the_pages_have_every_key_colour_and_word_of_the_language() -> None:
    written = pages()
    keys, themes, queries = (written[f"reference/{name}.md"] for name in ("keys", "themes", "query-language"))
    assert all(code(it.id) in keys and prose(it.help) in keys for it in COMMANDS)
    assert all(code(name) in themes for name in DEFAULTS)
    assert all(code(it.text) in queries for it in (*SYNTAX, *TIMES))
    assert all(code(f"{it.name}:{it.value}") in queries for it in FIELDS)


def test_tables_hold_whatever_a_cell_has() -> None:
    assert code("a|b`c<d") == "<code>a&#124;b&#96;c&lt;d</code>"
    assert prose("a | b *c* `d*|` <e> f_g") == "a &#124; b &#42;c&#42; `d*|` &#60;e&#62; f_g"
    for name, text in pages().items():
        for block in re.findall(r"(?m)(?:^\|.*\n)+", text) if name.endswith(".md") else ():
            assert len({row.count("|") for row in block.splitlines()}) == 1, block
