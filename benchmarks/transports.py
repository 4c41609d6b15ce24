"""The experiment of AgentAZAll's paper, with our daemon: four bots talk over three transports; servers are killed.

    python -m benchmarks.transports [--quick] [--only NAME] [--output FILE]

Each bot has a mailbox tree of its own, so that nothing is delivered locally. The servers are AgentAZAll's own.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from benchmarks.transport_bots import BOTS, OURS, THEIRS, Bot, Received, Sent, running_bots
from benchmarks.transport_report import RoundResult, page
from benchmarks.transport_servers import KINDS, TransportServers
from mailstore.kinds.agentazall.ledger import accounts_of, ledger_file, waiting_in

EVERY_SECONDS = 1.0
KILL_SECONDS, DOWN_SECONDS = 20.0, 5.0
QUIET_SECONDS = 5.0
"""How long nothing must have come at the end."""
PATIENCE_SECONDS = 120.0
DELIVERY_SECONDS = 300.0
"""How long the slowest server may take to get the messages that came by the others already."""
LOOK_SECONDS = 0.05
SEEDS = 3
"""Conversations that each pair of bots begins."""


class Round(NamedTuple):
    """What is tried: by which servers, how many messages, with which daemons, at most how fast, with kills or not."""

    name: str
    kinds: tuple[str, ...]
    messages: int
    daemons: tuple[str, ...] = (OURS,) * 4
    rate: float = 1e9
    has_kills: bool = False


MIXED = (OURS, OURS, THEIRS, THEIRS)
ROUNDS = (
    Round("relay", ("relay",), 281),
    Round("e-mail", ("e-mail",), 598),
    Round("FTP", ("FTP",), 865),
    Round("all three, one killed every 20 s", KINDS, 1744, rate=12.0, has_kills=True),
    Round("relay, with the original daemon", ("relay",), 240, MIXED),
    Round("e-mail, with the original daemon", ("e-mail",), 240, MIXED),
    Round("FTP, with the original daemon", ("FTP",), 240, MIXED),
)
"""The first three send as many messages as the paper's rounds."""


class _Talk:
    """A conversation: every message is answered, until enough were written."""

    def __init__(self, bots: Sequence[Bot], target: int, rate: float) -> None:
        self._bots = {bot.address: bot for bot in bots}
        self._keys = {bot.address: bot.identity for bot in bots}
        self._target = target
        self._rate = rate
        self._owed: list[tuple[str, str, str]] = []
        self.sent: dict[str, Sent] = {}
        self.received: list[tuple[str, Received]] = []
        self._begun = time.monotonic()

    def begin(self) -> None:
        for one in self._bots:
            for number in range(SEEDS):
                self._owed += [(one, other, f"Leaf {88 + number}") for other in self._bots if other != one]

    def look(self) -> None:
        """Take in what has come, and answer as fast as is allowed."""
        for bot in self._bots.values():
            for came in bot.new_messages(self._keys):
                self.received.append((bot.address, came))
                self._owed.append((bot.address, came.sender, f"Re: {came.subject.removeprefix('Re: ')}"))
        while self._owed and len(self.sent) < min(self._target, self._rate * (time.monotonic() - self._begun) + 1):
            sender, recipient, subject = self._owed.pop(0)
            message = self._bots[sender].send(recipient, subject)
            self.sent[message.mark] = message

    @property
    def is_complete(self) -> bool:
        return len(self.sent) == self._target and len({message.mark for _, message in self.received}) >= self._target


def play(rule: Round, folder: Path) -> RoundResult:
    """Play a round in a folder, with our daemons' ledgers in it, too."""
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    servers = TransportServers(folder / "servers")
    bots = [Bot(folder / name, name, daemon) for name, daemon in zip(BOTS, rule.daemons, strict=True)]
    talk = _Talk(bots, rule.messages, rule.rate)
    with servers.running():
        for bot in bots:
            servers.register(bot.address)
            bot.configure(servers.settings(bot.address, rule.kinds), EVERY_SECONDS)
        with running_bots(bots):
            ended = threading.Event()
            killing = threading.Thread(target=_kill, args=(servers, ended))
            talk.begin()
            begun = time.monotonic()
            if rule.has_kills:
                killing.start()
            _until(talk, lambda: talk.is_complete)
            seconds = time.monotonic() - begun
            ended.set()
            if rule.has_kills:
                killing.join()
            _until(talk, lambda: not any(map(_left, bots)), DELIVERY_SECONDS)
            _until(talk, _Quiet(bots), DELIVERY_SECONDS)
            left = sum(map(_left, bots))
    return _judged(rule, talk, bots, servers, seconds, left)


def _left(bot: Bot) -> int:
    """Return how many messages of a bot wait in its outbox or for one of the servers."""
    return bot.waiting() + len(waiting_in(bot.root))


def _until(talk: _Talk, is_reached: Callable[[], bool], patience: float = PATIENCE_SECONDS) -> None:
    """Let the bots talk until something is so, or nothing has come for long."""
    count, deadline = 0, time.monotonic() + patience
    while not is_reached() and time.monotonic() < deadline:
        talk.look()
        if len(talk.received) > count:
            count, deadline = len(talk.received), time.monotonic() + patience
        time.sleep(LOOK_SECONDS)


def _kill(servers: TransportServers, ended: threading.Event) -> None:
    """Kill one server after the other, and start it again."""
    number = 0
    while not ended.wait(KILL_SECONDS - DOWN_SECONDS):
        kind = KINDS[number % len(KINDS)]
        servers.kill(kind)
        ended.wait(DOWN_SECONDS)
        servers.start(kind)
        number += 1


def _judged(
    rule: Round, talk: _Talk, bots: Sequence[Bot], servers: TransportServers, seconds: float, left: int
) -> RoundResult:
    came = Counter((owner, message.mark) for owner, message in talk.received)
    due = {(each.recipient, each.mark) for each in talk.sent.values()}
    delays = [message.time - talk.sent[message.mark].time for _, message in talk.received if message.mark in talk.sent]
    return RoundResult(
        name=rule.name,
        sent=len(talk.sent),
        copies=dict(_fetched(bots)),
        received=len(talk.received),
        lost=len(due - came.keys()),
        doubled=sum(count - 1 for count in came.values()),
        strange=len(came.keys() - due),
        signed=sum(message.is_signed for _, message in talk.received),
        upstream=sum(message.is_valid_upstream for _, message in talk.received),
        waiting=left,
        kills=sum(servers.kills.values()),
        seconds=seconds,
        delays=tuple(sorted(delays)),
    )


class _Quiet:
    """Says when nothing comes any more, though all accounts work: a copy that comes late would be doubled now."""

    def __init__(self, bots: Sequence[Bot]) -> None:
        self._bots = bots
        self._last = (-1, 0.0)

    def __call__(self) -> bool:
        count = _fetched(self._bots).total()
        if count != self._last[0] or not all(each.is_up for bot in self._bots for each in accounts_of(bot.root)):
            self._last = count, time.monotonic()
        return time.monotonic() > self._last[1] + QUIET_SECONDS


def _fetched(bots: Sequence[Bot]) -> Counter[str]:
    """Return how many messages our daemons took from each server, those that they knew already too."""
    found: Counter[str] = Counter()
    for bot in bots:
        if bot.daemon == OURS:
            with closing(sqlite3.connect(f"file:{ledger_file(bot.root)}?mode=ro", uri=True)) as ledger:
                for (label,) in ledger.execute("SELECT transport FROM arrivals WHERE state IN ('kept', 'duplicate')"):
                    found[label.partition(" ")[0]] += 1
    return found


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transports", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="forty messages a round: does it work?")
    parser.add_argument("--only", help="only rounds with this in their name")
    parser.add_argument("--output", type=Path, help="write the page here")
    args = parser.parse_args(words)
    results = []
    for rule in ROUNDS:
        if args.only and args.only not in rule.name:
            continue
        with tempfile.TemporaryDirectory(prefix="transports-") as made:
            result = play(rule._replace(messages=40) if args.quick else rule, Path(made))
        print(result.line(), flush=True)
        results.append(result)
        if args.output:
            args.output.write_text(page(results), encoding="utf-8")
    return 0 if all(result.is_good for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
