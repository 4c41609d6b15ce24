"""The page of the query language, from its own table."""

from __future__ import annotations

from inspect import getdoc

from mailstore.queries.language import parser
from mailstore.queries.language.fields import FIELDS, KNOWN_TYPES, SYNTAX, TIMES, ValueHelp
from manual.reference.markdown import code, page, prose, table

INTRO = """\
One language serves `/` in the console, `signalbox search`, `signalbox export` and [saved views](settings.md#views).
[Search](../search.md) explains it; this is all of it in short, as `signalbox search --help` prints it."""
TYPES = """\
For `from:`, `to:`, `tag:`, `role:`, `type:`, `store:` and `id:` the beginning of a value is enough, unless the
value is itself a name. These types mean themselves, never the beginning of another:"""
ERRORS = "How a query that can't be read is answered is under [troubleshooting](../troubleshooting.md#searching)."


def query_page() -> str:
    """Return the page."""
    parts = ["# The query language", INTRO, "## Words", _values("written", "finds", SYNTAX), "## Fields"]
    rows = ((code(f"{it.name}:{it.value}"), prose(it.meaning), code(it.example)) for it in FIELDS)
    parts.append(table(("field", "finds", "example"), rows))
    for field in FIELDS:
        if field.values:
            named = tuple(ValueHelp(f"{field.name}:{it.text}", it.meaning) for it in field.values)
            parts += [f"### {field.name}:", _values("value", "finds", named)]
    parts += ["### Types", f"{TYPES} {', '.join(map(code, KNOWN_TYPES))}."]
    parts += ["## Times", "Without an offset, times are local.", _values("written", "means", TIMES)]
    grammar = (getdoc(parser) or "").partition("\n\n")[2]
    return page(*parts, "## Grammar", f"```\n{grammar}\n```", ERRORS)


def _values(head: str, meaning: str, values: tuple[ValueHelp, ...]) -> str:
    return table((head, meaning), ((code(it.text), prose(it.meaning)) for it in values))
