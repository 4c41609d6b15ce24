"""The links that let a browser in: printed on a terminal, or kept in a file that only its owner can read."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from console.errors import Refused
from console.serve.access import KeyPair, Keys, PageAccess
from mailstore.errors import reason_of
from mailstore.kit.secret import SecretMissing, private_text

TOKEN = re.compile(r"^(full|read-only) \S*\?token=([0-9a-f]{32})$", re.MULTILINE)


def link(address: str, token: str) -> str:
    """Return the link with a token."""
    return f"{address}/?token={token}"


def kept_keys(path: Path | None, wanted: list[PageAccess]) -> Keys:
    """Return keys with the tokens of the links in a file, and new ones where it has none. Raises Refused."""
    kept: dict[str, str] = {}
    if path is not None and os.path.lexists(path):
        try:
            kept = dict(TOKEN.findall(private_text(path, is_own=True)))
        except SecretMissing as error:
            raise Refused(error.problem, error.remedy) from error
    return Keys({access: KeyPair(kept.get(access.value, "")) for access in wanted})


def keep_links(path: Path, address: str, keys: Keys) -> None:
    """Write the links to a file that only its owner can read, whole or not at all. Raises Refused."""
    text = "".join(f"{access.value} {link(address, token)}\n" for access, token in keys.tokens().items())
    name = ""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # with mode 600
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True) if name else None
        raise Refused(
            f"{path} can't be written ({reason_of(error)})", "name another file with --links", "E172"
        ) from error
