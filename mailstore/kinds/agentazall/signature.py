"""The facts about a message's signature (docs/formats/agentazall.md#signatures).

A signature covers the body and nothing else: no header, no attachment. So no single fact proves that a message
is genuine, and no verdict is derived from them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from mailstore.kinds.agentazall.block import Block, as_upstream_reads, block_of, is_marked
from mailstore.kinds.agentazall.message_file import SignedFile

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

NOT_CHECKED = "signatures are not checked: "
LEGACY = ("Public-Key", "Signature")
"""The headers used for signing by version 1.0.17."""


class SignatureVerdict(StrEnum):
    """The result of checking a signature; bad results are in capitals."""

    NONE = "none"
    VALID = "valid"
    INVALID = "INVALID"
    BROKEN = "BROKEN"
    NOT_CHECKED = "not-checked"
    LEGACY_VALID = "legacy-valid"
    LEGACY_INVALID = "legacy-INVALID"


class SignatureFacts(NamedTuple):
    """The facts about one body's signature.

    `key` is the public key in the message in canonical base64, empty if there is no valid one. `is_named`: whether
    the fingerprint in the message matches the key. `upstream`: the verdict of the original program (None: not signed,
    or not checked).
    """

    verdict: SignatureVerdict
    key: str = ""
    is_named: bool = False
    is_all: bool = True
    is_nested: bool = False
    upstream: bool | None = None

    @property
    def is_whole(self) -> bool:
        """Return whether a valid signature covers the whole text."""
        return self.verdict is SignatureVerdict.VALID and self.is_all

    def tags(self) -> tuple[str, ...]:
        """Return the facts as tags, warnings in capitals."""
        tags = [f"signature:{self.verdict}"]
        if self.verdict in (SignatureVerdict.VALID, SignatureVerdict.INVALID, SignatureVerdict.NOT_CHECKED):
            tags.append("fingerprint:matches" if self.is_named else "fingerprint:MISMATCH")
        if not self.is_all:
            tags.append("text-outside-signature")
        if self.is_nested:
            tags.append("nested-signature")
        if self.upstream is not None:
            tags.append("upstream:valid" if self.upstream else "upstream:INVALID")
        return tuple(tags)


def facts_of(signed: SignedFile) -> SignatureFacts:
    """Return the facts about a message's signature; our own check uses the outermost block."""
    block = block_of(signed.body)
    if block is None:
        if is_marked(signed.body):
            return SignatureFacts(SignatureVerdict.BROKEN, upstream=_upstream(signed.body))
        return _legacy(signed)
    key = _decoded(block.public_key, 32)
    text = base64.b64encode(key).decode("ascii") if key else ""
    is_named = bool(key) and block.fingerprint.lower() == fingerprint_of(key)
    if not is_checkable():
        return SignatureFacts(SignatureVerdict.NOT_CHECKED, text, is_named, block.is_all, block.is_nested)
    verdict = SignatureVerdict.VALID if _is_valid(block) else SignatureVerdict.INVALID
    if verdict is SignatureVerdict.VALID and block.is_all and not block.is_nested and _is_plain(block):
        return SignatureFacts(verdict, text, is_named, upstream=True)
    return SignatureFacts(verdict, text, is_named, block.is_all, block.is_nested, _upstream(signed.body))


def fingerprint_of(key: bytes) -> str:
    return hashlib.sha256(key).hexdigest()[:16]


def key_of(text: str) -> bytes:
    """Return the public key in base64 text, empty if invalid."""
    return _decoded(text, 32)


@lru_cache(maxsize=1)
def is_checkable() -> bool:
    """Return whether the library for checking signatures is installed."""
    try:
        import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401 - asked for only when one is met
    except ImportError:
        return False
    return True


def _is_plain(block: Block) -> bool:
    """Return whether the original program certainly extracts the same payload as we do."""
    payload = block.payload
    return not block.has_crlf and "\r" not in payload and payload == payload.rstrip() and "---END AGENT" not in payload


def _is_valid(block: Block) -> bool:
    if _verify(block.public_key, block.signature, block.payload):
        return True
    # a file whose line ends were all converted
    return block.has_crlf and _verify(block.public_key, block.signature, block.payload.replace("\r\n", "\n"))


def _upstream(body: str) -> bool | None:
    read = as_upstream_reads(body)
    return None if read is None or not is_checkable() else _verify(read.public_key, read.signature, read.payload)


def _legacy(signed: SignedFile) -> SignatureFacts:
    """Return the facts about a signature over all headers and the body, as made by version 1.0.17."""
    public_key, signature = (dict(signed.lines).get(name, "") for name in LEGACY)
    if not public_key or not signature:
        return SignatureFacts(SignatureVerdict.NONE)
    key = _decoded(public_key, 32)
    text = base64.b64encode(key).decode("ascii") if key else ""
    if not is_checkable():
        return SignatureFacts(SignatureVerdict.NOT_CHECKED, text)
    head = "".join(f"{name}: {value}\n" for name, value in dict(signed.lines).items() if name != "Signature")
    is_valid = _verify(public_key, signature, f"{head}---\n{signed.body}")
    return SignatureFacts(
        SignatureVerdict.LEGACY_VALID if is_valid else SignatureVerdict.LEGACY_INVALID, text, upstream=is_valid
    )


def _verify(public_key: str, signature: str, payload: str) -> bool:
    from cryptography.exceptions import InvalidSignature

    key, signed = _loaded(public_key), _decoded(signature, 64)
    if key is None or not signed:
        return False
    try:
        key.verify(signed, payload.encode())
    except InvalidSignature:
        return False
    return True


@lru_cache(maxsize=1024)
def _loaded(text: str) -> Ed25519PublicKey | None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = _decoded(text, 32)
    try:
        return Ed25519PublicKey.from_public_bytes(key) if key else None
    except ValueError:
        return None


def _decoded(text: str, length: int) -> bytes:
    """Return the bytes in base64 text, empty unless there are exactly `length`."""
    try:
        decoded = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        return b""
    return decoded if len(decoded) == length else b""
