"""The keys that a browser takes for itself, and what works in their place."""

from __future__ import annotations

BROWSER_KEYS = (
    ("ctrl+w/t/n", "Stay with the browser; ctrl+backspace and alt+backspace delete a word"),
    ("ctrl+v", "Paste from the clipboard; also shift+ins"),
    ("shift+drag", "Select text across panes; ctrl+shift+c copies it"),
    ("ctrl+plus/minus", "Make everything larger or smaller; ctrl+0: the usual size"),
    ("q", "Quit; in Firefox ctrl+q closes the browser"),
)
"""Keys as the help shows them, and what they do."""
