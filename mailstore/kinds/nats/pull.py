"""Read a stream in order from a sequence number on, and go on with what comes.

The server keeps a consumer in its memory for as long as it is asked: it acknowledges nothing, is no part of the
mailbox, and ends by itself. Messages are pulled, not pushed: a slow reader is not sent more than it asked for.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Self

import msgspec

from mailstore.kinds.nats.stream import API, STATUS, StreamRecord, ask, marked, record_of

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription

BATCH = 1000
MOST_BYTES = 1 << 24
EXPIRES = 20.0
BEATS = 1.0
"""How often a server that has nothing to send says that it is there, in seconds."""
SILENCE = 2.5
"""After how many seconds without a sign a server is taken for lost."""
BACKLOG = 4000
"""Messages that wait to be read; no more are asked for, nor if they have as many bytes as are asked for at a time."""
NANO = 1_000_000_000
HEARTBEAT = "100"


class PullBroken(Exception):
    """The server stopped sending, or left something out: read on with another consumer; the text says why."""


class Pull:
    """A consumer of a stream, and what it has sent; for one reader, on the connection's thread."""

    def __init__(self, client: Client, stream: str) -> None:
        self._client, self._stream = client, stream
        self._name = ""
        self._subscription: Subscription | None = None
        self._inbox = client.new_inbox()
        self._got: list[StreamRecord] = []
        self._expected = 1
        self._asked = self._size = 0
        self._why = ""
        self._moved = asyncio.Event()
        self._sign = monotonic()
        self._pending = 0
        self.left = 0
        """How many messages the server had after the last one that was read."""

    @classmethod
    async def opened(cls, client: Client, stream: str, start: int, subject: str | None = None) -> Self:
        """Start to read from a sequence number on. Raises RequestRefused, and errors of nats."""
        pull = cls(client, stream)
        config: dict[str, object] = {
            "ack_policy": "none",
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": max(1, start),
            "max_deliver": 1,
            "mem_storage": True,
            "num_replicas": 1,
            "inactive_threshold": 30 * NANO,
        }
        if subject is not None:
            config["filter_subject"] = subject
        made = await ask(client, f"CONSUMER.CREATE.{stream}", {"stream_name": stream, "config": config})
        pull._name = made["name"]
        pull._pending = pull.left = made.get("num_pending", 0)
        pull._subscription = await client.subscribe(pull._inbox, cb=pull._take)
        return pull

    async def read(self) -> list[StreamRecord]:
        """Return what has come, as soon as there is anything. Raises PullBroken, and errors of nats."""
        self._sign = monotonic()
        while True:
            await self._ask()
            if self._got:
                got, self._got, self._size = self._got, [], 0
                return got
            if self._why:
                raise PullBroken(self._why)
            self._moved.clear()
            try:
                async with asyncio.timeout(self._sign + SILENCE - monotonic()):
                    await self._moved.wait()
            except TimeoutError:
                raise PullBroken("the server sends no sign") from None

    async def close(self) -> None:
        with suppress(Exception):
            if self._subscription is not None:
                await self._subscription.unsubscribe()
            if self._client.is_connected:
                await self._client.publish(f"{API}.CONSUMER.DELETE.{self._stream}.{self._name}", b"")

    async def _ask(self) -> None:
        """Ask for more before the last of what was asked for has come, unless too much waits."""
        is_much = self._asked + len(self._got) > BACKLOG or self._size > MOST_BYTES
        if self._asked > BATCH // 2 or is_much or self._why:
            return
        question = {
            "batch": BATCH,
            "max_bytes": max(MOST_BYTES, 2 * self._client.max_payload),
            "expires": int(EXPIRES * NANO),
            "idle_heartbeat": int(BEATS * NANO),
        }
        self._asked += BATCH
        to = f"{API}.CONSUMER.MSG.NEXT.{self._stream}.{self._name}"
        await self._client.publish(to, msgspec.json.encode(question), reply=self._inbox)

    async def _take(self, message: Msg) -> None:
        self._sign = monotonic()
        self._moved.set()
        headers = message.headers
        if not message.reply.startswith("$JS.ACK."):
            self._told(headers or {})
            return
        # $JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.DELIVERED.STREAM_SEQUENCE.CONSUMER_SEQUENCE.TIME.PENDING[.TOKEN]
        tokens = message.reply.split(".")
        at = 5 if len(tokens) < 11 else 7
        if int(tokens[at + 1]) != self._expected or self._why:
            self._why = self._why or "messages were left out"
            return
        self._expected += 1
        time = int(tokens[at + 2]) / NANO
        record = record_of(message.subject, int(tokens[at]), time, message.data, headers)
        self._got.append(marked(record, headers) if headers else record)
        self._pending = int(tokens[at + 3])
        self._asked -= 1
        if self._asked == BATCH // 2:
            await self._ask()
        self._size += len(message.data)

    def _told(self, headers: dict[str, str]) -> None:
        """Take a word of the server about the pull: that it is there, that the pull has ended, or the consumer."""
        status, words = headers.get(STATUS, ""), headers.get("Description", "")
        if status == HEARTBEAT:
            last = headers.get("Nats-Last-Consumer", "")
            if last.isdigit() and int(last) >= self._expected:
                self._why = "messages were left out"
        elif status in ("404", "408") or "MaxBytes" in words or "Batch Completed" in words:
            left = headers.get("Nats-Pending-Messages", "")
            self._asked = max(0, self._asked - int(left)) if left.isdigit() else 0
        else:
            self._why = words.lower() or f"the server says {status}"
