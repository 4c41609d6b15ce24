"""The user's signing key: created on first use, stored outside every mailbox."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from mailstore.errors import StoreError
from mailstore.files.append import refusal
from mailstore.files.salvage import UNREADABLE
from mailstore.files.whole import NotAFile, read_whole
from mailstore.installation import remedy
from mailstore.kinds.agentazall.block import wrapped
from mailstore.kinds.agentazall.places import make_private, state_folder
from mailstore.kinds.agentazall.signature import fingerprint_of, is_checkable

LARGEST = 1 << 16


class Identity(NamedTuple):
    """A private key (seed of 32 bytes) and its public key."""

    seed: bytes
    public: bytes

    @property
    def public_key(self) -> str:
        """Return the public key in base64, as in messages."""
        return base64.b64encode(self.public).decode("ascii")

    def signed(self, body: str) -> str:
        """Return a body as a block signed with this key."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        signature = Ed25519PrivateKey.from_private_bytes(self.seed).sign(body.encode())
        return wrapped(body, fingerprint_of(self.public), self.public_key, base64.b64encode(signature).decode("ascii"))


class _File(msgspec.Struct):
    private_key_hex: str
    public_key_hex: str = ""


def own_identity() -> Identity:
    """Return the user's identity, creating it if needed. Raises StoreError."""
    if not is_checkable():
        raise StoreError("mail can't be signed", remedy("agentazall"), "E449")
    path = _path()
    try:
        identity = identity_in(path)
        if identity is None:
            make_private(path, _fresh())
            identity = identity_in(path)
    except OSError as error:
        raise refusal(path, error) from error
    if identity is None:
        raise StoreError(f"{path} has disappeared", "try again", "E450")
    return identity


def _path() -> Path:
    return state_folder() / "identity.json"


def identity_in(path: Path) -> Identity | None:
    """Return the identity in a file, None if there is no file. Raises OSError, StoreError."""
    try:
        data = read_whole(path, LARGEST)
        seed = bytes.fromhex(msgspec.json.decode(data, type=_File).private_key_hex)
    except FileNotFoundError:
        return None
    except (NotAFile, *UNREADABLE) as error:
        raise StoreError(
            f"{path} has no key in it", "restore it, or move it away to start with a new key", "E454"
        ) from error
    if len(seed) != 32:
        raise StoreError(f"{path} has no key in it", "restore it, or move it away to start with a new key", "E454")
    return Identity(seed, public_of(seed))


def _fresh() -> bytes:
    seed = os.urandom(32)
    return msgspec.json.encode(_File(seed.hex(), public_of(seed).hex()))


def public_of(seed: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
