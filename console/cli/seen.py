"""Count unread mail for `--as`: an agent's unread mail instead of mail new to the user."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable

from console.cli.loading import Loaded, reader_name
from console.unread_mail import unread_mail
from mailstore.records.message import Message


def unread_of_agent(
    args: argparse.Namespace, mail: Loaded, keys: Callable[[Message], list[str]]
) -> Counter[str] | None:
    """Count an agent's unread mail by the keys of each message; None without `--as`."""
    if args.reader is None:
        return None
    reader = reader_name(mail.mailbox, args.reader)
    return Counter(key for message in unread_mail(mail.store, mail.mailbox, reader, mail.now) for key in keys(message))
