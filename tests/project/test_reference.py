"""The reference in docs/reference is what the code says, whole, and its examples work."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from console.cli.own_commands import all_commands
from console.commands.table import COMMANDS
from console.settings.config_file import load_config
from console.settings.config_schema import config_schema
from console.settings.theme_files import DEFAULTS
from console.words.symbols import STALE, STATES
from mailstore.queries.language.fields import FIELDS, SYNTAX, TIMES
from mailstore.rules.delivery import State
from manual.reference.markdown import code, prose
from manual.reference.messages import ErrorMessage, messages
from manual.reference.pages import FOLDER, pages
from manual.reference.settings_page import examples
from manual.reference.troubleshooting_page import EXPLANATIONS, Cause, explanations_table, faults, read_causes

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


def test_troubleshooting_begins_with_what_is_seen_and_names_keys_and_glyphs_as_they_are() -> None:
    page = pages()["troubleshooting.md"]
    assert page.index("## Without a message") < page.index("## Typing a command")
    keys = {it.id: it.keys for it in COMMANDS}
    assert (keys["unreadable"], keys["travel"], keys["export"]) == ("exclamation_mark", "T", "x")
    assert all(f"`{key}`" in page for key in ("!", "T", "x"))
    assert all(f"`{sign.glyph}`" in page for sign in (STALE, STATES[State.UNRECORDED]))


def test_every_command_is_in_the_table_at_a_glance_and_has_a_section() -> None:
    page = pages()["reference/commands.md"]
    for name in all_commands():
        assert page.count(f"[`{name}`](#signalbox-{name})") == 1
        assert page.count(f"\n### signalbox {name}\n") == 1


def test_tables_hold_whatever_a_cell_has() -> None:
    assert code("a|b`c<d") == "<code>a&#124;b&#96;c&lt;d</code>"
    assert prose("a | b *c* `d*|` <e> f_g") == "a &#124; b &#42;c&#42; `d*|` &#60;e&#62; f_g"
    for name, text in pages().items():
        for block in re.findall(r"(?m)(?:^\|.*\n)+", text) if name.endswith(".md") else ():
            assert len({row.count("|") for row in block.splitlines()}) == 1, block


def test_every_message_has_a_cause_and_a_remedy() -> None:
    about, causes = read_causes()
    said = "the table of `signalbox explain` is not current: python -m manual.reference writes it anew"
    assert EXPLANATIONS.read_text("utf-8") == explanations_table(), said
    found = list(messages())
    assert len({message.problem for message in found}) > 400
    assert not faults(found, causes)
    assert all(about.values())
    assert len({cause.key for cause in causes}) == len(causes)


def test_a_message_without_cause_or_remedy_and_a_cause_without_message_are_noticed() -> None:
    message = ErrorMessage("the box is shut", "", "console/box.py", "Refused", "E999")
    assert faults([message], []) == ["console/box.py: no cause in causes.txt: E999"]
    cause = Cause("Boxes", "E999", "Somebody shut it.", "")
    assert "no remedy" in faults([message], [cause])[0]
    assert not faults([message], [cause._replace(remedy="open it")])
    assert not faults([message._replace(remedy="open it")], [cause])
    assert faults([], [cause]) == ["no such message: E999"]


def test_every_error_has_a_code_of_its_own() -> None:
    shut = ErrorMessage("the box is shut", "open it", "console/box.py", "Refused", "E999")
    cause = Cause("Boxes", "E999", "Somebody shut it.", "")
    assert faults([shut._replace(code="")], []) == ["console/box.py: no code: the box is shut"]
    assert faults([shut, shut._replace(module="console/chest.py")], [cause]) == []
    assert "is that of another message" in faults([shut, shut._replace(problem="the box is full")], [cause])[0]
    assert faults([shut._replace(module="mailstore/box.py", code="")], []) == [
        "mailstore/box.py: no code: the box is shut"
    ]
    by_words = shut._replace(kind="warn", code="")
    assert faults([by_words], [cause._replace(key="the box is shut")]) == []


def test_messages_are_found_wherever_they_are_raised() -> None:
    found = {message.problem: message for message in messages()}
    assert found["--keep KEEP is negative"].remedy == "use 0 to keep only what must stay"
    assert found['unclosed "("'].kind == "fail"
    assert found["body is empty"].kind == "DraftRefused"
    assert found["OPTION needs a value"].module == "console/cli/parser.py"
    unknown = {message.module for message in messages() if message.problem == 'unknown setting "KEY"'}
    assert unknown == {"console/settings/config_file.py", "console/settings/setting_values.py"}
    assert found["AGENT is dead"].kind == "Refused"
    assert re.fullmatch(r"E\d{3}", found["AGENT is dead"].code)
