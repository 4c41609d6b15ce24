"""Mailboxes of AgentAZAll that a test writes file by file."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from mailstore.conformance.following import scanned
from mailstore.kinds.agentazall.identity import Identity, public_of
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.records.events import Event
from mailstore.records.message import Message
from tests.kinds.agentazall.agentazall_harness import message_file

FIXTURE = Path(__file__).parents[2] / "fixtures" / "agentazall"
ROOT = FIXTURE / "data" / "mailboxes"
DAY = "2026-11-20"


def identity(number: int) -> Identity:
    """Return one of several identities."""
    seed = bytes([number]) * 32
    return Identity(seed, public_of(seed))


def told(root: Path) -> tuple[dict[str, Message], list[Event]]:
    """Return the messages that lie at a place, by id, and everything that a scan yields."""
    with AgentAZAllStore.open(root) as store:
        events = scanned(store)
    return {event.id: event for event in events if isinstance(event, Message)}, events


class AgentAZAllMail:
    """A folder of mailboxes, with the files as their own program leaves them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "data" / "mailboxes"
        self.root.mkdir(parents=True)

    @classmethod
    def real(cls, folder: Path) -> AgentAZAllMail:
        """Return a copy of the tree that the program itself wrote."""
        shutil.copytree(ROOT, folder / "data" / "mailboxes")
        mail = cls.__new__(cls)
        mail.folder, mail.root = folder, folder / "data" / "mailboxes"
        return mail

    def agent(self, name: str) -> None:
        (self.root / name / DAY / "inbox").mkdir(parents=True, exist_ok=True)

    def put(self, place: str, data: bytes, *, ago: float = 60) -> Path:
        """Write a file, `ago` seconds in the past."""
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".tmp")
        draft.write_bytes(data)
        os.utime(draft, (time.time() - ago, time.time() - ago))
        return draft.replace(path)

    def message(self, where: str, name: str, body: str = "A body.", *, ago: float = 60, **more: str) -> Path:
        """Write a copy into a box, such as `bob@localhost/inbox`; headers by their names, `_` for `-`."""
        header = {
            "From": "bob@localhost",
            "To": "ann@localhost",
            "Subject": f"About {name}",
            "Date": "2026-11-20 12:00:00",
            "Message-ID": name,
            "Status": "new",
        }
        header |= {key.replace("_", "-"): value for key, value in more.items()}
        agent, box = where.split("/")
        present = {key: value for key, value in header.items() if value}
        return self.put(f"{agent}/{DAY}/{box}/{name}.txt", message_file(present, body), ago=ago)
