"""Columns in queries, and their values."""

from __future__ import annotations

import sqlite3
from typing import Any


def text_of(value: Any) -> str:
    """Return a column's value as text; empty for NULL."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def columns(mail: sqlite3.Connection, table: str, *names: str) -> str:
    """Return columns for a query; columns that an older server lacks are NULL."""
    known = {text_of(row[1]) for row in mail.execute(f"PRAGMA table_info({table})")}
    return ", ".join(name if name in known else f"NULL AS {name}" for name in names)
