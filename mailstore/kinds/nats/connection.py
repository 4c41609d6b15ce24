"""A connection to NATS servers, kept by a thread of its own, so that nothing of it holds up an event loop.

nats-py needs an event loop that always runs; a store is used from any thread, and by programs without a loop
(docs/decisions/0059).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from mailstore.errors import MailError, StoreError
from mailstore.kinds.nats.address import NatsAddress, NatsLocation
from mailstore.kinds.nats.credentials import credentials_for
from mailstore.kinds.nats.failures import GARBAGE, connection_failed, missing, request_refused
from mailstore.kinds.nats.stream import NO_STREAM, RequestRefused

if TYPE_CHECKING:
    from nats.aio.client import Client

PATIENCE_SECONDS = 30.0
"""How long a command may take as a whole, with all that is repeated."""
CLOSING_SECONDS = 2.0
READERS_SECONDS = 0.5
RETURN_SECONDS = 3.0
STUCK_SECONDS = 10.0
"""After which a client that tries to connect again is given up for a new one."""
AGAIN_SECONDS = 1.0
"""Between attempts to log in again after a server has closed the connection for good."""

Found = TypeVar("Found")


class Connection:
    """A connection that is opened again whenever it is lost. `run` is for any thread, the rest for its own."""

    def __init__(self, location: NatsLocation) -> None:
        import mailstore.kinds.nats.opening  # noqa: F401  (says what to install before anything has begun)

        self.address: NatsAddress = location.address
        self._options = credentials_for(location.address, location.userinfo)
        self._loop = asyncio.new_event_loop()
        self._turn = Lock()
        self._is_closed = False
        self.up = asyncio.Event()
        """Set while there is a connection."""
        self.down = asyncio.Event()
        """Set while there is none."""
        self.reason = ""
        """Why the connection was lost, or why a try to open it again failed."""
        self._client: Client | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = Thread(target=self._keep, name="nats", daemon=True)
        self._thread.start()
        try:
            self.run(self._open())
        except BaseException:
            self.close()
            raise

    @property
    def client(self) -> Client:
        assert self._client is not None
        return self._client

    def run(self, work: Coroutine[Any, Any, Found], seconds: float | None = PATIENCE_SECONDS) -> Found:
        """Do some work on the connection's thread and wait for it. Raises StoreError, never another error of NATS."""
        from nats.errors import Error

        with self._turn:
            if self._is_closed:
                work.close()
                raise StoreError(f"the mailbox {self.address.mailbox} is closed", "open it again", "E402")
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(seconds)
        except TimeoutError as error:
            future.cancel()
            raise StoreError(f"{self.address.shown_hosts} does not answer", "try again later", "E403") from error
        except asyncio.CancelledError as error:
            raise StoreError(f"the mailbox {self.address.mailbox} was closed", "open it again", "E404") from error
        except RequestRefused as refusal:
            if refusal.number == NO_STREAM:
                raise missing(self.address) from refusal
            raise request_refused(refusal.number, str(refusal), self.address) from refusal
        except (OSError, Error, *GARBAGE) as error:
            raise connection_failed(error, self.address) from error

    async def returned(self) -> None:
        """Wait for a connection, for a moment; on its own thread only."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.up.wait(), RETURN_SECONDS)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start some work that goes on until the connection is closed; on its own thread only."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def soon(self, call: Callable[[], object]) -> None:
        """Call something on the connection's thread; nothing happens once it is closed."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)

    def close(self) -> None:
        with self._turn:
            if self._is_closed:
                return
            self._is_closed = True
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSING_SECONDS)

    def _keep(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        try:
            self._loop.run_until_complete(self._end())
        finally:
            self._loop.close()

    async def _end(self) -> None:
        from mailstore.kinds.nats.opening import ended

        own = asyncio.current_task()
        if readers := set(self._tasks):  # they tell the server that they are done, while there is a connection
            for task in readers:
                task.cancel()
            await asyncio.wait(readers, timeout=READERS_SECONDS)
        if self._client is not None and not self._client.is_closed:
            await ended(self._client)
        others = [task for task in asyncio.all_tasks() if task is not own]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._loop.shutdown_asyncgens()

    async def _open(self) -> None:
        from mailstore.kinds.nats.opening import opened

        callbacks = {
            "error_cb": self._failed,
            "disconnected_cb": self._lost,
            "reconnected_cb": self._restored,
            "closed_cb": self._ended,
        }
        self._client = await opened(self.address, self._options, callbacks=callbacks)
        await self._restored()

    async def _failed(self, error: Exception) -> None:
        self.reason = connection_failed(error, self.address).problem

    async def _lost(self) -> None:
        if self.up.is_set():
            self.start(self._replace_stuck())
        self.up.clear()
        self.down.set()

    async def _replace_stuck(self) -> None:
        """Give up a client that doesn't come back by itself; `_ended` opens another one."""
        client = self._client
        await asyncio.sleep(STUCK_SECONDS)
        if client is not None and client is self._client and not (client.is_closed or self.up.is_set()):
            from mailstore.kinds.nats.opening import ended

            await ended(client)

    async def _restored(self) -> None:
        self.reason = ""
        self.down.clear()
        self.up.set()

    async def _ended(self) -> None:
        """Log in again and again after a server has closed the connection for good, as for a revoked user."""
        await self._lost()
        if not self._is_closed and self._client is not None:
            self.start(self._open_again())

    async def _open_again(self) -> None:
        while True:
            await asyncio.sleep(AGAIN_SECONDS)
            try:
                await self._open()
            except MailError as error:
                self.reason = error.problem
            else:
                return
