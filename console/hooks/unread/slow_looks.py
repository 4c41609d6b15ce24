"""Looks at mailboxes so long that a hook's clock may end them: not tried with each event, and made quick meanwhile.

After a look that did not end, a detached process folds the mailbox, which keeps what later looks need. Imports next to
nothing, because hooks do.
"""

from __future__ import annotations

import os

from console.hooks.unread.watched import mailbox_file
from mailstore.files.detached import start_detached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from console.hooks.sessions.session_state import SessionState

LONG_BYTES = 32 << 20
"""The size from which on a look takes long without what a fold keeps."""
RETRY_SECONDS = 600.0
FOLDING = "folding"
"""A file in the hooks' folder of a mailbox: locked while a process folds it, touched when that is done."""
STARTED, ASKED = "look_started", "fold_asked"


def is_too_slow(state: SessionState, folder: str, now: float) -> bool:
    """Say whether to leave a look out, because the last one did not end; ask for a fold then.

    It is tried again after ten minutes, or when the mailbox was folded since.
    """
    started = _time(state, STARTED)
    if not started or now - started >= RETRY_SECONDS or _changed(f"{folder}/{FOLDING}") > started:
        return False
    if now - _time(state, ASKED) >= RETRY_SECONDS:
        state.extra[ASKED] = now
        _fold_ahead(state.mailbox, folder)
    return True


def begin_look(state: SessionState, mailbox: str, now: float) -> bool:
    """Note that a look begins, where it may take long; return whether it was noted, and the state must be saved."""
    path = mailbox_file(mailbox)
    try:
        is_long = not path or os.stat(path).st_size >= LONG_BYTES  # noqa: PTH116 - pathlib costs too much
    except OSError:
        is_long = False
    if is_long:
        state.extra[STARTED] = now
    return is_long


def end_look(state: SessionState) -> None:
    """Note that a look has ended."""
    state.extra.pop(STARTED, None)
    state.extra.pop(ASKED, None)


def _time(state: SessionState, name: str) -> float:
    value = state.extra.get(name)
    return value if isinstance(value, int | float) else 0.0


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime  # noqa: PTH116
    except OSError:
        return 0.0


def _fold_ahead(mailbox: str, folder: str) -> None:
    """Start a process that folds a mailbox and outlives this one."""
    program = f"{os.path.dirname(os.path.abspath(__file__))}/fold_ahead.py"  # noqa: PTH100, PTH120
    start_detached(["-I", program, mailbox, f"{folder}/{FOLDING}"], os.environ)
