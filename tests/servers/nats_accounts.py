"""An operator, one account and its users, as JWTs: what a server with creds files is configured with."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from mailstore.kinds.nats.nkey import checked_text

PREFIXES = {"operator": 14 << 3, "account": 0, "user": 20 << 3}
PLAIN = {"conn": -1, "subs": -1, "data": -1, "payload": -1}
ALL = {"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1, **PLAIN}


class KeyPair:
    """A key of an operator, an account or a user."""

    def __init__(self, kind: str) -> None:
        self._prefix = PREFIXES[kind]
        self._key = Ed25519PrivateKey.generate()

    @property
    def public(self) -> str:
        """Return the public key as text."""
        raw = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return checked_text(bytes([self._prefix]) + raw)

    @property
    def seed(self) -> str:
        """Return the seed as text."""
        raw = self._key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
        return checked_text(bytes([18 << 3 | self._prefix >> 5, (self._prefix & 31) << 3]) + raw)

    def token(self, subject: KeyPair, claims: dict[str, Any], **more: Any) -> str:
        """Return a JWT about a subject, signed with this key."""
        body = {"iat": int(time.time()) - 60, "iss": self.public, "sub": subject.public, "name": "test", **more}
        body["jti"] = base64.b32encode(hashlib.sha256(json.dumps(body).encode()).digest()).decode().rstrip("=")
        body["nats"] = {"version": 2, **claims}
        parts = [_encoded(json.dumps(each).encode()) for each in ({"typ": "JWT", "alg": "ed25519-nkey"}, body)]
        return ".".join([*parts, _encoded(self._key.sign(".".join(parts).encode()))])


class Operator:
    """Makes the block of a server's configuration, and creds files for users of its one account."""

    def __init__(self) -> None:
        self._account = KeyPair("account")
        system, operator = KeyPair("account"), KeyPair("operator")
        account = operator.token(self._account, {"type": "account", "limits": ALL})
        self.block = "\n".join(
            [
                f"operator: {operator.token(operator, {'type': 'operator'})}",
                f"system_account: {system.public}",
                "resolver: MEMORY",
                "resolver_preload: {",
                f"  {self._account.public}: {account}",
                f"  {system.public}: {operator.token(system, {'type': 'account', 'limits': PLAIN})}",
                "}",
            ]
        )

    def creds(self, file: Path, *, expires: float | None = None) -> Path:
        """Write the creds file of a new user."""
        user = KeyPair("user")
        more = {} if expires is None else {"exp": int(expires)}
        token = self._account.token(user, {"type": "user", "subs": -1, "data": -1, "payload": -1}, **more)
        file.write_text(
            f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
            f"************************* IMPORTANT *************************\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n",
            encoding="ascii",
        )
        file.chmod(0o600)
        return file


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
