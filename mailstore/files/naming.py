"""Turn any name into a file name: one path component, and a different one for each name."""

from __future__ import annotations

import hashlib
import re

LONGEST = 100
"""Bytes: a file system's limit less room for a prefix and an ending."""
REPLACED = re.compile(r".*~[0-9a-f]{16}", re.DOTALL)
"""How a replaced name ends; a name that happens to end like this is replaced too."""
SEPARATORS = frozenset("/\\")
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE | re.ASCII)
"""Names that no file may have in a folder that Windows mounts."""


def safe_name(text: str, refused: str = "", reserved: frozenset[str] = frozenset()) -> str:
    """Return a name unchanged if it can be a file name; else a cleaned one that ends in a digest of it.

    Separators, control characters, leading dots, surrounding spaces, the names of devices, `reserved` names and
    `refused` characters are replaced, and a long name is truncated: `safe_name("../x")`.
    """
    bad = SEPARATORS.union(refused)
    kept = "".join(char if char.isprintable() and char not in bad else "-" for char in text)
    is_safe = kept == text == text.strip() and not text.startswith(".") and len(text.encode()) <= LONGEST
    if is_safe and text and text not in reserved and not DEVICES.fullmatch(text) and not REPLACED.fullmatch(text):
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    room = LONGEST - len(digest) - 1
    return f"{kept.strip('. ').encode()[:room].decode('utf-8', 'ignore')}~{digest}"
