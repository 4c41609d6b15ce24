"""Reads what an export claims, whichever format it has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import msgspec

from console.errors import Refused
from console.export.about import fields_digest, piece_digest
from mailstore.transfer.export import Claim, Exported, digest, text_digest

__all__ = ["claims_in"]

MARK = re.compile(r"^<!-- signalbox (\{.*\}) -->\n(`{3,})text\n", re.MULTILINE)
RECORD = re.compile(r"^  record: (\{.*\})$", re.MULTILINE)
CONTENT = re.compile(r"^message-content +belongs-to .*\n\n", re.MULTILINE)
INDENT = 4
ENTITY = "\nentity: "
ARTICLE_END = "</article>\n"
HTML_END = "</body></html>\n"
EVIDENCE = "evidence_sha256"
CLAIM = frozenset({"id", "file", "offset", "sha256", "text_sha256", EVIDENCE})
ROW = frozenset(Exported.__struct_fields__)
HEADER = ("sender", "recipients", "timestamp", "subject", "thread", "type")


def claims_in(text: str) -> list[Claim]:
    """Return the claims of an exported document; raises Refused for any other text."""
    head = text.lstrip()[:1000]
    try:
        if head.startswith("<!doctype html"):
            found = list(_in_html(text))
        elif head.startswith("# situations of "):
            found = list(_in_situations(text))
        elif head.startswith("{"):
            found = list(_in_json(text))
        else:
            found = list(_in_markdown(text))
    except (ValueError, KeyError, TypeError, msgspec.ValidationError) as error:
        raise Refused(f"not a complete signalbox export ({error})", "export it again") from error
    if not found and "signalbox_export" not in head:
        raise Refused("no exported record in this file", "use a file that signalbox export wrote")
    return found


def _in_json(text: str) -> Iterator[Claim]:
    try:
        document = _loads(text)
    except json.JSONDecodeError:
        return (_claim_of_row(_loads(line), {}) for line in text.split("\n") if line.strip())
    if "@graph" in document:
        nodes = document.pop("@graph")
        return (_claim_of_node(node, {} if place else document) for place, node in enumerate(nodes))
    if "signalbox_export" not in document:
        return iter([_claim_of_row(document, {})])
    rows = document.pop("messages")
    return (_claim_of_row(row, {} if place else document) for place, row in enumerate(rows))


def _loads(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text, object_pairs_hook=_without_repeats)
    return found


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field is there twice")
    return found


def _claim_of_row(row: dict[str, Any], head: dict[str, Any]) -> Claim:
    header = {name: row[name] for name in HEADER}
    header["recipients"] = tuple(header["recipients"])
    record = str(row.get("record") or "")
    is_altered = text_digest(row["content"]) != row["text_sha256"] or (
        bool(record) and digest(record.encode("utf-8", "surrogateescape")) != row["sha256"]
    )
    if not ROW.issuperset(row):
        raise ValueError("a field that no export has")
    evidence = row.get(EVIDENCE)
    shown = fields_digest(head, {**row, EVIDENCE: ""})
    return _claim(row, is_altered or (evidence is not None and evidence != shown), header)


def _claim_of_node(node: dict[str, Any], head: dict[str, Any]) -> Claim:
    row = _claimed(node["record"])
    shown = fields_digest(head, {**node, "record": {**row, EVIDENCE: ""}})
    is_altered = text_digest(node["materialization"]["text"]) != row["text_sha256"]
    return _claim(row, is_altered or row.get(EVIDENCE, shown) != shown)


def _in_situations(text: str) -> Iterator[Claim]:
    head, *blocks = text.split(ENTITY)
    for block in blocks:
        record = RECORD.search(block)
        content = CONTENT.search(block)
        if record is None or content is None:
            raise ValueError("an entity without its record")
        shown = "\n".join(line[INDENT:] for line in block[content.end() :].rstrip("\n").split("\n"))
        yield _claim_of_piece(head + ENTITY + block, _loads(record[1]), shown)
        head = ""


def _in_markdown(text: str) -> Iterator[Claim]:
    start = 0
    found = MARK.search(text)
    while found is not None:
        end = text.index(f"\n{found[2]}\n", found.end() - 1)
        after = end + len(found[2]) + 2
        following = MARK.search(text, after)
        piece = text[start : after if following is not None else len(text)]
        yield _claim_of_piece(piece, _loads(found[1]), text[found.end() : max(end, found.end())])
        start, found = after, following


def _claim_of_piece(piece: str, row: dict[str, Any], shown: str) -> Claim:
    """Return the claim of a piece of a document: one message, with all that is shown since the message before."""
    evidence = _claimed(row).get(EVIDENCE)
    is_altered = text_digest(shown) != row["text_sha256"]
    return _claim(row, is_altered or (evidence is not None and piece_digest(piece, evidence) != evidence))


def _claimed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a claim, which has the fields that we write and no other: one of another name would cover nothing."""
    if not CLAIM.issuperset(row):
        raise ValueError("a field that no export has")
    return row


def _claim(row: dict[str, Any], is_altered: bool, header: dict[str, Any] | None = None) -> Claim:
    fields = {name: row.get(name) for name in ("id", "file", "offset", "sha256")}
    facts = {"is_altered": is_altered, "is_covered": row.get(EVIDENCE) is not None, "header": header or {}}
    return msgspec.convert({**fields, **facts}, Claim)


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


def _in_html(text: str) -> Iterator[Claim]:
    *pieces, rest = text.split(ARTICLE_END)
    for piece in pieces:
        parser = _Articles()
        parser.feed(piece)
        parser.close()
        if len(parser.found) != 1:
            raise ValueError("an article without its record")
        attributes, parts = parser.found[0]
        row: dict[str, Any] = {
            name.removeprefix("data-").replace("-", "_"): value for name, value in attributes.items()
        }
        row["offset"] = int(row["offset"]) if row.get("offset") is not None else None
        yield _claim_of_piece(piece + ARTICLE_END, row, "".join(parts).removeprefix("\n"))
    if rest != HTML_END:
        raise ValueError("text behind the last message")
