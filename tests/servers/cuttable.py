"""A passage to a server on loopback that a test can cut: what a lost network looks like to a client."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from threading import Thread

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class CuttablePassage:
    """Listens on a port of its own and passes everything on, unless it is cut; closes with its block."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.port = 0
        self._is_cut = False
        self._flows = asyncio.Event()
        self._flows.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> CuttablePassage:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def __exit__(self, *exc: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def cut(self) -> None:
        """Close what passes through, and let nothing in."""
        asyncio.run_coroutine_threadsafe(self._cut(), self._loop).result(10)

    def hold(self) -> None:
        """Pass nothing on for now, and close nothing: a network that has stalled."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def release(self) -> None:
        """Pass everything on that was held."""
        self._loop.call_soon_threadsafe(self._flows.set)

    def repair(self) -> None:
        """Let everything through again."""
        self._is_cut = False

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _cut(self) -> None:
        self._is_cut = True
        for writer in self._writers:
            writer.close()

    async def _end(self) -> None:
        await self._cut()
        self._server.close()
        own = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not own]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.close()
            return
        inner = await asyncio.open_connection("127.0.0.1", self._to)
        await asyncio.gather(self._pass((reader, inner[1])), self._pass((inner[0], writer)))

    async def _pass(self, streams: Streams) -> None:
        reader, writer = streams
        self._writers.add(writer)
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                await self._flows.wait()
                writer.write(data)
                await writer.drain()
        self._writers.discard(writer)
        writer.close()
