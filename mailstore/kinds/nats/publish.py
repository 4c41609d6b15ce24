"""Publish records, each there once: repeated with the same id until the server has acknowledged it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from mailstore.errors import StoreError
from mailstore.kinds.nats.connection import Connection
from mailstore.kinds.nats.failures import connection_failed, is_final, missing
from mailstore.kinds.nats.stream import (
    ANSWER_SECONDS,
    AUDIENCE,
    ELECTION_SECONDS,
    FIRST_ANSWER_SECONDS,
    RequestRefused,
    ask_state,
    one,
)

if TYPE_CHECKING:
    from nats.aio.client import Client

AT_ONCE = 500
PAUSE_SECONDS = 0.25
MOVING_SECONDS = 2.0
"""How long it may take a client whose server ended to move to another one."""
TRIES_SECONDS = ELECTION_SECONDS
"""How long a record is repeated: shorter than the window for duplicates."""
WRONG_LAST = frozenset({10071, 10164})
TEMPORARY = frozenset({503, 500, 408})
NEVER = 2**62
"""A sequence number that no record has."""
IN_PROCESS = 10158
"""The server's number for a record that was sent before, and that no quorum has yet."""


class Publication(NamedTuple):
    """A record to be published; `unique` is what the server recognises it by when it is sent again."""

    subject: str
    data: bytes
    unique: str
    audience: tuple[str, ...] = ()
    after: int | None = None
    """The sequence number that the last record on the subject must have; None for any."""


class Unconfirmed(StoreError):
    """No server has acknowledged a record in time: it may be there or not."""


class Overtaken(Exception):
    """Another record came to the subject first."""


class _IdTaken(Exception):
    """Another record was published under the same id first, so that this one was left out."""


async def publish(connection: Connection, stream: str, outgoing: Publication) -> int:
    """Publish a record; return its sequence number once a quorum has it.

    Raises Unconfirmed, Overtaken, StoreError for what the server refuses, and MailboxMissing if there is no stream.
    """
    from nats.errors import Error, MaxPayloadError, NoRespondersError

    loop = asyncio.get_running_loop()
    try:
        await asyncio.wait_for(connection.up.wait(), MOVING_SECONDS)
    except TimeoutError:
        raise StoreError(
            f"{connection.address.shown_hosts} can't be reached", "nothing was sent; try again later", "E422"
        ) from None
    end, patience = loop.time() + TRIES_SECONDS, FIRST_ANSWER_SECONDS
    while True:
        try:
            return await _once(connection.client, stream, outgoing, patience)
        except RequestRefused as refusal:
            if refusal.number in WRONG_LAST:
                raise Overtaken from refusal
            if refusal.code not in TEMPORARY and refusal.number != IN_PROCESS:
                raise StoreError(
                    f"the server refuses the record ({refusal})",
                    "nothing was written; check this user's rights and the stream's limits",
                    "E424",
                ) from refusal
            why: Exception = refusal
        except _IdTaken as taken:
            outgoing = outgoing._replace(unique=str(uuid.uuid4()))
            why = taken
        except MaxPayloadError as error:
            most = connection.client.max_payload
            raise StoreError(
                f"the record has {len(outgoing.data):,} bytes, and the server takes {most:,}", "send less text", "E423"
            ) from error
        except NoRespondersError as error:
            if await _is_missing(connection.client, stream):
                raise missing(connection.address) from error
            why = error
        except (Error, OSError) as error:
            if is_final(error):
                raise connection_failed(error, connection.address) from error
            why = error
        if loop.time() > end:
            raise _unconfirmed(connection, why)
        patience = min(2 * patience, ANSWER_SECONDS)
        await asyncio.sleep(PAUSE_SECONDS)
        if not connection.up.is_set():
            try:
                await asyncio.wait_for(connection.up.wait(), max(0.0, end - loop.time()))
            except TimeoutError:
                raise _unconfirmed(connection, why) from why


async def publish_all(connection: Connection, stream: str, outgoing: Iterable[Publication]) -> list[int]:
    """Publish many records, several at a time; return their sequence numbers. Raises what `publish` raises."""
    numbers: list[int] = []
    waiting: list[Publication] = []
    for publication in outgoing:
        waiting.append(publication)
        if len(waiting) == AT_ONCE:
            numbers += await _together(connection, stream, waiting)
            waiting = []
    return [*numbers, *await _together(connection, stream, waiting)]


async def _together(connection: Connection, stream: str, outgoing: Sequence[Publication]) -> list[int]:
    results = await asyncio.gather(
        *(publish(connection, stream, publication) for publication in outgoing), return_exceptions=True
    )
    for each in results:
        if isinstance(each, BaseException):
            raise each
    return [each for each in results if isinstance(each, int)]


async def is_denied(connection: Connection, stream: str, subject: str) -> bool:
    """Say whether the server keeps this user from publishing to a subject, which is tried with what it won't store."""
    from mailstore.kinds.nats.opening import PermissionDenied

    outgoing = Publication(subject, b"", str(uuid.uuid4()), after=NEVER)
    try:
        await _once(connection.client, stream, outgoing, ANSWER_SECONDS)
    except PermissionDenied:
        return True
    except RequestRefused:
        pass
    return False


async def _is_missing(client: Client, stream: str) -> bool:
    """Say whether there is no such stream; not if that can't be learned now."""
    from nats.errors import Error

    try:
        return await ask_state(client, stream) is None
    except (Error, OSError, RequestRefused):
        return False


async def _once(client: Client, stream: str, outgoing: Publication, seconds: float) -> int:
    headers = {"Nats-Msg-Id": outgoing.unique, "Nats-Expected-Stream": stream}
    if outgoing.audience:
        headers[AUDIENCE] = _ascii(outgoing.audience)
    if outgoing.after is not None:
        headers["Nats-Expected-Last-Subject-Sequence"] = str(outgoing.after)
    answer = await client.request(outgoing.subject, outgoing.data, timeout=seconds, headers=headers)
    decoded = msgspec.json.decode(answer.data)
    if error := decoded.get("error"):
        raise RequestRefused(error.get("code", 0), error.get("err_code", 0), error.get("description", ""))
    if decoded.get("duplicate") and not await _is_stored(client, stream, decoded["seq"], outgoing):
        raise _IdTaken
    return int(decoded["seq"])


async def _is_stored(client: Client, stream: str, sequence: int, outgoing: Publication) -> bool:
    """Say whether the record at a sequence number is the one that was sent: whoever sees an id can use it too."""
    record = await one(client, stream, sequence)
    if record is None or record.copied_from:
        return False
    _, _, topic, token = outgoing.subject.split(".", 3)
    audience = _ascii(outgoing.audience) if outgoing.audience else ""
    return (record.topic, record.token, record.data, record.audience) == (topic, token, outgoing.data, audience)


def _ascii(names: tuple[str, ...]) -> str:
    from json import dumps

    return dumps(names, separators=(",", ":"))


def _unconfirmed(connection: Connection, why: Exception) -> Unconfirmed:
    return Unconfirmed(
        f"{connection.address.shown_hosts} has not confirmed that it was sent",
        "it may be there: look before you send it again",
        "E421",
    )
