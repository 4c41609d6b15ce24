"""The events of hcom (docs/formats/hcom.md)."""

from __future__ import annotations

from mailstore.kinds.hcom.store import HcomStore

__all__ = ["HcomStore"]
