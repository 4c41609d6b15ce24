"""`signalbox attention`: list what needs attention, computed from the log alone."""

from __future__ import annotations

import argparse

from console.cli.document import put_json
from console.cli.loading import loaded
from console.cli.options import mailbox_options
from console.cli.output import ConcernRow
from console.cli.plain import columns, put
from console.render.short_text import age
from console.render.timestamps import iso_time
from mailstore.queries.attention import attention


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per concern, the most urgent first."""
    from console.config_file import load_config

    limits = load_config().config.attention.limits()
    with loaded(args) as mail:
        concerns = attention(mail.mailbox, mail.now, limits)
    if args.json:
        put_json(
            [ConcernRow(it.trouble.value, it.who, it.reason, iso_time(it.since), it.message_id) for it in concerns]
        )
    elif concerns:
        cells = [(age(mail.now - it.since), it.who, it.reason, it.message_id or "") for it in concerns]
        put(columns(cells, ("since", "who", "why", "message")))
    else:
        put("Nothing needs attention")
    return 0
