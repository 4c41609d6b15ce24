"""The demo in a terminal: it opens the console, and whatever ends it, nothing of it is left."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE

WORDS = "from console.demo.run import run_demo; raise SystemExit(run_demo(seed=1))"


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    master, slave = pty.openpty()
    yield master, slave
    for descriptor in (master, slave):
        os.close(descriptor)


def _read_until(master: int, process: subprocess.Popen[bytes], sign: bytes) -> None:
    """Read what the terminal is given until it holds a sign."""
    shown = b""
    deadline = time.monotonic() + PATIENCE
    while sign not in shown:
        assert time.monotonic() < deadline, shown[-2_000:]
        assert process.poll() is None, shown[-2_000:]
        if select.select([master], [], [], 0.1)[0]:
            shown += os.read(master, 1 << 16)


@pytest.mark.parametrize(("sign", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_and_nothing_is_left(
    terminal: tuple[int, int], tmp_path: Path, sign: signal.Signals, status: int
) -> None:
    master, slave = terminal
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    homes = {name: str(tmp_path / name.lower()) for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    process = subprocess.Popen(
        [sys.executable, "-c", WORDS],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env={**os.environ, **homes, "TMPDIR": str(temporary), "TERM": "xterm-256color"},
    )
    try:
        _read_until(master, process, b"architect-new")
        assert next(path.name for path in temporary.iterdir()).startswith("signalbox-demo-")
        process.send_signal(sign)
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None:
            assert time.monotonic() < deadline, "it does not end"
            if select.select([master], [], [], 0.05)[0]:
                os.read(master, 1 << 16)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == status
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "xdg_state_home").exists()


def test_it_ends_when_its_terminal_is_taken_away_without_a_signal(tmp_path: Path) -> None:
    master, slave = pty.openpty()  # not the program's controlling terminal, which would send a signal
    homes = {name: str(tmp_path / name.lower()) for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    env = {**os.environ, **homes, "TMPDIR": str(tmp_path), "TERM": "xterm-256color"}
    console = [sys.executable, "-c", WORDS]
    with subprocess.Popen(console, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=env) as process:
        os.close(slave)
        try:
            _read_until(master, process, b"architect-new")
        finally:
            os.close(master)
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
    assert not list(tmp_path.glob("signalbox-demo-*")), "nothing of it is left"
