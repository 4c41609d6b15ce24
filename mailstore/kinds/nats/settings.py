"""What there is to set for servers: the table [nats] of config.toml."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct


class NatsSettings(Struct, frozen=True):
    """The table [nats]: how to log in to NATS servers; $SIGNALBOX_NATS_CREDS and so on go first."""

    creds: Annotated[str, "A creds file, which only you can read."] = ""
    nkey: Annotated[str, "A file with the seed of an NKEY, instead."] = ""
    user: Annotated[str, "A user's name, instead."] = ""
    password_file: Annotated[str, "A file with that user's password on the first line, which only you can read."] = ""
    ca: Annotated[str, "The authority's certificate, in PEM, for nats+tls; empty: those of the system."] = ""
    cert: Annotated[str, "A certificate of your own in PEM, for servers that ask for one."] = ""
    key: Annotated[str, "The key of that certificate."] = ""
