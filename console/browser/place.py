"""Whether this console is shown in a browser, what it may do there, and which keys the browser takes for itself."""

from __future__ import annotations

import os

VARIABLE = "SIGNALBOX_BROWSER"
"""The variable of the environment that `signalbox serve` sets for its consoles, to one of the values below."""

FULL = "full"
READ_ONLY = "read-only"
"""For somebody else: nothing is written, neither in the mailbox nor on this machine, and no program is run."""

WITHHELD = "not from a read-only link: no program is run on the server's machine"


def is_in_browser() -> bool:
    """Say whether a page in a browser is this console's terminal."""
    return VARIABLE in os.environ


def is_read_only() -> bool:
    """Say whether somebody else may be looking; a value that is not known counts as such."""
    return os.environ.get(VARIABLE, FULL) != FULL


BROWSER_KEYS = (
    ("ctrl+w/t/n", "Stay with the browser; ctrl+backspace and alt+backspace delete a word"),
    ("ctrl+v", "Paste from the clipboard; also shift+ins"),
    ("shift+drag", "Select text across panes; ctrl+shift+c copies it"),
    ("ctrl+plus/minus", "Make everything larger or smaller; ctrl+0: the usual size"),
    ("q", "Quit; in Firefox ctrl+q closes the browser"),
)
"""Keys as the help shows them, and what they do."""
