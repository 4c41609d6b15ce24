"""Servers that speak HTTP badly, for one connection after the other."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from tests.patience import PATIENCE

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def silent(connection: socket.socket, is_over: threading.Event) -> None:
    is_over.wait()


def endless(connection: socket.socket, is_over: threading.Event) -> None:
    connection.sendall(HEAD + b"Content-Length: 10000000000\r\n\r\n")
    while not is_over.is_set():
        connection.sendall(b" " * 65536)


def says(answer: bytes) -> Callable[[socket.socket, threading.Event], None]:
    return lambda connection, _: connection.sendall(answer)


BAD_ANSWERS: dict[str, Callable[[socket.socket, threading.Event], None]] = {
    "silent": silent,
    "endless": endless,
    "nothing": says(b""),
    "garbage": says(bytes(range(256)) * 8),
    "half": says(HEAD + b'Content-Length: 5000\r\n\r\n{"jsonrpc": "2.0", "id"'),
    "no JSON": says(HEAD + b"Content-Length: 5\r\n\r\n{{{{{"),
    "no MCP": says(HEAD + b'Content-Length: 15\r\n\r\n{"hello": "you"}'),
    "a page": says(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<h1>hi</h1>\r\n"),
}


class BadServer:
    """Answers every connection on a port of loopback in one of these ways."""

    def __init__(self, way: str) -> None:
        self._way = BAD_ANSWERS[way]
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self.port = self._socket.getsockname()[1]

    def _serve(self) -> None:
        while not self._is_over.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._answer, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(PATIENCE)
            connection.recv(65536)
            self._way(connection, self._is_over)

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._is_over.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join(PATIENCE)
