"""The configuration of one nats-server with JetStream on loopback."""

from __future__ import annotations

import json
from pathlib import Path


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
