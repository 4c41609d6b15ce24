"""What the fields of a type mean: the sentence below each in its class."""

from __future__ import annotations

import ast
import inspect
from functools import cache

from msgspec import Struct


@cache
def field_meanings(model: type[Struct]) -> dict[str, str]:
    """Return the sentences by the names of the fields, in one line each; those of a base class count too."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, Struct) and each is not Struct:
            found |= _written(each)
    return found


def _written(model: type[Struct]) -> dict[str, str]:
    (declared,) = ast.parse(inspect.getsource(model)).body
    assert isinstance(declared, ast.ClassDef)
    found = {}
    for line, below in zip(declared.body, declared.body[1:], strict=False):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and (text := _text(below)):
            found[line.target.id] = " ".join(text.split())
    return found


def _text(node: ast.stmt) -> str:
    value = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else None
    return value if isinstance(value, str) else ""
