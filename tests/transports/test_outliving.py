"""Work that goes on when its process is killed."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
import time

import pytest

from mailstore.transports.outliving import ProcessLost, outliving
from tests.servers.scripted import heard_request, http, scripted_server
from tests.transports.receiver import KeptLetters
from tests.transports.test_relay_hostile import answer, message, transport

SECONDS = 20.0


def test_a_result_of_any_size_comes_back() -> None:
    assert outliving(lambda: b"", SECONDS) == b""
    data = os.urandom(3 << 20)
    assert outliving(lambda: data, SECONDS) == data


def test_work_that_fails_or_takes_too_long_is_told() -> None:
    def fail() -> bytes:
        os._exit(3)

    with pytest.raises(ProcessLost, match="ended before"):
        outliving(fail, SECONDS)

    def hang() -> bytes:
        signal.pause()
        return b""

    begun = time.monotonic()
    with pytest.raises(ProcessLost, match="too long"):
        outliving(hang, 0.05)
    assert time.monotonic() - begun < SECONDS / 2


def test_letters_survive_the_process_that_asked_for_them(receiver: KeptLetters) -> None:
    asked, killed = threading.Event(), threading.Event()

    def slow(connection: socket.socket) -> None:
        heard_request(connection)
        asked.set()
        assert killed.wait(SECONDS)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + answer(message(1)))

    with scripted_server(slow, http(answer())) as port:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                transport(port).receive(receiver)
            finally:
                os._exit(0)
        os.close(writing)
        assert asked.wait(SECONDS)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        killed.set()
        # whoever still works has the other end of the pipe
        assert select.select([reading], [], [], SECONDS)[0]
        assert os.read(reading, 1) == b""
        os.close(reading)
        assert len(receiver.spooled()) == 1
        assert transport(port).receive(receiver) == 1
        assert [each.id for each in receiver.letters] == ["m1"]
