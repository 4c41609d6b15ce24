"""Parse settings files (JSON, also with comments and trailing commas) into spans of their text, without recursion."""

from __future__ import annotations

import json
import re
from typing import Any

from console.errors import Refused

GAP = re.compile(r"[ \t\r\n]*")
TOKEN = re.compile(
    r'(?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*")|(?P<sign>[{}\[\]:,])'
    r"|(?P<comment>//[^\r\n]*|/\*(?s:.*?)\*/)"
    r"|(?P<scalar>(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-]))"
)
JSON, COMMENTS, JSONC = "json", "comments", "jsonc"
"""What a program reads: JSON only, also comments, also trailing commas."""
KEPT_DEPTH = 6
"""How deep members are kept: settings, hooks, event, group, its hooks, hook."""
OPAQUE = object()
"""The value of what lies deeper than that."""
CLOSING = {"{": "}", "[": "]"}


class JsonValue:
    """A value: the kind of its first character (`{`, `[`, `"`, or another), its span, and its members."""

    __slots__ = ("end", "has_line_comment_last", "is_deep", "kind", "members", "start", "tail")

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind, self.start, self.end = kind, start, end
        self.members: list[JsonMember] = []
        self.tail = end
        """Where the last member, comma or comment inside ends: what is added goes here."""
        self.has_line_comment_last = False
        self.is_deep = False

    def last(self, key: str) -> JsonValue | None:
        """Return the value of the last member with a key, which is the one that programs take."""
        return next((member.value for member in reversed(self.members) if member.key == key), None)


class JsonMember:
    """A member of an object or an element of a list, with the spans that removing it needs."""

    __slots__ = ("after_line_comment", "comma", "key", "lead", "start", "value")

    def __init__(self, key: str | None, start: int, lead: int, after_line_comment: bool, value: JsonValue) -> None:
        self.key, self.start, self.lead, self.value = key, start, lead, value
        self.after_line_comment = after_line_comment
        """Where the gap before it begins is `lead`; whether that follows a comment that ends with its line."""
        self.comma: int | None = None


class _Parser:
    """Reads tokens one after another; a stack of open containers instead of recursion."""

    def __init__(self, text: str, name: str, dialect: str) -> None:
        self.text, self.name, self.dialect = text, name, dialect
        self.at = 1 if text.startswith("\ufeff") else 0
        self.seen_end = self.at
        self.seen_line_comment = False

    def token(self) -> tuple[str, str, int]:
        """Return the kind, text and start of the next token that isn't a comment; the kind is empty at the end."""
        while True:
            self.lead, self.lead_is_comment = self.seen_end, self.seen_line_comment
            gap = GAP.match(self.text, self.at)
            self.at = gap.end() if gap else self.at
            if self.at == len(self.text):
                return "", "", self.at
            match = TOKEN.match(self.text, self.at)
            if match is None:
                raise self.wrong("unexpected text", self.at)
            start, self.at = self.at, match.end()
            self.seen_end, self.seen_line_comment = self.at, match[0].startswith("//")
            kind = match.lastgroup or ""
            if kind != "comment":
                return kind, match[0], start
            if self.dialect == JSON:
                raise self.wrong("a comment", start)

    def wrong(self, what: str, at: int) -> Refused:
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        problem = f"{self.name} is not valid JSON ({what} in line {line}, column {column})"
        return Refused(problem, "fix it first; nothing was changed")


def parsed(text: str, name: str, dialect: str = JSONC) -> JsonValue | None:
    """Return the only value of a text; None if the text is empty. Raises Refused for what is not in the dialect."""
    parser = _Parser(text, name, dialect)
    stack: list[JsonValue] = []
    root: JsonValue | None = None
    key: str | None = None
    member_start, lead, lead_is_comment = 0, 0, False
    state = "value"  # value, value or end, key, key or end, colon, comma or end
    while True:
        kind, sign, start = parser.token()
        if state == "done" or not kind:
            if state != "done" and (stack or root is not None):
                raise parser.wrong("it ends too early", start)
            if kind:
                raise parser.wrong("text after the end", start)
            return root
        if state.startswith("key") and kind == "string":
            key = _text_of(sign, parser, start)
            member_start, lead, lead_is_comment = start, parser.lead, parser.lead_is_comment
            state = "colon"
        elif state == "colon" and sign == ":":
            state = "value"
        elif state.startswith("value") and (kind in ("string", "scalar") or sign in ("{", "[")):
            if key is None:
                member_start, lead, lead_is_comment = start, parser.lead, parser.lead_is_comment
            node = JsonValue(sign[0], start, parser.at)
            if stack:
                if len(stack) <= KEPT_DEPTH and not stack[-1].is_deep:
                    stack[-1].members.append(JsonMember(key, member_start, lead, lead_is_comment, node))
            else:
                root = node
            key = None
            if sign in ("{", "["):
                node.is_deep = len(stack) >= KEPT_DEPTH
                node.tail = parser.at
                stack.append(node)
                state = "key or end" if sign == "{" else "value or end"
            else:
                state = "comma or end" if stack else "done"
        elif state == "comma or end" and sign == ",":
            if stack[-1].members:
                stack[-1].members[-1].comma = start
            state = "key after comma" if stack[-1].kind == "{" else "value after comma"
        elif stack and sign == CLOSING[stack[-1].kind] and state.endswith(("or end", "after comma")):
            if state.endswith("after comma") and dialect != JSONC:
                raise parser.wrong("a comma after the last member", start)
            node = stack.pop()
            node.tail, node.has_line_comment_last, node.end = parser.lead, parser.lead_is_comment, parser.at
            state = "comma or end" if stack else "done"
        else:
            raise parser.wrong(f"unexpected {sign[:20]}", start)


def value_of(node: JsonValue, text: str) -> Any:
    """Return the value of a node; OPAQUE for what lies too deep. Of members with the same key the last one counts."""
    if node.is_deep:
        return OPAQUE
    if node.kind == "{":
        return {member.key: value_of(member.value, text) for member in node.members}
    if node.kind == "[":
        return [value_of(member.value, text) for member in node.members]
    return json.loads(text[node.start : node.end], strict=False)


def _text_of(token: str, parser: _Parser, start: int) -> str:
    try:
        return str(json.loads(token, strict=False))
    except ValueError as error:
        raise parser.wrong("a damaged string", start) from error
