"""Create the streams of a mailbox."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mailstore.kinds.nats.stream import RequestRefused, ask
from mailstore.kinds.nats.subjects import STORED, Topic, mail_stream, presence_stream, subject

if TYPE_CHECKING:
    from nats.aio.client import Client

NANO = 1_000_000_000
NO_PEERS = 10005
"""The server's number for a cluster in which there are fewer servers than replicas."""
PLACING_SECONDS, AGAIN_SECONDS = 15.0, 0.25
DUPLICATES_SECONDS = 120
"""For how long the server recognises a message that is sent again by its id."""


def mail_config(mailbox: str, replicas: int) -> dict[str, Any]:
    """Return the configuration of the stream that holds a mailbox: nothing in it can be changed or removed."""
    return {
        "name": mail_stream(mailbox),
        "subjects": [subject(mailbox, topic, "*") for topic in STORED],
        "description": f"the Signalbox mailbox {mailbox}",
        "storage": "file",
        "retention": "limits",
        "discard": "new",
        "num_replicas": replicas,
        "deny_delete": True,
        "deny_purge": True,
        "allow_direct": True,
        "duplicate_window": DUPLICATES_SECONDS * NANO,
    }


def presence_config(mailbox: str, replicas: int) -> dict[str, Any]:
    """Return the configuration of the stream that holds who is there: the last word of each.

    It is on disk as well: one server that starts again has forgotten what it had in memory, and the stream with it.
    """
    return {
        "name": presence_stream(mailbox),
        "subjects": [subject(mailbox, Topic.PRESENCE, "*")],
        "description": f"who is there in the Signalbox mailbox {mailbox}",
        "storage": "file",
        "retention": "limits",
        "discard": "old",
        "max_msgs_per_subject": 1,
        "num_replicas": replicas,
        "allow_direct": True,
    }


async def create_streams(client: Client, mailbox: str, replicas: int) -> None:
    """Create a mailbox's streams; those that are there stay as they are. Raises RequestRefused, and errors of nats."""
    for config in (presence_config(mailbox, replicas), mail_config(mailbox, replicas)):
        await _created(client, config)


async def _created(client: Client, config: Mapping[str, Any]) -> None:
    """Create a stream; servers that have just begun don't know of each other yet, and lose requests as they elect."""
    loop = asyncio.get_running_loop()
    end = loop.time() + PLACING_SECONDS
    while True:
        try:
            await ask(client, f"STREAM.CREATE.{config['name']}", config)
        except RequestRefused as refusal:
            if refusal.number != NO_PEERS or loop.time() > end:
                raise
        except TimeoutError:
            if loop.time() > end:
                raise
        else:
            return
        await asyncio.sleep(AGAIN_SECONDS)
