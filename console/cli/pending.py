"""Send what an agent has written and what still waits in its outbox, before its session ends or at a checkpoint."""

from __future__ import annotations

import argparse

from console.cli.loading import open_mailbox
from console.cli.settings import settings
from console.cli.terminal_io import tell, warn
from mailstore.errors import MailboxBusy, MailError

OUTBOX = "*/outbox/*"


def carry_pending(args: argparse.Namespace) -> None:
    """Carry an agent's mail once, in AgentAZAll where that is a separate step; report letters that fail."""
    with open_mailbox(args, settings(is_told=False)) as store:
        kind, url = store.kind, store.url
    if kind != "agentazall":
        return
    from console.cli.sync_plan import plan_for
    from mailstore.kinds.agentazall.names import plain_of
    from mailstore.kinds.agentazall.sync.engine import SyncEngine

    try:
        plan = plan_for(url)
        named = [each for each in plan.agents if args.reader in (each.name, plain_of(each.name))]
        agents = tuple(each for each in named if each.accounts or any((plan.root / each.name).glob(OUTBOX)))
        if not agents:
            return  # nothing to do: a look changes nothing
        with SyncEngine(plan._replace(agents=agents), tell) as engine:
            report = engine.once()
    except MailboxBusy:
        return  # a sync is running, and carries it
    except MailError as error:
        warn(str(error))
        return
    for trouble in report.troubles:
        warn(trouble)
    if report.waiting or report.refused:
        number = report.waiting + report.refused
        warn(f"letters not sent yet: {number} (signalbox sync status says why)")
