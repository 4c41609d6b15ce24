"""Which session has which agent id: the first living one that claims it. Imports next to nothing, because hooks do it.

For each id there is a file in the folder `names` of a mailbox's state, locked while it is decided.
"""

from __future__ import annotations

import os

from console.hooks.sessions.processes import is_live
from console.hooks.sessions.session_state import read_state
from mailstore.errors import StoreError
from mailstore.files.append import locked
from mailstore.files.scan import Unusual, ascii_json, decoded
from mailstore.files.whole import open_binary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from console.hooks.sessions.session_state import SessionState

NAMES = "names"
PATIENCE_SECONDS = 0.5
YOUNG_SECONDS = 10.0
"""A session that has claimed an id this recently may not have saved its state yet."""
LONGEST = 4096


def claim(folder: str, agent_id: str, state: SessionState, now: float, *, is_own: bool) -> bool:
    """Claim an agent id for a session; return whether it has it now. `now` is seconds since the epoch.

    An id that another session made of its own (`is_own`) is never given away, because that session may be resumed.
    Raises OSError where the state folder can't be written.
    """
    path = claim_path(folder, agent_id)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
    try:
        with locked(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PATIENCE_SECONDS) as fd:
            holder = _Holder(os.pread(fd, LONGEST, 0))
            if not holder.is_session(state) and holder.keeps(folder, agent_id, now):
                return False
            claim = {"tool": state.tool, "session": state.session_id, "since": now, "own": is_own}
            data = (ascii_json(claim) + "\n").encode()
            os.pwrite(fd, data, 0)
            os.ftruncate(fd, len(data))
    except StoreError:  # another session is claiming it just now, or the file can't be had
        return False
    return True


def claim_path(folder: str, agent_id: str) -> str:
    """Return the file of an id; `/` separates the label of one of several mailboxes and occurs in no id."""
    return f"{folder}/{NAMES}/{agent_id.replace('/', '%')}"


def holder_file(folder: str, path: str) -> str:
    """Return the state file of the session that has claimed an id, given the id's file; empty where none has."""
    try:
        with open_binary(path) as file:
            return _Holder(file.read(LONGEST)).file(folder)
    except OSError:
        return ""


class _Holder:
    """The session that claimed an id, as its file says; none where the file is new or damaged."""

    def __init__(self, data: bytes) -> None:
        self._tool = self._session = ""
        self._since = 0.0
        self._is_own = False
        try:
            fields = decoded(data.partition(b"\n")[0])
            self._tool, self._session = str(fields["tool"]), str(fields["session"])
            self._since, self._is_own = float(fields["since"]), fields["own"] is True
        except (Unusual, KeyError, OverflowError, TypeError, ValueError):  # damaged
            self._tool = self._session = ""

    def is_session(self, state: SessionState) -> bool:
        return (self._tool, self._session) == (state.tool, state.session_id)

    def file(self, folder: str) -> str:
        """Return the session's state file; empty if there is none."""
        return (
            f"{folder}/{self._tool}-{self._session}" if self._session and "/" not in self._tool + self._session else ""
        )

    def keeps(self, folder: str, agent_id: str, now: float) -> bool:
        """Say whether the holder still has the id."""
        path = self.file(folder)
        if not path:
            return False
        if self._is_own:
            return True
        try:
            with open_binary(path) as file:
                state = read_state(file.read(), self._tool, self._session)
        except OSError:
            return abs(now - self._since) < YOUNG_SECONDS
        if state.last_run < self._since:  # what it was before the claim
            return abs(now - self._since) < YOUNG_SECONDS
        return state.agent_id == agent_id and is_live(state, now)
