"""Carry mail: look into the outboxes, and let every account send and receive, each in a thread of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import NamedTuple, Self

from mailstore.errors import MailboxMissing, MailError, log_unexpected, reason_of
from mailstore.kinds.agentazall.day_index import DayIndexes
from mailstore.kinds.agentazall.pins import Pins
from mailstore.kinds.agentazall.spools import FOLDER, sync_lock
from mailstore.kinds.agentazall.sync.account_work import AccountWork
from mailstore.kinds.agentazall.sync.inbox import AgentInbox
from mailstore.kinds.agentazall.sync.keeping import clear_desk
from mailstore.kinds.agentazall.sync.ledger_writer import LedgerWriter
from mailstore.kinds.agentazall.sync.plan import AgentPlan, SyncPlan
from mailstore.kinds.agentazall.sync.sending import Outbox

FINISH_SECONDS, LOOK_AGAIN_SECONDS = 3.0, 0.2
"""How long a single run waits for messages that are still being written, and how often it looks."""
LOOK_SECONDS = 2.0
"""How often the outboxes are looked into, at least."""
END_SECONDS = 60.0
"""How long an end waits for accounts that are in the middle of something."""


class SyncReport(NamedTuple):
    """What was done: messages moved to `sent/`, and taken in; what still waits or was refused; accounts that fail."""

    sent: int
    received: int
    waiting: int
    refused: int
    troubles: tuple[str, ...]


class _AgentWork(NamedTuple):
    plan: AgentPlan
    outbox: Outbox
    shared: AgentInbox
    accounts: tuple[AccountWork, ...]
    indexes: DayIndexes

    @property
    def sending(self) -> list[str]:
        return [account.label for account in self.accounts if account.can_send]


class SyncEngine:
    """The work of one plan: `with SyncEngine(plan, tell) as engine: engine.once()`.

    `tell` gets a line for whatever a user should know; any thread may call it.
    """

    def __init__(self, plan: SyncPlan, tell: Callable[[str], None]) -> None:
        self._plan = plan
        self._tell = tell
        self._stack = ExitStack()
        self._agents: list[_AgentWork] = []
        self._troubles: dict[str, str] = {}
        self._stop = Event()
        self._asked: SimpleQueue[None] = SimpleQueue()
        """Has something in it once an end was asked for. A signal handler may put it there whatever it interrupts."""
        self._beaten: dict[str, float] = {}

    def __enter__(self) -> Self:
        """Lock the agents, and open the ledger and the accounts. Raises MailError."""
        root = self._plan.root
        if not root.is_dir():
            raise MailboxMissing(f"{root} is not a folder", "name the folder of mailboxes, or a config.json", "E544")
        with ExitStack() as stack:
            for agent in self._plan.agents:
                if not (root / agent.name).is_dir():
                    raise MailboxMissing(
                        f"{agent.name} has no folder in {root}", "name one that has, or create it", "E545"
                    )
                stack.enter_context(sync_lock(root / agent.name))
                clear_desk(root, root / agent.name / FOLDER)
            self._ledger = ledger = LedgerWriter(root)
            stack.callback(ledger.close)
            if ledger.problem:
                self._tell(ledger.problem)
            pins = Pins(str(root))
            pins.load()
            stack.callback(pins.save, at_once=True)
            self._pins = pins
            for agent in self._plan.agents:
                self._agents.append(self._opened(agent, stack))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        with suppress(OSError):
            for agent in self._agents:
                self._ledger.end_run(agent.plan.name, time.time())
        self._stack.close()

    def _opened(self, agent: AgentPlan, stack: ExitStack) -> _AgentWork:
        root, ledger = self._plan.root, self._ledger
        outbox = Outbox(root, agent.name, [account.address for account in agent.accounts], ledger, self._tell)
        shared = AgentInbox(root, agent.name, agent.filter, ledger, self._pins, self._tell)
        accounts = []
        for plan in agent.accounts:
            transport = plan.open()
            stack.callback(transport.close)
            accounts.append(AccountWork(plan, transport, outbox, shared, ledger))
        labels = [account.label for account in accounts]
        ledger.begin_run(agent.name, os.getpid(), time.time(), self._plan.every_seconds, labels)
        return _AgentWork(agent, outbox, shared, tuple(accounts), DayIndexes(root / agent.name))

    def try_again(self) -> None:
        """Let what was refused be tried again. Raises OSError."""
        for agent in self._agents:
            self._ledger.try_again(agent.plan.name)

    def once(self) -> SyncReport:
        """Do everything once: accounts at the same time, whatever their last failure."""
        deadline = time.monotonic() + FINISH_SECONDS
        self._look()
        while any(agent_work.outbox.unfinished for agent_work in self._agents) and time.monotonic() < deadline:
            self._stop.wait(LOOK_AGAIN_SECONDS)
            self._look()
        threads = [
            Thread(target=account.round, args=(self._stop,), kwargs={"is_all": True}, name=account.label, daemon=True)
            for agent in self._agents
            for account in agent.accounts
        ]
        _finished(threads)
        for agent in self._agents:
            if agent.plan.name not in self._troubles:
                self._try(agent, agent.indexes.keep)
        return self.report()

    def run(self, told: Callable[[SyncReport], None]) -> None:
        """Carry mail until `stop` is called; `told` gets what was done after each look."""
        threads = [
            Thread(target=self._keep_going, args=(account,), name=account.label, daemon=True)
            for agent in self._agents
            for account in agent.accounts
        ]
        for thread in threads:
            thread.start()
        is_asked = False
        while not is_asked:
            self._look()
            for agent in self._agents:
                for account in agent.accounts:
                    if not account.trouble and agent.outbox.handovers(account.label, time.time()):
                        account.wake.set()
            told(self.report())
            with suppress(Empty):
                self._asked.get(timeout=min(self._plan.every_seconds, LOOK_SECONDS))
                is_asked = True
        self._stop.set()
        for agent in self._agents:
            for account in agent.accounts:
                account.wake.set()
        deadline = time.monotonic() + END_SECONDS
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def stop(self) -> None:
        """End `run` after what is being sent or taken in. A signal handler may call it: it waits for no lock."""
        self._asked.put(None)

    def report(self) -> SyncReport:
        accounts = [account for agent in self._agents for account in agent.accounts]
        left = [agent.outbox.waiting() for agent in self._agents]
        looks = [f"{name}: {reason}" for name, reason in self._troubles.items()]
        return SyncReport(
            sum(agent.outbox.moved for agent in self._agents),
            sum(account.received for account in accounts),
            sum(waiting for waiting, _ in left),
            sum(refused for _, refused in left),
            (*looks, *(f"{account.agent}: {account.trouble}" for account in accounts if account.trouble)),
        )

    def _look(self) -> None:
        for agent in self._agents:
            self._try(agent, partial(self._look_at, agent))

    def _look_at(self, agent: _AgentWork) -> None:
        agent.outbox.look(agent.sending)
        agent.indexes.keep()
        self._beat(agent.plan.name)

    def _try(self, agent: _AgentWork, work: Callable[[], None]) -> None:
        """Do what concerns one agent; what fails stops no other."""
        name = agent.plan.name
        try:
            work()
            self._troubles.pop(name, None)
        except Exception as error:
            is_known = isinstance(error, MailError | OSError)
            if not is_known and os.environ.get("SIGNALBOX_DEBUG"):
                raise
            if not is_known:
                log_unexpected(error, "looking after an agent's mail")
            reason = reason_of(error) if is_known else f"internal error ({type(error).__name__})"
            if self._troubles.get(name) != reason:
                self._tell(f"{name}: {reason}")
            self._troubles[name] = reason

    def _beat(self, name: str) -> None:
        """Write that this is alive, as often as the accounts look."""
        now = time.monotonic()
        if now - self._beaten.get(name, float("-inf")) >= self._plan.every_seconds:
            self._ledger.beat(name, time.time())
            self._beaten[name] = now

    def _keep_going(self, account: AccountWork) -> None:
        while not self._stop.is_set():
            account.wake.clear()
            pause = account.round(self._stop)
            # stopped meanwhile: whoever wakes it did so before it was cleared
            if not self._stop.is_set():
                account.wake.wait(self._plan.every_seconds if pause is None else pause)


def _finished(threads: Sequence[Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
