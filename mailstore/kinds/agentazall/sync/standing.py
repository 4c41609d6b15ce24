"""`signalbox sync status`: which accounts work, which messages wait, and what was turned away."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.ledger import NO_WAY, accounts_of, run_of, turned_away_at, waiting_in
from mailstore.kinds.agentazall.spools import LARGEST, is_at_work, spooled_at
from mailstore.kinds.agentazall.sync.command_rows import (
    SpooledRow,
    SyncAccountRow,
    SyncAgentRow,
    SyncMessageRow,
    SyncStatus,
    TurnedAwayRow,
)
from mailstore.kinds.agentazall.sync.keeping import folders_of
from mailstore.kinds.agentazall.transports.relay_wire import batch_of
from mailstore.kit import isoformat
from mailstore.own_commands import CommandAnswer

MOST_MESSAGES = MOST_TURNED_AWAY = 20


def standing(root: Path) -> CommandAnswer:
    """Return how the carrying of a mailbox stands; 1 if an account fails or a message was refused."""
    status = _status(root)
    is_failing = any(not account.is_up for account in status.accounts) or any(
        row.state == "refused" for row in status.letters
    )
    return CommandAnswer(list(_lines(status)), status, 1 if is_failing else 0)


def _written(time: float | None) -> str | None:
    return None if time is None else isoformat(time, "seconds")


def _status(root: Path) -> SyncStatus:
    return SyncStatus(
        str(root),
        [
            SyncAgentRow(run.agent, is_at_work(root / run.agent), run.pid, _written(run.looked))
            for run in run_of(root)
        ],
        [
            SyncAccountRow(
                account.agent, account.transport, account.is_up, _written(account.since),
                _written(account.looked), account.reason, _written(account.next),
            )
            for account in accounts_of(root)
        ],
        [
            SyncMessageRow(
                way.message_id, way.owner, way.recipient, way.transport, str(way.state), way.tries,
                _written(way.last), way.reason, _written(way.next),
            )
            for way in waiting_in(root)
        ],
        [
            TurnedAwayRow(
                arrival.owner, arrival.transport, arrival.key, arrival.sender, _written(arrival.at), arrival.reason,
            )
            for arrival in turned_away_at(root)[-MOST_TURNED_AWAY:]
        ],
        [_spooled(name, path) for name in sorted(folders_of(root)) for path in spooled_at(root / name)],
    )  # fmt: skip


def _spooled(agent: str, path: Path) -> SpooledRow:
    try:
        batch = batch_of(read_whole(path, LARGEST))
    except (OSError, NotAFile):
        batch = None
    return SpooledRow(agent, str(path), batch.agent if batch else "", len(batch.messages) if batch else None)


def _lines(status: SyncStatus) -> Iterable[str]:
    if status.spooled:
        yield "Handed out by a relay, and in no inbox yet:"
    for each_spooled in status.spooled:
        number = each_spooled.letters
        count = "what can't be read" if number is None else f"{number} {'message' if number == 1 else 'messages'}"
        yield f"  {each_spooled.file}: {count}{each_spooled.relay_agent and f' for {each_spooled.relay_agent}'}"
    if not status.agents:
        yield f"No sync has carried the mail of {status.mailbox} yet: signalbox sync does"
        return
    for agent in status.agents:
        work = f"carried by process {agent.pid}" if agent.is_carried else "no sync is at work"
        yield f"{agent.agent}: {work}, last look {agent.last_look}"
        for account in status.accounts:
            if account.agent == agent.agent:
                state = "works" if account.is_up else f"cut off since {account.since} ({account.reason})"
                after = f", next try {account.next_try}" if account.next_try and agent.is_carried else ""
                yield f"  {account.transport}: {state}{after}"
    if status.letters:
        yield "Not delivered:"
    for message in status.letters[:MOST_MESSAGES]:
        why = f" ({message.reason})" if message.reason else ""
        tries = f"{message.tries} {'try' if message.tries == 1 else 'tries'}"
        after = f", next {message.next_try}" if message.next_try else ""
        way = f"from {message.agent} to {message.recipient}"
        if message.transport == NO_WAY:
            yield f"  {message.id} {way}: {message.state}{why}"
        else:
            yield f"  {message.id} {way} by {message.transport}: {message.state}, {tries}{after}{why}"
    if len(status.letters) > MOST_MESSAGES:
        yield f"  and {len(status.letters) - MOST_MESSAGES} more: --json lists them all"
    if status.turned_away:
        yield "Turned away:"
    for each_away in status.turned_away:
        sender = f" from {each_away.sender}" if each_away.sender else ""
        yield f"  {each_away.at} {each_away.transport}{sender}: {each_away.reason}"
