"""The agent's own keyring, kept as its program keeps it, and warnings that the program doesn't give."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from mailstore.files.append import replace_file
from mailstore.files.salvage import UNREADABLE
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.signature import SignatureFacts, fingerprint_of, key_of

KEYRING_BYTES = 16 << 20
NAME = ".keyring.json"


def note_key(home: Path, sender: str, facts: SignatureFacts) -> list[str]:
    """Note the key of a valid message in the agent's keyring; return warnings. Raises OSError and StoreError.

    A pinned key is never replaced, and a keyring that can't be read is left as it is.
    """
    if not (facts.is_whole and facts.is_named):
        return []
    path = home / NAME
    ring: dict[str, Any] = {}
    try:
        ring = msgspec.json.decode(read_whole(path, KEYRING_BYTES), type=dict[str, Any])
    except FileNotFoundError:
        pass
    except (NotAFile, *UNREADABLE):
        return [f"{path} can't be read: the key of {sender} is not noted there"]
    fingerprint = fingerprint_of(key_of(facts.key))
    warnings = list(_warnings(ring, path, sender, fingerprint, facts.key))
    now = datetime.fromtimestamp(time.time()).isoformat()
    entry = ring.get(fingerprint)
    if not isinstance(entry, dict):
        entry = ring[fingerprint] = {
            "public_key_b64": facts.key, "fingerprint": fingerprint, "first_seen": now, "last_seen": now,
            "addresses": [sender],
        }  # fmt: skip
    elif entry.get("public_key_b64") != facts.key:
        return warnings
    elif isinstance(entry.get("addresses"), list) and sender in entry["addresses"]:
        # written once a message, it would be rewritten all the time for a date that nobody reads
        return warnings
    else:
        known = entry.get("addresses")
        entry["addresses"] = [*(known if isinstance(known, list) else []), sender]
        entry["last_seen"] = now
    replace_file(path, msgspec.json.format(msgspec.json.encode(ring)))
    return warnings


def _warnings(ring: dict[str, Any], path: Path, sender: str, fingerprint: str, key: str) -> Iterator[str]:
    entry = ring.get(fingerprint)
    if isinstance(entry, dict) and entry.get("public_key_b64") != key:
        yield f"{path} has another key for {fingerprint} than the one that signed a message of {sender}"
    for other, value in ring.items():
        with suppress(TypeError):
            if isinstance(value, dict) and other != fingerprint and sender in value.get("addresses", ()):
                yield f"{sender} signs with {fingerprint}; {path} knows it with {other}"
