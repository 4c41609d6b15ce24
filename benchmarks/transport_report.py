"""What a round of the transports' experiment has shown, and the page about all of them."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from typing import NamedTuple


class RoundResult(NamedTuple):
    """Counts of messages: `copies` were fetched by our daemons from each server, `strange` came without being sent.

    `delays` are seconds from the outbox into the inbox, sorted.
    """

    name: str
    sent: int
    copies: dict[str, int]
    received: int
    lost: int
    doubled: int
    strange: int
    signed: int
    upstream: int
    waiting: int
    kills: int
    seconds: float
    delays: tuple[float, ...]

    @property
    def is_good(self) -> bool:
        """Say whether every message came once, with a valid signature."""
        bad = self.lost + self.doubled + self.strange + self.waiting
        return bad == 0 and self.sent == self.received == self.signed == self.upstream

    def delay(self, percent: int) -> float:
        """Return a percentile of the delays in seconds."""
        return self.delays[max(0, -(-len(self.delays) * percent // 100) - 1)] if self.delays else 0.0

    @property
    def from_each(self) -> str:
        return ", ".join(f"{kind} {count:,}" for kind, count in sorted(self.copies.items()))

    def row(self) -> str:
        """Return the row of the page's table."""
        cells = (
            self.name, f"{self.sent:,}", self.from_each, f"{self.received:,}",
            self.lost + self.waiting, self.doubled + self.strange,
            f"{self.signed:,}", f"{self.upstream:,}", self.kills or "", f"{self.seconds:.0f} s",
            f"{self.delay(50):.2f} s", f"{self.delay(99):.2f} s",
        )  # fmt: skip
        return "| " + " | ".join(map(str, cells)) + " |"

    def line(self) -> str:
        """Return the result in one line."""
        verdict = "good" if self.is_good else "NOT GOOD"
        return f"{verdict}: {self.row()}"


HEAD = """\
# The experiment of AgentAZAll's paper, again

Taken by `python -m benchmarks.transports --output benchmarks/TRANSPORTS.md` on {date}: {machine}.

Four bots, each with a mailbox tree of its own, answer each other until so many messages were written; scripts write
what the paper's models wrote. Nothing is delivered locally: `signalbox sync`, one process a bot, signs what they
write and carries it by AgentAZAll's own relay, e-mail server and FTP server, programs on loopback. The first three
rounds send as many messages as the paper's rounds, {total:,} in all. In the fourth every message goes by all three,
and every 20 s one of the servers is killed with SIGKILL and is started again after 5 s. In the last three, two of
the bots use the original daemon instead.

*Copies* are what our daemons fetched from each server; *lost* counts what never came or still waited at the end,
*doubled* what was twice in an inbox, or there without having been sent. A signature is *valid* if it covers the whole
text with its sender's key; *valid upstream* if the original program's own rules say so, too. Delays are from the outbox
to the inbox; all daemons look every second.

| round | sent | copies | in inboxes | lost | doubled | valid | valid upstream | kills | took | delay p50 | delay p99 |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def page(results: Sequence[RoundResult]) -> str:
    """Return the page in Markdown."""
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    head = HEAD.format(date=time.strftime("%Y-%m-%d"), machine=machine, total=sum(each.sent for each in results[:3]))
    rows = "".join(f"{each.row()}\n" for each in results)
    failures = sum(not each.is_good for each in results)
    return f"{head}{rows}\nRounds that failed: {failures}.\n"
