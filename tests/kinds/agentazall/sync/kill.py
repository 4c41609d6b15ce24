"""Kills a sync before each call that changes a file, or fills its disk at any byte; nothing may be lost or doubled.

`python -m tests.kinds.agentazall.sync.kill` tries every call, `--sample N` some of each.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from mailstore.kinds.agentazall.sync.engine import SyncEngine
from mailstore.kinds.agentazall.sync.ledger_writer import LedgerWriter
from mailstore.kinds.agentazall.sync.plan import AccountPlan, AgentPlan, SyncPlan
from tests.hostile.faults import Fault, Harm
from tests.kinds.agentazall.sync.disk_office import DiskTransport
from tests.kinds.agentazall.sync.rig import DAY, Machine

ALICE, BOB, CAROL = "alice@localhost", "bob@localhost", "carol@localhost"
BODIES = ["Both of you", "For bob alone", "ok", "ok"]
CSV, BLOB = b"1,2\n" * 100, os.urandom(5000)


class Trial:
    """Two machines with two servers between them: alice and carol write to bob, and to each other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept = folder.with_name("kept")
        self.calls: list[str] = []
        self.written = 0
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        alice = Machine(folder / "a", ALICE, CAROL)
        Machine(folder / "b", BOB)
        alice.identify(ALICE, 1)
        first = alice.write(ALICE, f"{BOB}, {CAROL}", BODIES[0], name="a" * 12, Attachments="r.csv, b.bin")
        alice.attach(first, "r.csv", CSV)
        alice.attach(first, "b.bin", BLOB)
        for number, body in enumerate(BODIES[1:]):
            alice.write(ALICE, BOB, body, name=f"{number}" * 12)
        alice.write(CAROL, ALICE, "Back", name="c" * 12)
        shutil.copytree(folder, self._kept)

    def again(self) -> None:
        """Begin anew."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._kept, self.folder)

    def work(self) -> None:
        """Let both machines send and receive."""
        for part, names in (("a", (ALICE, CAROL)), ("b", (BOB,))):
            with SyncEngine(self._plan(part, names), lambda line: None) as engine:
                report = engine.once()
                if report.troubles:
                    raise OSError(28, "\n".join(report.troubles))

    def _plan(self, part: str, names: tuple[str, ...]) -> SyncPlan:
        def opening(name: str, kind: str) -> Callable[[], DiskTransport]:
            return lambda: DiskTransport(self.folder / "office" / kind, name, kind)

        root = self.folder / part / "data" / "mailboxes"
        accounts = {
            name: tuple(AccountPlan(kind, name, opening(name, kind), {}) for kind in ("relay", "ftp")) for name in names
        }
        return SyncPlan(root, tuple(AgentPlan(name, accounts[name]) for name in names))

    def harmed(self, fault: Fault) -> int | None:
        """Work in a process that comes to harm; return its exit status, None if it was killed."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            status = self._child(fault, writing)
            os._exit(status)
        os.close(writing)
        with os.fdopen(reading) as told:
            said = told.read().split("\n")
        _, status = os.waitpid(pid, 0)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL
            return None
        self.written, self.calls = int(said[0]), said[1:]
        return os.WEXITSTATUS(status)

    def _child(self, fault: Fault, writing: int) -> int:
        harm = Harm(fault, str(self.folder))
        harm.install()
        real = LedgerWriter._all

        def counted(ledger: LedgerWriter, changes: object) -> None:
            harm.count("ledger")
            real(ledger, changes)  # type: ignore[arg-type]

        LedgerWriter._all = counted  # type: ignore[method-assign,assignment]
        status = 0
        try:
            self.work()
        except OSError:
            status = 1
        except BaseException:
            traceback.print_exc()
            status = 3
        text = "\n".join([str(harm.written), *harm.calls])
        os.set_blocking(writing, True)
        with os.fdopen(writing, "wb", closefd=False) as told:
            told.raw.write(text.encode())
        return status

    def check(self) -> None:
        """Everything has arrived once, with its attachments, and nothing lies about."""
        bob, alice = self.folder / "b" / "data" / "mailboxes" / BOB, self.folder / "a" / "data" / "mailboxes"
        found = sorted(_body(path) for path in bob.glob("*/inbox/*.txt"))
        assert found == sorted(BODIES), f"bob has {found}"
        assert [_body(path) for path in (alice / CAROL).glob("*/inbox/*.txt")] == [BODIES[0]]
        assert [_body(path) for path in (alice / ALICE).glob("*/inbox/*.txt")] == ["Back"]
        assert sorted(_body(path) for path in (alice / ALICE).glob("*/sent/*.txt")) == sorted(BODIES)
        assert not list((alice / ALICE / DAY / "outbox").iterdir()), "something is left in the outbox"
        for office, name in (("relay", "bob"), ("ftp", BOB)):
            took = [path.read_text() for path in (self.folder / "office" / office / name).glob("*.[jg]*")]
            assert {text.split('"id":"')[1][:12] for text in took} == {"a" * 12, "0" * 12, "1" * 12, "2" * 12}, office
        for box in (bob, alice / CAROL):
            (message,) = [path for path in box.glob("*/inbox/*.txt") if _body(path) == BODIES[0]]
            _check_files(message.with_suffix(""))
        _check_files(alice / ALICE / DAY / "sent" / ("a" * 12))
        spools = [path for path in self.folder.glob("*/data/mailboxes/*/.signalbox/*/*") if path.name != "reserve"]
        left = list(self.folder.glob("*/data/mailboxes/*/*/*/.*"))
        assert not spools + left, f"left for ever: {spools + left}"

    def end_at(self, call: int) -> None:
        """Kill the work before a call, work again, and look."""
        self.again()
        # threads take turns: a run may need fewer calls than the one that was counted
        assert self.harmed(Fault(kill=call)) in (None, 0)
        self.finish()

    def full_at(self, room: int) -> None:
        """Work on a disk with so much room, then on one with more, and look."""
        self.again()
        assert self.harmed(Fault(room=room)) in (0, 1)
        self.finish()

    def finish(self) -> None:
        """Work twice without harm: what the first run sends, the second one takes in."""
        for _ in range(2):
            self.work()
        self.check()


def _body(path: Path) -> str:
    body = path.read_text("utf-8").partition("\n---\n")[2]
    return body.split("\n\n", 1)[1].partition("\n---END")[0] if body.startswith("---BEGIN") else body


def _check_files(folder: Path) -> None:
    found = {path.name: path.read_bytes() for path in folder.iterdir()} if folder.is_dir() else {}
    assert found == {"r.csv": CSV, "b.bin": BLOB}, f"{folder} has {sorted(found)}"


def main() -> int:
    """Try all calls, or a sample; say where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    wrong = number = 0
    with tempfile.TemporaryDirectory(prefix="sync-kill-") as above:
        trial = Trial(Path(above) / "trial")
        assert trial.harmed(Fault()) == 0
        trial.finish()
        calls, written = list(trial.calls), trial.written
        places = [args.only] if args.only else list(range(1, len(calls) + 1))
        rooms = [] if args.only else list(range(0, written, max(1, written // 200)))
        if args.sample:
            places, rooms = chance.sample(places, args.sample), chance.sample(range(written), args.sample // 2)
        for end, values in ((trial.end_at, places), (trial.full_at, rooms)):
            for value in values:
                number += 1
                try:
                    end(value)
                except Exception as error:
                    wrong += 1
                    what = f" ({calls[value - 1]})" if end == trial.end_at else ""
                    print(f"seed {args.seed}: {end.__name__} {value}{what}: {type(error).__name__}: {error}")
    print(f"{number} sudden ends and full disks, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
