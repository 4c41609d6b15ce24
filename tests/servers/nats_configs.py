"""Configurations of nats-server for tests: one node, a node of a cluster, TLS, users with permissions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["Permissions", "one_node", "users_block"]

Permissions = Mapping[str, Sequence[str]]
"""The subjects that a user may `publish` to and `subscribe` to; left out: all."""


def one_node(folder: Path, *blocks: str, port: int = -1, name: str = "one", max_file: str = "4G") -> Path:
    """Write the configuration of a server with JetStream that keeps its files in a folder; `blocks` are added."""
    folder.mkdir(parents=True, exist_ok=True)
    storage = json.dumps(str(folder / "storage"))
    lines = [
        f'server_name: "{name}"',
        f"listen: 127.0.0.1:{port}",
        f"jetstream {{ store_dir: {storage}, max_memory_store: 256M, max_file_store: {max_file} }}",
        *blocks,
    ]
    file = folder / "server.conf"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def users_block(users: Mapping[str, tuple[str, Permissions]]) -> str:
    """Return the block of users, each with a password and what it may do."""
    entries = []
    for name, (password, allowed) in users.items():
        rights = ", ".join(f"{verb} = {{ allow = {json.dumps(list(subjects))} }}" for verb, subjects in allowed.items())
        permissions = f", permissions = {{ {rights} }}" if rights else ""
        entries.append(f"  {{ user = {json.dumps(name)}, password = {json.dumps(password)}{permissions} }}")
    return "authorization { users = [\n" + "\n".join(entries) + "\n] }"
