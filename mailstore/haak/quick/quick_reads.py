"""Record that an agent read messages, as the store would. Imports next to nothing, because hooks do this."""

from __future__ import annotations

import time

from mailstore.files.scan import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def record_reads(mailbox: str, reader: str, message_ids: Iterable[str]) -> None:
    """Append read records for the mailbox file at a path. Raises MailboxBusy and StoreError."""
    from mailstore.files.append import append_lines
    from mailstore.files.owned import look_of

    now = time.time()
    stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z"
    append_lines(
        f"{mailbox.removesuffix('.jsonl')}-reads.jsonl",
        [
            f'{{"message_id":{quoted(each)},"reader_session_id":{quoted(reader)},"timestamp":"{stamp}"}}'.encode()
            for each in message_ids
        ],
        look_of(mailbox),
    )
