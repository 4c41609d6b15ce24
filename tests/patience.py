"""How long a test waits for what must come: longer than any machine takes, so that only a hang meets it."""

from __future__ import annotations

PATIENCE = 60.0
"""Seconds. What a test says about time itself has bounds of its own."""
