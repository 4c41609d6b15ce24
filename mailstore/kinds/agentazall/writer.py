"""Write a signed message from the user as AgentAZAll delivers one (docs/formats/agentazall.md#writing)."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from mailstore.errors import DraftRefused, StoreError
from mailstore.files.durable import Pending
from mailstore.files.owned import look_of
from mailstore.kinds.agentazall.attached import files_to_send, put_files
from mailstore.kinds.agentazall.block import MARKERS
from mailstore.kinds.agentazall.decode import Copy
from mailstore.kinds.agentazall.identity import own_identity
from mailstore.kinds.agentazall.ledger import run_of
from mailstore.kinds.agentazall.names import HUMAN, USER, address_of
from mailstore.kinds.agentazall.pins import Pins
from mailstore.kinds.agentazall.places import INBOX, OUTBOX, SENT, is_agent_name, make_box, trees_of
from mailstore.kit.bodies import first_line
from mailstore.records.draft import Draft

MODE = 0o640
AGENT_KEY = ".agent_key"
ENDING = frozenset({"Cc", "Zl", "Zp"})
"""Unicode categories of line ends and invisible characters."""


def tree_for(root: Path, names: Sequence[str], is_elsewhere: Callable[[str], bool]) -> str:
    """Return the tree in which a message is written: the first with a folder for each of some recipients.

    Raises DraftRefused where there are several and none has all of them, and OSError.
    """
    trees = trees_of(root)
    if len(trees) == 1:
        return trees[0]
    wanted = {address_of(name): is_elsewhere(name) for name in names}
    for tree in trees:
        there = set(os.listdir(root / tree))  # noqa: PTH208 - names, as they are spelled
        if all(name in there or (is_out and is_carried(root / tree)) for name, is_out in wanted.items()):
            return tree
    raise DraftRefused(
        "to", "names agents that no tree of this mailbox holds together", "write to each of them alone", "E456"
    )


def write_message(root: Path, draft: Draft, subject: str, pins: Pins, is_elsewhere: Callable[[str], bool]) -> Copy:
    """Write a message, all its copies or none; return the location of the sender's.

    If the user's mail is carried, by the program's daemon or by a sync, the message goes to the outbox, and may be to
    agents on other machines. Otherwise it is delivered here. Raises DraftRefused, StoreError and OSError.
    """
    is_out = is_carried(root)
    names = dict.fromkeys(draft.recipients)
    recipients = [_address(root, name, may_be_elsewhere=is_out and is_elsewhere(name)) for name in names]
    body = _body(draft.content)
    files = files_to_send(draft.attachments)
    title = _value("subject", subject) if subject else "".join(c if c.isprintable() else " " for c in first_line(body))
    thread = _value("thread", draft.thread or "")
    home = root / HUMAN
    if home.is_symlink():
        raise DraftRefused("sender", f"has a symbolic link as folder ({HUMAN})", "replace it by a folder", "E457")
    identity = own_identity()
    pins.pin(USER, identity.public_key)
    now = time.localtime()
    message_id = secrets.token_hex(6)
    header = {
        "From": HUMAN,
        "To": ", ".join(recipients),
        "Subject": title,
        "Date": time.strftime("%Y-%m-%d %H:%M:%S", now),
        "Message-ID": message_id,
        "Status": "new",
        **({"Attachments": ", ".join(name for name, _ in files)} if files else {}),
        **({"In-Reply-To": thread} if thread else {}),
    }
    head = "".join(f"{name}: {value}\n" for name, value in header.items())
    day, file = time.strftime("%Y-%m-%d", now), f"{message_id}.txt"
    kept = Copy(HUMAN, day, OUTBOX if is_out else SENT, file)
    copies = [Copy(name, day, INBOX, file) for name in recipients] if kept.box == SENT else []
    _write(root, [kept, *copies], f"{head}\n---\n{identity.signed(body)}".encode(), files)
    return kept


def is_carried(root: Path) -> bool:
    """Return whether the user's outbox is emptied: by a daemon, or by a sync that has worked for it."""
    return (root / HUMAN / AGENT_KEY).is_file() or any(run.agent == HUMAN for run in run_of(root))


def _address(root: Path, name: str, *, may_be_elsewhere: bool) -> str:
    """Return the folder of a recipient, or a remote address that mail can go out to. Raises DraftRefused."""
    address = address_of(name)
    if address == HUMAN:
        raise DraftRefused("to", "is yourself", "name an agent", "E458")
    if not address.isprintable() or not is_agent_name(address) or {"/", "\\", ","}.intersection(address):
        raise DraftRefused("to", f"{name!r} is not an address here", "name an agent that has a folder here", "E459")
    if may_be_elsewhere and not (root / address).exists():
        return address
    # the exact name: a file system may accept another spelling for the same folder
    if address not in os.listdir(root) or (root / address).is_symlink() or not (root / address).is_dir():  # noqa: PTH208
        raise DraftRefused("to", f"{name!r} has no folder here", "name an agent that has one", "E460")
    return address


def _body(text: str) -> str:
    """Return a body that can be signed: AgentAZAll strips the end and reads every line end as a newline."""
    body = text.replace("\r\n", "\n").replace("\r", "\n").rstrip()
    if any(marker in body for marker in MARKERS):
        raise DraftRefused("body", "contains markers of a signed message", "leave out the marker lines", "E461")
    return body


def _value(field: str, text: str) -> str:
    """Return a value that is valid in a header. Raises DraftRefused for line ends and invisible characters."""
    if any(unicodedata.category(character) in ENDING for character in text):
        raise DraftRefused(field, "holds control characters or line ends", "write it on one line", "E462")
    return text.strip()


def _write(root: Path, copies: list[Copy], data: bytes, files: list[tuple[str, bytes]]) -> None:
    """Write all copies with their files, the sender's last, or none of them. Raises OSError."""
    done: list[Path] = []
    with ExitStack() as stack:
        drafts: list[tuple[Path, Pending]] = []
        for copy in copies:
            path = root / "/".join(copy)
            make_box(root, path.parent)
            drafts.append((path, stack.enter_context(Pending(path, data, look_of(path.parent), MODE))))
        try:
            for path, _ in drafts if files else ():
                put_files(path.with_suffix(""), files, MODE)
            for path, draft in reversed(drafts):
                if not draft.appear():
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
                done.append(path)
        except (OSError, StoreError):
            for path in done:
                with suppress(OSError):
                    path.unlink()
            for path, _ in drafts if files else ():
                shutil.rmtree(path.with_suffix(""), ignore_errors=True)
            raise
