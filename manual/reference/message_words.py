"""The words of a message in the code, with names in capitals for the values in it."""

from __future__ import annotations

import ast

NAMED = {
    "error": "reason",
    "reason_of": "reason",
    "called": "mailbox",
    "title": "mailbox",
    "label": "server",
    "session_id": "agent",
    "len": "number",
    "sorted": "names",
    "self": "this",
    "exception": "reason",
    "problem": "reason",
    "__name__": "name",
    "why": "reason",
    "why_not": "reason",
    "beside": "folder",
    "shown": "mailbox",
    "shown_hosts": "server",
    "save": "folder",
    "topics": "word",
    "typed": "text",
    "already": "",
    "whom": "",
    "broken": "",
    "forms": "option",
    "lower": "reason",
    "quoted": "reason",
    "said": "reason",
    "inside": "",
    "gap": " ",
    "wrong": "what it must be",
    "match": "option",
    "partition": "option",
    "chr": "choices",
    "returncode": "status",
    "agent_name": "agent",
    "capability": "do that",
    "verb": "do that",
}
"""Better names for what some expressions stand for."""


TEXT_METHODS = {"replace", "strip", "lower", "removesuffix", "removeprefix", "decode"}


def words_of(node: ast.expr | None) -> list[str]:
    """Return the texts that an expression can be, with names in capitals for values; none where only values say it."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) and node.value else []
    if isinstance(node, ast.IfExp):
        return [*words_of(node.body), *words_of(node.orelse)]
    if isinstance(node, ast.BinOp):
        return ["".join((words_of(part) or [name_of(part)])[0] for part in (node.left, node.right))]
    if not isinstance(node, ast.JoinedStr):
        return []
    fixed = "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    return ["".join(map(_part, node.values))] if fixed.strip(" :()") else []


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.FormattedValue)
    if isinstance(node.value, ast.IfExp):
        found = words_of(node.value)
        return found[0] if found else name_of(node.value.body)
    return name_of(node.value)


def name_of(node: ast.expr) -> str:
    """Return a name in capitals for the value of an expression."""
    if isinstance(node, ast.Name):
        word = node.id
    elif isinstance(node, ast.Attribute):
        if node.attr == "value":
            return name_of(node.value)
        word = node.attr
    elif isinstance(node, ast.Subscript):
        return name_of(node.value)
    elif isinstance(node, ast.BoolOp):
        return name_of(node.values[0])
    elif isinstance(node, ast.Call):
        word = called(node) or getattr(node.func, "attr", "")
        if isinstance(node.func, ast.Attribute) and word in TEXT_METHODS:
            return name_of(node.func.value)
        if word not in NAMED and node.args and not isinstance(node.args[0], (ast.Constant, ast.GeneratorExp)):
            return name_of(node.args[0])
    else:
        word = "number" if isinstance(node, ast.BinOp) else "value"
    return NAMED.get(word, word).replace("_", " ").upper()


def called(node: ast.Call) -> str:
    """Return the name of a function, or of a method of something with a name; empty for other calls."""
    if isinstance(node.func, ast.Name):
        return node.func.id
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        return node.func.attr
    return ""
