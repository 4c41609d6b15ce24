"""Makes the demo's mailbox, starts its agents, opens the console on it, and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING

from console.demo.cast import MARKER, USER
from console.running.process import SignalHandler, prepare
from mailstore.errors import StoreError

if TYPE_CHECKING:
    from console.state.personal_state import PersonalState
    from mailstore.store import Store

DAY = 86_400.0
HELD_FOR = 3.0
"""Seconds that the agents have to end by themselves."""


def run_demo(
    *,
    seed: int | None = None,
    theme: str | None = None,
    keep: Path | None = None,
    agents: bool = True,
    kind: str | None = None,
) -> int:
    """Open the console on a throw-away mailbox; return the exit status.

    With `keep` the mailbox is made in (or, if it is there already, reopened in) that folder and stays.
    With a kind of mailbox it is in a place of that kind's own, such as a server that runs as long.
    Raises StoreError without a terminal, or when `keep` holds something else.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise StoreError("the demonstration needs a terminal", "run signalbox demo in one")
    seed = SystemRandom().randrange(1 << 30) if seed is None else seed
    with ExitStack() as stack:
        ending = stack.enter_context(SignalHandler())
        root = stack.enter_context(prepared(seed, keep))
        url = f"haak:{root / 'data'}"
        if kind is not None:
            from mailstore.registry import demo_mailbox, own_demos

            url = stack.enter_context(demo_mailbox(own_demos()[kind], root))
        if agents:
            stack.enter_context(simulated(root, seed, url=url))
        return _open(url, root, theme, ending)


@contextmanager
def prepared(seed: int, keep: Path | None = None) -> Iterator[Path]:
    """Make a folder whose `data` is a mailbox with a history; remove it at the end, unless it is kept.

    Raises StoreError if the folder to keep holds anything but a demo.
    """
    from console.demo.history import write_history

    if keep is None:
        root = Path(tempfile.mkdtemp(prefix="signalbox-demo-"))
    else:
        root = keep.expanduser()
        if (root / "data" / MARKER).exists():
            yield root
            return
        if root.exists() and (not root.is_dir() or any(root.iterdir())):
            raise StoreError(f"{root} is not empty", "name a new folder, or one of an earlier demo")
    try:
        write_history(root / "data", time.time(), seed)
        yield root
    finally:
        if keep is None:
            shutil.rmtree(root, ignore_errors=True)


@contextmanager
def simulated(root: Path, seed: int, speed: float = 1.0, url: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """Let the simulated agents play on `root`/data, or a URL, in a process of their own; end it at the end."""
    words = ["--seed", str(seed), "--speed", str(speed), "--parent", str(os.getpid())]
    words += ["--store", url] if url else []
    with (root / "agents-output.log").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "console.demo.agents", str(root / "data"), *words],
            env={**os.environ, "PYTHONPATH": _import_path()},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(HELD_FOR)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _import_path() -> str:
    """Return a path on which the agents find this program, regardless of the working directory."""
    ours = str(Path(__file__).parents[2])
    return os.pathsep.join(filter(None, (ours, os.environ.get("PYTHONPATH"))))


def _open(url: str, root: Path, theme: str | None, ending: SignalHandler) -> int:
    from msgspec.structs import replace

    prepare()
    from console.app import SignalboxApp
    from console.settings.config_file import load_config
    from console.state.personal_state import PersonalState
    from mailstore.registry import open_store

    state = PersonalState(root / "state.db")
    config = replace(load_config().config, observe=False)
    try:
        with open_store(url) as known:
            remember(known, state, time.time())
        with open_store(url) as store:
            return ending.run(SignalboxApp(store, config, theme=theme, state=state))
    finally:
        state.close()


def remember(store: Store, state: PersonalState, now: float) -> None:
    """Mark as seen what is older than a day, but for mail that the user has still to read.

    Reads the whole of `store`; does nothing when the user has seen something of it before.
    """
    from mailstore.state.mailbox import Mailbox

    if state.seen(store.url)[0]:
        return
    mailbox = Mailbox(USER)
    for batch in store.scan():
        mailbox.fold(batch, now)
    seen = []
    for message in mailbox.messages():
        has_read = mailbox.has_read(message.id, USER)
        is_old = message.time < now - DAY and not mailbox.is_mine(message)
        if mailbox.is_unseen(message) and (is_old or has_read):
            seen.append(message.id)
    state.mark_seen(store.url, seen, now)
