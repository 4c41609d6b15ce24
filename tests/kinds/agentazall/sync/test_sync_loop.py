"""A sync that runs on: it notices what is new, waits longer and longer for a server that is down, and ends in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mailstore.errors import MailboxBusy
from mailstore.kinds.agentazall.ledger import accounts_of, run_of
from mailstore.kinds.agentazall.spools import is_at_work
from mailstore.kinds.agentazall.sync.engine import SyncEngine, SyncReport
from mailstore.kinds.agentazall.sync.sending import LONGEST_SECONDS, pause_after
from mailstore.kinds.agentazall.transports.transport import OutgoingMessage
from tests.kinds.agentazall.sync.rig import Machine, Office
from tests.patience import PATIENCE
from tests.project.import_graph import ROOT

ALICE, BOB = "alice@localhost", "bob@localhost"


class Doorbell(Office):
    """An office that rings when a message was taken."""

    def __init__(self) -> None:
        super().__init__()
        self.rang = threading.Event()

    def take(self, message: OutgoingMessage, recipient: str) -> None:
        super().take(message, recipient)
        self.rang.set()


@contextmanager
def running(machine: Machine) -> Iterator[list[SyncReport]]:
    """Let a sync run on in a thread of its own."""
    reports: list[SyncReport] = []
    with SyncEngine(machine.plan(every_seconds=0.05), machine.tell) as engine:
        thread = threading.Thread(target=engine.run, args=(reports.append,))
        thread.start()
        try:
            yield reports
        finally:
            engine.stop()
            thread.join(PATIENCE)
            assert not thread.is_alive()


def until(event: threading.Event) -> None:
    assert event.wait(PATIENCE), "nothing happened"


def test_a_message_that_is_written_later_goes_without_being_asked(tmp_path: Path) -> None:
    office = Doorbell()
    machine = Machine(tmp_path, ALICE, offices=(office,))
    with running(machine):
        machine.write(ALICE, BOB)
        until(office.rang)
    assert len(machine.files(ALICE, "sent")) == 1
    (run,) = run_of(machine.root)
    assert (run.agent, run.pid, run.ended is not None) == (ALICE, os.getpid(), True)


def test_a_server_that_comes_back_gets_what_waited_and_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mailstore.kinds.agentazall.sync.sending.FIRST_SECONDS", 0.01)
    office = Doorbell()
    office.down = "the office can't be reached"
    machine = Machine(tmp_path, ALICE, offices=(office,))
    machine.write(ALICE, BOB)
    with running(machine) as reports:
        until(machine.heard)
        office.down = ""
        until(office.rang)
    assert reports[-1].sent <= 1
    assert len(machine.files(ALICE, "sent")) == 1
    assert machine.said[0] == f"{ALICE}: post {ALICE}@office: the office can't be reached"
    assert machine.said.count(machine.said[0]) == 1, "it is told once, not at every try"
    assert machine.said[-1] == f"{ALICE}: post {ALICE}@office works again"
    assert accounts_of(machine.root)[0].is_up


def test_the_pause_between_tries_grows_to_a_limit_and_is_never_the_same() -> None:
    pauses = [[pause_after(failures) for _ in range(50)] for failures in range(30)]
    assert all(len({*each}) > 1 for each in pauses)
    assert max(pauses[0]) <= 2 < min(pauses[3]) < LONGEST_SECONDS
    assert LONGEST_SECONDS / 2 <= min(pauses[-1]) <= max(pauses[-1]) <= LONGEST_SECONDS


def test_two_syncs_never_carry_one_agents_mail(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    assert not is_at_work(machine.root / ALICE)
    with SyncEngine(machine.plan(), machine.said.append):
        assert is_at_work(machine.root / ALICE)
        with pytest.raises(MailboxBusy, match=rf"another sync \(process {os.getpid()}\) carries the mail of {ALICE}"):
            machine.once()
    assert machine.once().sent == 0


def test_a_signal_that_comes_while_the_end_is_looked_for_ends_it_too(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    with SyncEngine(machine.plan(), machine.said.append) as engine, engine._stop._cond:  # type: ignore[attr-defined]
        handler = threading.Thread(target=engine.stop, daemon=True)  # the lock is that of what it interrupts
        handler.start()
        handler.join(PATIENCE)
        assert not handler.is_alive()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_runs_until_a_signal_and_ends_in_order(tmp_path: Path, number: signal.Signals) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    machine.write(ALICE, BOB)
    words = [sys.executable, "-m", "console", "sync", str(machine.root)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        try:
            assert command.stdout is not None
            assert command.stdout.readline().startswith(f"Carrying the mail of {ALICE}, {BOB} in ")
            command.send_signal(number)
            _, said = command.communicate(timeout=PATIENCE)
        finally:
            command.kill()
    assert (command.returncode, said) == (0, "")
    assert all(each.ended for each in run_of(machine.root))
