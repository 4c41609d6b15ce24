"""The query language: a text becomes a tree of words, phrases, patterns, fields, `-` and OR (docs/search.md)."""

from __future__ import annotations

from mailstore.queries.language.parser import parse
from mailstore.queries.language.tree import All, Either, Field, Not, Pattern, Query, Words

__all__ = ["All", "Either", "Field", "Not", "Pattern", "Query", "Words", "parse"]
