"""Names from elsewhere as names of files: one path component, whatever was said, and never the same for two names."""

from __future__ import annotations

import hashlib
import re

__all__ = ["safe_name"]

LONGEST = 100
"""Bytes: what a prefix, an ending and a file system's own limit leave room for."""
REPLACED = re.compile(r".*~[0-9a-f]{16}", re.DOTALL)
"""How a name ends that stands for another: a name that ends so by itself is replaced too."""
SEPARATORS = frozenset("/\\")
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE | re.ASCII)
"""What no file may be called where a shared folder is mounted by Windows."""


def safe_name(text: str, refused: str = "", reserved: frozenset[str] = frozenset()) -> str:
    """Return a name as it stands where it can be one path component, else a cleaned one that ends in a digest of it.

    Separators, control characters, leading dots, spaces around it, the names of devices, `reserved` ones and
    characters `refused` are replaced, and what is too long is cut.
    """
    bad = SEPARATORS.union(refused)
    kept = "".join(char if char.isprintable() and char not in bad else "-" for char in text)
    is_safe = kept == text == text.strip() and not text.startswith(".") and len(text.encode()) <= LONGEST
    if is_safe and text and text not in reserved and not DEVICES.fullmatch(text) and not REPLACED.fullmatch(text):
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    room = LONGEST - len(digest) - 1
    return f"{kept.strip('. ').encode()[:room].decode('utf-8', 'ignore')}~{digest}"
