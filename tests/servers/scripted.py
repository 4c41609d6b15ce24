"""A server that does to each connection what a test says: hostile, slow, broken."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.patience import PATIENCE


@contextmanager
def scripted_server(*scripts: Callable[[socket.socket], None]) -> Iterator[int]:
    """Yield the port of a server that treats its first connection by the first script, and so on; then the last."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for number in range(10_000):
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                connection.settimeout(PATIENCE)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with connection, suppress(OSError):
                    scripts[min(number, len(scripts) - 1)](connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            # closing alone would not wake who waits in accept
            listening.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE)


def heard_request(connection: socket.socket) -> bytes:
    """Return an HTTP request with its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(1 << 16)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    size = next((int(each[15:]) for each in head.split(b"\r\n") if each.lower().startswith(b"content-length:")), 0)
    while len(body) < size and (piece := connection.recv(1 << 16)):
        body += piece
    return head + b"\r\n\r\n" + body


def http(body: bytes, status: str = "200 OK", *head: str, claims: int | None = None) -> Callable[[socket.socket], None]:
    """Return the script that answers one request; `claims` is the size that the head tells instead of the true one."""
    size = len(body) if claims is None else claims
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {size}", "Connection: close", *head, "", ""]

    def answer(connection: socket.socket) -> None:
        heard_request(connection)
        connection.sendall("\r\n".join(lines).encode() + body)

    return answer


def endless(start: bytes, piece: bytes = b"x" * 65536) -> Callable[[socket.socket], None]:
    """Return the script that reads a request if there is one at once, says `start`, and then never stops."""

    def answer(connection: socket.socket) -> None:
        if start.startswith(b"HTTP"):
            heard_request(connection)
        connection.sendall(start)
        while True:
            connection.sendall(piece)

    return answer
