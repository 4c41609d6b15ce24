"""How soon agents read their mail, by what they read lately."""

from __future__ import annotations

from statistics import median

from mailstore.state.mailbox import Mailbox
from mailstore.steps import Steps

MOST_MESSAGES = 2_000
MOST_READS = 20
"""The latest so many reads of an agent count."""
FEWEST = 3
"""Of fewer reads than that, nothing is said."""


def reading_pace(mailbox: Mailbox) -> Steps[dict[str, float]]:
    """Yield the median time, in seconds, from a message to its read, by reader, and None before that.

    Only dated reads of the newest messages count. Raises MailboxReloaded.
    """
    delays: dict[str, list[float]] = {}
    for number, message in enumerate(mailbox.newest()):
        if number == MOST_MESSAGES:
            break
        for receipt in mailbox.receipts(message.id) if message.timed else ():
            of_reader = delays.setdefault(receipt.reader, [])
            if receipt.time is not None and receipt.time >= message.time and len(of_reader) < MOST_READS:
                of_reader.append(receipt.time - message.time)
        yield None
    yield {reader: median(found) for reader, found in delays.items() if len(found) >= FEWEST}
