"""NKEYs, the Ed25519 keys of NATS: a seed as text signs what the server asks, and gives the public key.

A key is base32 without padding: prefix, 32 bytes, and a CRC-16 of both. A seed has two bytes of prefix: that it is a
seed, and of what.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from mailstore.errors import StoreError
from mailstore.installation import remedy

SEED = 18 << 3
USER = 20 << 3
SHAPE = re.compile(r"SU[A-Z2-7]{56}")


def sign(seed: str, nonce: str) -> bytes:
    """Return the signature of a nonce in base64. Raises StoreError for what is not the seed of a user."""
    return base64.b64encode(_key(seed).sign(nonce.encode()))


def user_key(seed: str) -> str:
    """Return the public key, `U…`, of a user's seed. Raises StoreError."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = _key(seed).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return checked_text(bytes([USER]) + public)


def new_seed() -> str:
    """Return the seed of a new user. Raises StoreError where keys can't be made."""
    private = _library()
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    raw = private.generate().private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    return checked_text(bytes([SEED | USER >> 5, (USER & 31) << 3]) + raw)


def _library() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ModuleNotFoundError:
        raise StoreError("the package cryptography is not installed", remedy("nats"), "E419") from None
    return Ed25519PrivateKey


def _key(seed: str) -> Any:
    private = _library()
    wrong = StoreError("the NKEY is not the seed of a user", "it must begin with SU and have 58 characters", "E418")
    text = seed.strip()
    if not SHAPE.fullmatch(text):
        raise wrong
    try:
        raw = base64.b32decode(text + "=" * (-len(text) % 8))
    except binascii.Error:
        raise wrong from None
    body, check = raw[:-2], raw[-2:]
    if _check(body) != check or body[0] & 0xF8 != SEED or (body[0] & 7) << 5 | body[1] >> 3 != USER:
        raise wrong
    return private.from_private_bytes(body[2:])


def checked_text(body: bytes) -> str:
    """Return a key as text: base32 of it and its check sum."""
    return base64.b32encode(body + _check(body)).decode().rstrip("=")


def _check(body: bytes) -> bytes:
    return binascii.crc_hqx(body, 0).to_bytes(2, "little")
