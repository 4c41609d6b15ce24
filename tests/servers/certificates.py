"""Certificates of an authority made for a test: good ones, expired ones, and ones for another host."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import trustme

DAY = timedelta(days=1)


class Certificates(msgspec.Struct, frozen=True):
    """Files in PEM: the authority's certificate, and for each server a certificate with its chain, and a key."""

    authority: Path
    certificate: Path
    key: Path
    expired: Path
    expired_key: Path
    elsewhere: Path
    """Valid, but for another host name."""
    elsewhere_key: Path


def certificates(folder: Path) -> Certificates:
    """Make an authority and its certificates for 127.0.0.1, written into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    now = datetime.now(UTC)
    made = {
        "server": authority.issue_cert("127.0.0.1", "localhost"),
        "expired": authority.issue_cert("127.0.0.1", "localhost", not_before=now - 2 * DAY, not_after=now - DAY),
        "elsewhere": authority.issue_cert("elsewhere.example"),
    }
    for name, each in made.items():
        (folder / f"{name}.pem").write_bytes(b"".join(part.bytes() for part in each.cert_chain_pems))
        each.private_key_pem.write_to_path(str(folder / f"{name}.key"))
        (folder / f"{name}.key").chmod(0o600)
    files = [folder / f"{name}{kind}" for name in made for kind in (".pem", ".key")]
    return Certificates(folder / "authority.pem", *files)
