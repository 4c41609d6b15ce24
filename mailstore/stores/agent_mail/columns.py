"""Columns as they are asked for and as they come."""

from __future__ import annotations

import sqlite3
from typing import Any

__all__ = ["columns", "text_of"]


def text_of(value: Any) -> str:
    """Return what should be text as text; nothing for nothing."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def columns(mail: sqlite3.Connection, table: str, *names: str) -> str:
    """Return names of columns as a question has them; those that an older server does not know hold nothing."""
    known = {text_of(row[1]) for row in mail.execute(f"PRAGMA table_info({table})")}
    return ", ".join(name if name in known else f"NULL AS {name}" for name in names)
