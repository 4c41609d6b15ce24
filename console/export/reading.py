"""Reads what an export claims, whichever format it has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import msgspec

from console.errors import Refused
from mailstore.transfer.export import Claim, digest, text_digest

__all__ = ["claims_in"]

MARK = re.compile(r"^<!-- signalbox (\{.*\}) -->\n(`{3,})text\n", re.MULTILINE)
RECORD = re.compile(r"^  record: (\{.*\})$", re.MULTILINE)
CONTENT = re.compile(r"^message-content +belongs-to .*\n\n", re.MULTILINE)
INDENT = 4
HEADER = ("sender", "recipients", "timestamp", "subject", "thread", "type")


def claims_in(text: str) -> list[Claim]:
    """Return the claims of an exported document; raises Refused for any other text."""
    head = text.lstrip()[:1000]
    try:
        if head.startswith("<!doctype html"):
            found = _in_html(text)
        elif head.startswith("# situations of "):
            found = list(_in_situations(text))
        elif head.startswith("{"):
            found = list(_in_json(text))
        else:
            found = list(_in_markdown(text))
    except (ValueError, KeyError, TypeError, RecursionError, msgspec.ValidationError) as error:
        raise Refused(f"not a complete signalbox export ({error})", "export it again") from error
    if not found and "signalbox_export" not in head:
        raise Refused("no exported record in this file", "use a file that signalbox export wrote")
    return found


def _in_json(text: str) -> Iterator[Claim]:
    try:
        document = json.loads(text)
    except ValueError:
        return map(_claim_of_row, [json.loads(line) for line in text.split("\n") if line.strip()])
    if "@graph" in document:
        return map(_claim_of_node, document["@graph"])
    return map(_claim_of_row, document.get("messages", [document]))


def _claim_of_row(row: dict[str, Any]) -> Claim:
    header = {name: row[name] for name in HEADER}
    header["recipients"] = tuple(header["recipients"])
    record = str(row.get("record") or "")
    is_altered = text_digest(row["content"]) != row["text_sha256"] or (
        bool(record) and digest(record.encode("utf-8", "surrogateescape")) != row["sha256"]
    )
    return _claim(row, is_altered, header)


def _claim_of_node(node: dict[str, Any]) -> Claim:
    row = node["record"]
    return _claim(row, text_digest(node["materialization"]["text"]) != row["text_sha256"])


def _in_situations(text: str) -> Iterator[Claim]:
    for block in text.split("\nentity: ")[1:]:
        record = RECORD.search(block)
        content = CONTENT.search(block)
        if record is None or content is None:
            raise ValueError("an entity without its record")
        row = json.loads(record[1])
        shown = "\n".join(line[INDENT:] for line in block[content.end() :].rstrip("\n").split("\n"))
        yield _claim(row, text_digest(shown) != row["text_sha256"])


def _in_markdown(text: str) -> Iterator[Claim]:
    for found in MARK.finditer(text):
        end = text.index(f"\n{found[2]}\n", found.end() - 1)
        row = json.loads(found[1])
        yield _claim(row, text_digest(text[found.end() : max(end, found.end())]) != row["text_sha256"])


def _claim(row: dict[str, Any], is_altered: bool, header: dict[str, Any] | None = None) -> Claim:
    fields = {name: row.get(name) for name in ("id", "file", "offset", "sha256")}
    return msgspec.convert({**fields, "is_altered": is_altered, "header": header or {}}, Claim)


class _Articles(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[dict[str, str | None], list[str]]] = []
        self._is_in_text = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "article":
            self.found.append((dict(attrs), []))
        self._is_in_text = tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self._is_in_text = False

    def handle_data(self, data: str) -> None:
        if self._is_in_text and self.found:
            self.found[-1][1].append(data)


def _in_html(text: str) -> list[Claim]:
    parser = _Articles()
    parser.feed(text)
    parser.close()
    claims = []
    for attributes, parts in parser.found:
        row: dict[str, Any] = {
            name.removeprefix("data-").replace("-", "_"): value for name, value in attributes.items()
        }
        row["offset"] = int(row["offset"]) if row.get("offset") is not None else None
        claims.append(_claim(row, text_digest("".join(parts).removeprefix("\n")) != row["text_sha256"]))
    return claims
