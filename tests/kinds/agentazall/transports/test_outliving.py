"""Work that goes on when its process is killed."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
from contextlib import closing
from pathlib import Path

import pytest

from mailstore.kinds.agentazall.sync.engine import SyncEngine
from mailstore.kinds.agentazall.sync.plan import AccountPlan, AgentPlan, SyncPlan
from mailstore.kinds.agentazall.transports.relay_fetch import OutlivingProcess, ProcessLost
from mailstore.kinds.agentazall.transports.transport import Receiver, Transport
from mailstore.kit.secure import TransportDown
from tests.kinds.agentazall.sync.rig import Machine
from tests.kinds.agentazall.transports.receiver import KeptMessages
from tests.kinds.agentazall.transports.test_relay_hostile import answer, message, transport
from tests.patience import PATIENCE
from tests.servers.scripted import heard_request, http, scripted_server


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_requests_and_results_of_any_size_go_over() -> None:
    with closing(OutlivingProcess(lambda request: request * 2)) as process:
        assert process.ask(b"", PATIENCE) == b""
        data = os.urandom(3 << 20)
        assert process.ask(data, PATIENCE) == data * 2
    process.close()
    assert not is_running(process._pid)


def test_work_that_fails_or_takes_too_long_is_told() -> None:
    def fail(request: bytes) -> bytes:
        os._exit(3)

    def hang(request: bytes) -> bytes:
        signal.pause()
        return b""

    for work, words, seconds in ((fail, "ended before", PATIENCE), (hang, "too long", 0.05)):
        with closing(OutlivingProcess(work)) as process:
            with pytest.raises(ProcessLost, match=words):
                process.ask(b"x", seconds)
            assert not process.is_usable
        assert not is_running(process._pid)


def test_one_that_is_not_closed_ends_with_its_parent_beside_others() -> None:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            processes = [OutlivingProcess(lambda request: request) for _ in range(3)]
            os.write(writing, processes[0].ask(b"x", PATIENCE))
            signal.pause()
        finally:
            os._exit(0)
    os.close(writing)
    assert os.read(reading, 1) == b"x"
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert select.select([reading], [], [], PATIENCE)[0]
    assert os.read(reading, 1) == b""  # the last of them has ended, too
    os.close(reading)


def test_a_process_that_died_is_replaced(receiver: KeptMessages) -> None:
    with scripted_server(http(answer(message(1))), http(answer(message(2)))) as port, closing(transport(port)) as bob:
        bob.prepare(receiver)
        assert bob.receive(receiver) == 1
        first = bob._fetcher._process
        assert first is not None
        os.kill(first._pid, signal.SIGKILL)
        with pytest.raises(TransportDown, match="the process that asks the relay failed"):
            bob.receive(receiver)
        assert bob.receive(receiver) == 1
    assert not is_running(first._pid)


def test_messages_survive_the_process_that_asked_for_them(receiver: KeptMessages) -> None:
    asked, killed = threading.Event(), threading.Event()

    def slow(connection: socket.socket) -> None:
        heard_request(connection)
        asked.set()
        assert killed.wait(PATIENCE)
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
        assert asked.wait(PATIENCE)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        killed.set()
        # whoever still works has the other end of the pipe
        assert select.select([reading], [], [], PATIENCE)[0]
        assert os.read(reading, 1) == b""
        os.close(reading)
        assert len(receiver.spooled()) == 1
        assert transport(port).receive(receiver) == 1
        assert [each.id for each in receiver.messages] == ["m1"]


def test_a_sync_prepares_its_accounts_before_it_has_threads(tmp_path: Path) -> None:
    seen: list[tuple[Receiver, bool]] = []

    class _Noting(Transport):
        kind = "relay"
        label = "relay noting"
        can_send = False

        def prepare(self, receiver: Receiver) -> None:
            seen.append((receiver, threading.current_thread() is threading.main_thread()))

        def receive(self, receiver: Receiver) -> int:
            seen.append((receiver, threading.current_thread() is threading.main_thread()))
            return 0

    machine = Machine(tmp_path, "ann@localhost")
    account = AccountPlan("relay", "ann", _Noting, {})
    with SyncEngine(SyncPlan(machine.root, (AgentPlan("ann@localhost", (account,)),)), machine.tell) as engine:
        engine.once()
    assert [is_first for _, is_first in seen] == [True, False]
    assert seen[0][0] is seen[1][0]
