"""The names of streams and subjects (docs/formats/nats.md#layout).

A name becomes a token by percent-encoding whatever is not an ASCII letter, a digit, `_` or `-`, so that no two names
share a token; case is kept. A name that is too long for a subject becomes a digest, marked as no encoded name can be.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from urllib.parse import quote_from_bytes, unquote_to_bytes

LONGEST_TOKEN = 300
EMPTY = "%"
"""The token of the empty name."""
DIGEST = "%%"
"""What a digest begins with."""
ROOT = "signalbox"


class Topic(StrEnum):
    """What the messages of a subject hold."""

    MAIL = "mail"
    READ = "read"
    DELIVERY = "delivery"
    ROSTER = "roster"
    JOURNAL = "journal"
    PRESENCE = "presence"


STORED = tuple(topic for topic in Topic if topic is not Topic.PRESENCE)
"""The topics of the stream that holds a mailbox; the other one keeps the last word of each agent."""


def token_of(name: str) -> str:
    """Return the token of a name; different names have different tokens."""
    data = name.encode("utf-8", "surrogatepass")
    # what quote leaves as it is beyond letters, digits, _ and -: a dot separates tokens
    token = quote_from_bytes(data, safe="").replace(".", "%2E").replace("~", "%7E") or EMPTY
    return token if len(token) <= LONGEST_TOKEN else DIGEST + hashlib.sha256(data).hexdigest()


def name_of(token: str) -> str | None:
    """Return the name that a token encodes; None for a digest, and for a token that no name has."""
    try:
        name = "" if token == EMPTY else unquote_to_bytes(token).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    return name if token_of(name) == token else None


def subject(mailbox: str, topic: Topic | str, token: str) -> str:
    """Return a subject; `*` as topic or token stands for any."""
    return f"{ROOT}.{token_of(mailbox)}.{topic}.{token}"


def mail_stream(mailbox: str) -> str:
    return f"SIGNALBOX_MAIL_{token_of(mailbox)}"


def presence_stream(mailbox: str) -> str:
    """Return the name of the stream that holds who is there now."""
    return f"SIGNALBOX_PRESENCE_{token_of(mailbox)}"
