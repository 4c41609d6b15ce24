"""Which concerns are listed: not those that the person acknowledged or put off."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.quiet.marks import QuietMarks
    from mailstore.queries.concerns import Concern
    from mailstore.state.mailbox import Mailbox

ACKNOWLEDGED = "attention.acknowledged"
"""The name under which the keys of acknowledged concerns are remembered."""


def listed(
    found: Iterable[Concern], mailbox: Mailbox, acknowledged: Collection[str], quiet: QuietMarks
) -> list[Concern]:
    """Return the concerns that were not acknowledged, and of which neither row nor thread is snoozed."""
    return [it for it in found if it.key not in acknowledged and not _is_snoozed(it, mailbox, quiet)]


def _is_snoozed(concern: Concern, mailbox: Mailbox, quiet: QuietMarks) -> bool:
    message = mailbox.message(concern.message_id or "")
    return quiet.is_row_snoozed(*snoozed_row(concern)) or (message is not None and mailbox.is_snoozed(message))


def snoozed_row(concern: Concern) -> tuple[str, str]:
    """Return what identifies a snoozed row: a message or an agent, and what distinguishes it from other rows."""
    return concern.message_id or concern.who, concern.key
