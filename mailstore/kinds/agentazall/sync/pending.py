"""Send what an agent has written and what still waits in its outbox, before its session ends or at a checkpoint."""

from __future__ import annotations

from collections.abc import Callable

from mailstore.errors import MailboxBusy, MailError
from mailstore.kinds.agentazall.names import plain_of
from mailstore.kinds.agentazall.sync.chosen_plan import plan_for
from mailstore.kinds.agentazall.sync.engine import SyncEngine

OUTBOX = "*/outbox/*"


def carry_pending(url: str, name: str, tell: Callable[[str], None]) -> list[MailError]:
    """Carry the mail of an agent of a mailbox once; return what went wrong."""
    try:
        plan = plan_for(url, lambda: url)
        named = [agent for agent in plan.agents if name in (agent.name, plain_of(agent.name))]
        agents = tuple(
            agent_plan for agent_plan in named if agent_plan.accounts or any((plan.root / agent_plan.name).glob(OUTBOX))
        )
        if not agents:
            return []  # nothing to do: a look changes nothing
        with SyncEngine(plan._replace(agents=agents), tell) as engine:
            report = engine.once()
    except MailboxBusy:
        return []  # a sync is running, and carries it
    except MailError as error:
        return [error]
    number = report.waiting + report.refused
    left = [MailError("messages not sent yet", f"{number} (signalbox sync status says why)", "E568")] if number else []
    return [*map(MailError, report.troubles), *left]
