"""The page of JSON output: what each command prints with `--json`, and the fields of every type."""

from __future__ import annotations

from typing import Any

from console.cli.document import JsonLines, JsonOutput
from console.cli.schemas import all_outputs, schema_of
from manual.reference.markdown import code, page, prose, table

INTRO = """\
What commands print with `--json`, and what `signalbox export` writes as JSON. `signalbox schema COMMAND` prints the
same as a [JSON Schema](https://json-schema.org/draft/2020-12/schema) (version 2020-12), and the files linked here
are what it prints. Tests hold the commands' output to their schemas."""
RULES = """\
- `--json` prints one JSON document to standard output and nothing else; warnings and errors go to standard error.
  Commands that go on print a document a line, at once.
- A command that is refused prints nothing, and its [exit status](commands.md#exit-statuses) is not 0. Some print a
  document and end with 1 all the same: there it means what their page says.
- Each field of a table below is always there, unless it says that it may be left out. What null means is said at
  each field that may be null.
- Texts are as in the mailbox. Control and invisible characters are written as `\\u…`: decoded, they are the same.
- Later versions may add fields, and values where a list of them is given. They don't remove or rename any without
  saying so in the changelog."""


def json_page() -> str:
    """Return the page."""
    outputs = all_outputs()
    rows = ((f"[{name}](#{name})", _when(output), _form(output), _type(_bare(name, output)),
             f"[schema](schemas/{name}.json)")
            for name, each in outputs.items() for output in each)  # fmt: skip
    parts = [
        "# JSON output",
        INTRO,
        "## Rules",
        RULES,
        "## Commands",
        table(("command", "with", "prints", "of", ""), rows),
    ]
    shown: dict[str, str] = {}
    for name, each in outputs.items():
        parts += [f"### {name}", *(_printed(name, output) for output in each)]
        for title, defined in schema_of(name, each).get("$defs", {}).items():
            if not _is_settings(title):
                shown.setdefault(title, _described(title, defined))
    parts += ["## Types", *(shown[title] for title in sorted(shown))]
    return page(*parts)


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each command."""
    return {name: schema_of(name, outputs) for name, outputs in all_outputs().items()}


def _bare(name: str, output: JsonOutput[Any]) -> dict[str, Any]:
    return {key: value for key, value in schema_of(name, (output,)).items() if key not in ("title", "$defs", "$schema")}


def _printed(name: str, output: JsonOutput[Any]) -> str:
    options = _when(output)
    return f"{f'With {options}: ' if options else ''}{_form(output)}, {_type(_bare(name, output))}."


def _when(output: JsonOutput[Any]) -> str:
    return ", ".join(map(code, output.when))


def _form(output: JsonOutput[Any]) -> str:
    return "a document a line" if isinstance(output, JsonLines) else "one document"


def _described(title: str, defined: dict[str, Any]) -> str:
    parts = [f"### {title}", prose(defined.get("description", ""))]
    if "enum" in defined:
        return "\n\n".join([*parts, f"One of {', '.join(code(str(each)) for each in defined['enum'])}."])
    needed = defined.get("required", ())
    rows = (
        (code(name), _type(said), prose(said["description"]) + ("" if name in needed else " *May be left out.*"))
        for name, said in defined["properties"].items()
    )
    return "\n\n".join([*parts, table(("field", "type", ""), rows)])


def _is_settings(title: str) -> bool:
    return title == "Config" or title.endswith("Settings")


def _type(said: dict[str, Any]) -> str:
    if "$ref" in said:
        name = said["$ref"].rpartition("/")[2]
        if _is_settings(name):
            return "[settings](settings.md#settings)"
        return f"[{name}](#{name.lower()})"
    if "anyOf" in said:
        return " or ".join(_type(each) for each in said["anyOf"])
    if "enum" in said:
        return " or ".join(code(str(each)) for each in said["enum"])
    kind: str = said.get("type", "anything")
    if kind == "array":
        items: dict[str, Any] = said.get("items") or next(iter(said.get("prefixItems", [])), {})
        number = f"{said['minItems']} " if said.get("minItems") and said.get("minItems") == said.get("maxItems") else ""
        return f"list of {number}{_type(items)}"
    if kind == "object" and "additionalProperties" in said:
        return f"object of {_type(said['additionalProperties'])} by name"
    return {"boolean": "true or false"}.get(kind, kind)
