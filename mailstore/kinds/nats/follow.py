"""Follow the streams of a mailbox on the connection's thread, and hand what comes to an event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from mailstore.errors import log_unexpected
from mailstore.kinds.nats.connection import Connection
from mailstore.kinds.nats.pull import Pull, PullBroken
from mailstore.kinds.nats.reader import ReadPlace
from mailstore.kinds.nats.stream import StreamRecord, StreamState, stream_state
from mailstore.records.events import Back, Gone

GRACE_SECONDS = 0.5
"""For how long a lost connection is not spoken of: a client moves to another server in less."""
PATIENCE_SECONDS = 2.0
"""For how long a stream may be without a leader before that is spoken of."""
AGAIN_SECONDS = 0.25
FALLEN_SECONDS = 1.0
ANSWER_SECONDS = 1.5
"""Amid an election nobody answers, and the question is lost: it is asked again soon, so that a reader is not late."""
MOST_WAITING, MOST_BYTES = 20, 1 << 25
"""How much waits to be taken before the server is asked for no more: as batches, and as bytes."""


class Signs(NamedTuple):
    """Records of the stream of presence."""

    records: list[StreamRecord]


class Anew(NamedTuple):
    """The stream is another one, or has fallen back: everything follows from its start."""

    reason: str
    state: StreamState


StreamUpdate = list[StreamRecord] | Signs | Anew | Gone | Back


class StreamFollower:
    """What came since a place in a stream, in order. Made and read from any thread; runs on the connection's."""

    def __init__(self, connection: Connection, stream: str, presence: str, place: ReadPlace, signs_next: int) -> None:
        self._connection = connection
        self._stream, self._presence = stream, presence
        self._place = place
        self._signs_next = signs_next
        self._waiting: deque[StreamUpdate] = deque()
        self._came = self._taken = 0  # bytes; each is changed by one thread alone
        self._room = asyncio.Event()
        self._woken: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self._is_gone = False
        self._troubled_since = 0.0
        self._has_fallen = False
        connection.run(self._start())

    @property
    def first(self) -> StreamUpdate | None:
        """Return what came first and was not taken yet."""
        return self._waiting[0] if self._waiting else None

    def take(self) -> None:
        """Take away what `first` returned."""
        self._taken += _size(self._waiting.popleft())
        if self._has_room:
            self._connection.soon(self._room.set)

    @contextmanager
    def woken(self) -> Iterator[asyncio.Event]:
        """Yield an event of the running loop that is set whenever something comes."""
        event = asyncio.Event()
        self._woken[event] = asyncio.get_running_loop()
        try:
            yield event
        finally:
            del self._woken[event]

    async def _start(self) -> None:
        self._connection.start(self._follow())
        self._connection.start(self._follow_presence())

    async def _follow(self) -> None:
        while True:
            if not self._connection.up.is_set():
                await self._disconnected()
            try:
                await self._read()
            except PullBroken:
                continue  # another consumer goes on where this one stopped
            except Exception as error:
                log_unexpected(error, "following a mailbox on a NATS server")
                await self._troubled(error)

    async def _read(self) -> None:
        """Read on until something fails."""
        client = self._connection.client
        state = await asyncio.wait_for(stream_state(client, self._stream), ANSWER_SECONDS)
        if state is None:
            self._gone("the mailbox is no longer on the server")
            await asyncio.sleep(AGAIN_SECONDS)
            return
        is_other = state.created != self._place.created
        if not is_other and state.last < self._place.next - 1 and not self._has_fallen:
            self._has_fallen = (
                True  # a server that was cut off may answer: another one is asked before all is read again
            )
            await asyncio.sleep(FALLEN_SECONDS)
            return
        if is_other or state.last < self._place.next - 1:
            self._put(Anew("the mailbox was made anew" if is_other else "the mailbox has lost its newest mail", state))
            self._place, self._is_gone = ReadPlace(state.created, 1), False
        self._has_fallen = False
        pull = await asyncio.wait_for(Pull.opened(client, self._stream, self._place.next), ANSWER_SECONDS)
        try:
            if self._is_gone:
                self._put(Back())
            self._is_gone, self._troubled_since = False, 0.0
            while True:
                records = await self._next(pull)
                self._place = ReadPlace(self._place.created, records[-1].sequence + 1)
                self._put(records)
                await self._have_room()
        finally:
            await pull.close()

    async def _follow_presence(self) -> None:
        while True:
            await self._connection.up.wait()
            try:
                client = self._connection.client
                state = await stream_state(client, self._presence)
                if state is not None:
                    if self._signs_next > state.last + 1:  # it was made again
                        self._signs_next = 1
                    pull = await Pull.opened(client, self._presence, self._signs_next)
                    try:
                        while True:
                            records = await self._next(pull)
                            self._signs_next = records[-1].sequence + 1
                            self._put(Signs(records))
                            await self._have_room()
                    finally:
                        await pull.close()
            except Exception as error:  # who is there is told again as soon as that can be read
                log_unexpected(error, "reading the presence of agents on a NATS server")
            await asyncio.sleep(AGAIN_SECONDS)

    async def _next(self, pull: Pull) -> list[StreamRecord]:
        """Return what a consumer sends next. Raises PullBroken too when the connection is lost."""
        reading = asyncio.ensure_future(pull.read())
        lost = asyncio.ensure_future(self._connection.down.wait())
        try:
            await asyncio.wait({reading, lost}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                return reading.result()
            raise PullBroken("the connection was lost")
        finally:
            for each in (reading, lost):
                each.cancel()

    @property
    def _has_room(self) -> bool:
        return len(self._waiting) < MOST_WAITING and self._came - self._taken < MOST_BYTES

    async def _have_room(self) -> None:
        while not self._has_room:
            self._room.clear()
            await self._room.wait()

    async def _disconnected(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._connection.up.wait(), GRACE_SECONDS)
            return
        self._gone(self._connection.reason or f"{self._connection.address.shown_hosts} can't be reached")
        await self._connection.up.wait()

    async def _troubled(self, error: Exception) -> None:
        """Wait after an error, and say that the mailbox can't be reached if it lasts."""
        now = asyncio.get_running_loop().time()
        self._troubled_since = self._troubled_since or now
        if now - self._troubled_since > PATIENCE_SECONDS:
            self._gone(f"{self._connection.address.shown_hosts} has no leader for the mailbox{_words(error)}")
        await asyncio.sleep(AGAIN_SECONDS)

    def _gone(self, reason: str) -> None:
        if not self._is_gone:
            self._is_gone = True
            self._put(Gone(reason))

    def _put(self, came: StreamUpdate) -> None:
        self._came += _size(came)
        self._waiting.append(came)
        for event, loop in list(self._woken.items()):
            with suppress(RuntimeError):  # a loop that is closed has nobody to wake
                loop.call_soon_threadsafe(event.set)


def _size(came: StreamUpdate) -> int:
    """Return the bytes of the records that came."""
    match came:
        case Signs(records) | list(records):
            return sum(len(record.data) for record in records)
    return 0


def _words(error: Exception) -> str:
    """Return what an error adds to what is told; nothing where it only says that there was no answer."""
    words = str(error).removeprefix("nats: ")
    return f" ({words})" if words and not isinstance(error, TimeoutError) else ""
