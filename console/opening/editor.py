"""The person's editor."""

from __future__ import annotations

import os


def editor_command(configured: str | None) -> str:
    """Return the command line of the editor: the configured one, $VISUAL, $EDITOR or vi."""
    return configured or os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
