"""Reads what an export claims, whichever format it has."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from typing import Any

import msgspec

from console.errors import Refused
from console.export.html import HTML_END, html_block
from console.export.markdown import markdown_block
from console.export.situations import entity, node
from console.render.json_output import json_text
from mailstore.transfer.export import Claim, Exported, Shows

MARK = re.compile(r"^<!-- signalbox (\{.*\}) -->\n(`{3,})text\n", re.MULTILINE)
RECORD = re.compile(r"^  record: (\{.*\})$", re.MULTILINE)
ENTITY = "\nentity: "
ARTICLE_END = "</article>\n"

Claims = Iterator[tuple[Claim, Shows]]


def claims_in(text: str) -> list[tuple[Claim, Shows]]:
    """Return the claims of an exported document, each with whether the document shows a message just so.

    Raises Refused for any other text.
    """
    head = text.lstrip()[:1000]
    try:
        if head.startswith("<!doctype html"):
            claims = list(_in_html(text))
        elif head.startswith("# situations of "):
            claims = list(_in_situations(text))
        elif head.startswith("{"):
            claims = list(_in_json(text))
        else:
            claims = list(_in_markdown(text))
    except (ValueError, KeyError, TypeError, RecursionError, msgspec.ValidationError) as error:
        raise Refused(f"not a complete signalbox export ({error})", "export it again", "E174") from error
    if not claims and "signalbox_export" not in head:
        raise Refused("no exported record in this file", "use a file that signalbox export wrote", "E173")
    return claims


def _in_json(text: str) -> Claims:
    try:
        document = json.loads(text)
    except ValueError:
        rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    else:
        if "@graph" in document:
            for row in document["@graph"]:
                yield _claim(row["record"]), partial(_is_just, row, node)
            return
        rows = document.get("messages", [document])
    for row in rows:
        yield _claim(row), partial(_is_just, row, lambda message: message)


def _is_just(row: object, form: Callable[[Exported], object], message: Exported) -> bool:
    return bool(json.loads(json_text(form(message))) == row)


def _in_markdown(text: str) -> Claims:
    begin, marks = 0, list(MARK.finditer(text))
    ends = [text.index(f"\n{match[2]}\n", match.end() - 1) + len(match[2]) + 2 for match in marks]
    roots: list[str | None] = [None]
    for mark, end in zip(marks, ends, strict=True):
        claim = _claim(json.loads(mark[1]))
        shown = text[begin : end if end != ends[-1] else len(text)]
        yield claim, partial(_is_block, shown, markdown_block, roots[-1], begin == 0)
        begin = end
        roots.append(claim.root)


def _in_situations(text: str) -> Claims:
    for block in text.split(ENTITY)[1:]:
        record = RECORD.search(block)
        if record is None:
            raise ValueError("an entity without its record")
        yield _claim(json.loads(record[1])), partial(_is_entity, ENTITY + block)


def _is_entity(shown: str, message: Exported) -> bool:
    return entity(message) == shown


def _is_block(
    shown: str, form: Callable[[Exported, str | None], str], root: str | None, is_first: bool, message: Exported
) -> bool:
    """Return whether a block shows a message; what a document says of itself may stand before the first."""
    block = form(message, root)
    return shown.endswith(block) if is_first else shown == block


class _Records(HTMLParser):
    """Collects what the articles of a document say of their records."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[dict[str, Any]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "article":
            attributes = dict(attrs)
            record = attributes.get("data-record")
            self.found.append({"id": attributes["data-id"]} if record is None else json.loads(record))


def _in_html(text: str) -> Claims:
    parser = _Records()
    parser.feed(text)
    parser.close()
    *articles, end = text.split(ARTICLE_END)
    root = None
    for at, (row, article) in enumerate(zip(parser.found, articles, strict=True)):
        claim = _claim(row)
        is_whole = end == HTML_END or at < len(articles) - 1
        shown = article + ARTICLE_END if is_whole else text
        yield claim, partial(_is_block, shown, html_block, root, at == 0)
        root = claim.root


def _claim(row: dict[str, Any]) -> Claim:
    return msgspec.convert({name: row[name] for name in Claim.__struct_fields__ if name in row}, Claim)
