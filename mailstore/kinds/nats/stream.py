"""Ask a server for a stream: what it holds, records by their sequence numbers, and that a new one is created."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from mailstore.kinds.nats.subjects import STORED, Topic, mail_stream, presence_stream, subject
from mailstore.kit.timestamps import time_of

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

API = "$JS.API"
ANSWER_SECONDS = 5.0
"""How long one request may take."""
SOON_SECONDS = 0.5
"""After which it is asked whether there is a stream at all."""
FIRST_ANSWER_SECONDS = 1.0
"""How long an answer is waited for at first by what can be asked or sent again without harm."""
ELECTION_SECONDS = 15.0
"""Longer than nodes take to elect who leads a stream; until then they lose requests, and serve nothing."""
AGAIN_SECONDS = 0.05
"""Between two requests."""
AUDIENCE = "Signalbox-Audience"
"""The header that holds the audience at the moment of sending, as a JSON list."""
COPIED_FROM = "Signalbox-Copied-From"
"""A header of our own making: the subject of a record of which a message is a copy that the server made.

Whoever may only ask for records can have the answer sent to any subject, and the server doesn't check that they may
publish there. It marks an answer with headers; a stored copy has them twice when it is asked for in turn.
"""
BATCHES_SINCE = (2, 11)
MOST_BYTES = 1 << 24
"""Bytes of records in one answer: as many are held at a time, whatever others publish."""
SINGLES = 100
"""How many messages are asked for in turn where a server doesn't give many for one request."""
STATUS, NOBODY = "Status", "503"
SUBJECT, TIME = "Nats-Subject", "Nats-Time-Stamp"
"""What the server adds to a message; the time to no other answer, and whoever publishes can't add its value."""
LAST = "Nats-Last-Sequence"
"""What the server adds to each message of an answer: the number of the one before it there, 0 to the first."""
NO_STREAM = 10059
"""The server's number for a stream that does not exist."""
NO_LEADER = 10008
"""The server's number for a cluster that is electing who knows of all its streams."""

Answer = TypeVar("Answer")


class StreamState(msgspec.Struct, frozen=True):
    """What a stream holds: when it was created, its last sequence number, how many messages."""

    created: str
    last: int
    messages: int


class StreamRecord(NamedTuple):
    """One message of a stream: its number, what its subject says, its time in seconds since the epoch, its bytes."""

    sequence: int
    topic: str
    token: str
    time: float
    data: bytes
    audience: str = ""
    copied_from: str = ""
    """The subject of the record of which this is a copy that the server made; empty for what somebody published."""


class RequestRefused(Exception):
    """A server's answer is an error: its code is like that of HTTP, and its number says exactly what it is."""

    def __init__(self, code: int, number: int, text: str) -> None:
        super().__init__(text)
        self.code, self.number = code, number


class _LeftOut(Exception):
    """An answer came without some of its records, which were lost on their way between two servers."""

    def __init__(self, records: list[StreamRecord], pending: int) -> None:
        self.records, self.pending = records, pending
        self.numbers = [record.sequence for record in records]


async def ask(
    client: Client, subject: str, question: Mapping[str, Any] | None = None, *, seconds: float = ANSWER_SECONDS
) -> dict[str, Any]:
    """Ask JetStream; return its answer. Raises RequestRefused, and errors of nats."""
    data = b"" if question is None else msgspec.json.encode(question)
    answer = await client.request(f"{API}.{subject}", data, timeout=seconds)
    decoded: dict[str, Any] = msgspec.json.decode(answer.data)
    if error := decoded.get("error"):
        raise RequestRefused(error.get("code", 0), error.get("err_code", 0), error.get("description", ""))
    return decoded


async def stream_state(client: Client, stream: str) -> StreamState | None:
    """Return what a stream holds; None if there is none. Asks until an election is over.

    Raises RequestRefused, and errors of nats.
    """
    end = time.monotonic() + ELECTION_SECONDS
    while True:
        try:
            return await ask_state(client, stream)
        except TimeoutError:
            if time.monotonic() > end:
                raise
        except RequestRefused as refusal:
            if refusal.number != NO_LEADER or time.monotonic() > end:
                raise
        await asyncio.sleep(AGAIN_SECONDS)


async def ask_state(client: Client, stream: str) -> StreamState | None:
    """Ask once, and not for long, what a stream holds; as `stream_state`."""
    try:
        answer = await ask(client, f"STREAM.INFO.{stream}", seconds=FIRST_ANSWER_SECONDS)
    except RequestRefused as refusal:
        if refusal.number == NO_STREAM:
            return None
        raise
    state = answer["state"]
    holds = {"created": answer["created"], "last": state["last_seq"], "messages": state["messages"]}
    return msgspec.convert(holds, StreamState)


def record_of(subject: str, sequence: int, time: float, data: bytes, headers: Mapping[str, str] | None) -> StreamRecord:
    _, _, topic, token = subject.split(".", 3)
    if not headers:
        return StreamRecord(sequence, topic, token, time, data)
    return StreamRecord(sequence, topic, token, time, data, headers.get(AUDIENCE, ""), headers.get(COPIED_FROM, ""))


def has_batches(client: Client) -> bool:
    """Say whether the server gives many messages for one request."""
    version = client.connected_server_version
    return (version.major, version.minor) >= BATCHES_SINCE


async def batch(client: Client, stream: str, start: int, count: int, subject: str = ">") -> list[StreamRecord]:
    """Return up to `count` messages from a sequence number on, all at once; fewer where the stream ends.

    Raises errors of nats.
    """
    records: list[StreamRecord] = []
    has_more = count > 0
    while has_more:
        first = records[-1].sequence + 1 if records else start
        got, has_more = await piece(client, stream, first, count - len(records), subject)
        records += got
    return records


async def piece(
    client: Client, stream: str, start: int, count: int, subject: str = ">"
) -> tuple[list[StreamRecord], bool]:
    """Return up to `count` messages from a sequence number on, by a direct get, and whether to ask for more.

    Any replica may answer, and one that lags behind does not have the newest messages yet. Raises errors of nats.
    """
    if not has_batches(client):
        wanted = min(count, SINGLES)
        records = await _one_by_one(client, stream, start, wanted, subject)
        return records, len(records) == wanted < count
    question = {"seq": start, "batch": count, "next_by_subj": subject, "max_bytes": MOST_BYTES}
    records, pending = await _from_a_replica(client, stream, question)
    return records, bool(records) and pending > 0 and len(records) < count


async def _from_a_replica(client: Client, stream: str, question: Mapping[str, Any]) -> tuple[list[StreamRecord], int]:
    """Return what answers one request; wait where a cluster has the stream, but no node serves it yet."""
    from nats.errors import NoRespondersError

    end, before = time.monotonic() + ELECTION_SECONDS, None
    while True:
        try:
            if (gathered := await _gathered(client, stream, question)) is not None:
                return gathered
        except _LeftOut as answer:
            if before is not None and answer.numbers == before.numbers:  # so it isn't lost, whatever the server says
                return answer.records, answer.pending
            before = answer
        except TimeoutError:  # asked of a node that ended
            if time.monotonic() > end:
                raise
        if await stream_state(client, stream) is None:
            raise RequestRefused(404, NO_STREAM, "stream not found")
        if time.monotonic() > end:
            raise NoRespondersError
        await asyncio.sleep(AGAIN_SECONDS)


async def _gathered(client: Client, stream: str, question: Mapping[str, Any]) -> tuple[list[StreamRecord], int] | None:
    """Return the records that answer one request, and how many more the stream has; None if no node answers.

    Raises _LeftOut.
    """
    records: list[StreamRecord] = []
    is_whole = True
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    moved = asyncio.Event()

    async def take(message: Msg) -> None:
        nonlocal is_whole
        moved.set()
        headers = message.headers or {}
        at = str(records[-1].sequence) if records else "0"
        is_whole = is_whole and headers.get(LAST, at) == at
        if TIME not in headers:
            if not ended.done():
                is_there = headers.get(STATUS) != NOBODY
                ended.set_result(int(headers.get("Nats-Num-Pending", "0")) if is_there else -1)
        else:
            records.append(_direct(message.data, headers))

    inbox = client.new_inbox()
    subscription = await client.subscribe(inbox, cb=take)
    try:
        await client.publish(f"{API}.DIRECT.GET.{stream}", msgspec.json.encode(question), reply=inbox)
        while not ended.done():
            moved.clear()
            await _answered(client, stream, moved.wait())
        if not is_whole:
            raise _LeftOut(records, ended.result())
        return (records, ended.result()) if ended.result() >= 0 else None
    finally:
        await subscription.unsubscribe()


async def _one_by_one(client: Client, stream: str, start: int, count: int, subject: str) -> list[StreamRecord]:
    records: list[StreamRecord] = []
    while len(records) < count and (record := await next_one(client, stream, start, subject)) is not None:
        records.append(record)
        start = record.sequence + 1
    return records


async def next_one(client: Client, stream: str, start: int, subject: str = ">") -> StreamRecord | None:
    """Return the first message from a sequence number on, by a direct get; None if there is none."""
    return await _single(client, stream, {"seq": start, "next_by_subj": subject})


async def singles(client: Client, stream: str, sequences: Iterable[int]) -> list[StreamRecord | None]:
    """Return messages by their numbers, all asked for at once; None for one that there is not."""
    return await asyncio.gather(*(one(client, stream, sequence) for sequence in sequences))


async def one(client: Client, stream: str, sequence: int) -> StreamRecord | None:
    """Return a message by its number; None if there is none.

    Where a replica doesn't have it, its leader is asked, which has everything that was acknowledged.
    """
    record = await _single(client, stream, {"seq": sequence})
    if record is not None:
        return record
    return await _from_leader(client, stream, {"seq": sequence})


async def last_on(client: Client, stream: str, subject: str) -> StreamRecord | None:
    """Return the last message on a subject, as the leader knows it; None if there is none."""
    return await _from_leader(client, stream, {"last_by_subj": subject})


async def _single(client: Client, stream: str, question: Mapping[str, Any]) -> StreamRecord | None:
    from nats.errors import NoRespondersError

    asked = client.request(f"{API}.DIRECT.GET.{stream}", msgspec.json.encode(question), timeout=ANSWER_SECONDS)
    try:
        answer = await _answered(client, stream, asked)
    except NoRespondersError:  # which is also what the client library takes a message with a hostile header for
        return None
    headers = answer.headers or {}
    return _direct(answer.data, headers) if TIME in headers else None


async def _answered(client: Client, stream: str, waiting: Coroutine[Any, Any, Answer]) -> Answer:
    """Return an answer; raise RequestRefused when there is none because there is no stream, on which nobody answers."""
    task = asyncio.ensure_future(waiting)
    try:
        await asyncio.wait({task}, timeout=SOON_SECONDS)
        if not task.done():
            with suppress(TimeoutError):
                if await ask_state(client, stream) is None:
                    raise RequestRefused(404, NO_STREAM, "stream not found")
        return await asyncio.wait_for(task, ANSWER_SECONDS)
    finally:
        task.cancel()


async def _from_leader(client: Client, stream: str, question: Mapping[str, Any]) -> StreamRecord | None:
    try:
        answer = (await ask(client, f"STREAM.MSG.GET.{stream}", question))["message"]
    except RequestRefused as refusal:
        if refusal.code == 404:
            return None
        raise
    headers = _headers(_bytes(answer.get("hdrs")))
    record = record_of(
        answer["subject"], answer["seq"], time_of(answer["time"]) or 0.0, _bytes(answer.get("data")), headers
    )
    return marked(record, headers)


def marked(record: StreamRecord, headers: Mapping[str, str]) -> StreamRecord:
    """Return a record as a copy if its own headers are those of an answer, which the server adds to nothing else."""
    return record._replace(copied_from=headers.get(SUBJECT) or "?") if "Nats-Stream" in headers else record


def _direct(data: bytes, headers: Mapping[str, str]) -> StreamRecord:
    written = time_of(headers["Nats-Time-Stamp"]) or 0.0
    return record_of(headers[SUBJECT], int(headers["Nats-Sequence"]), written, data, headers)


def _bytes(text: str | None) -> bytes:
    from base64 import b64decode

    return b64decode(text or "")


def _headers(data: bytes) -> dict[str, str]:
    lines = data.decode("utf-8", "replace").split("\r\n")[1:]
    return {name: value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon}


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
