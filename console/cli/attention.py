"""`signalbox attention`: list what needs attention, as the console lists it."""

from __future__ import annotations

import argparse
from itertools import groupby

from console.cli.document import JsonOutput
from console.cli.loading import Loaded, loaded_for_listing
from console.cli.options import mailbox_options
from console.cli.plain import columns, put
from console.cli.presences import Presences
from console.cli.settings import put_off
from console.cli.settling_output import ConcernRow
from console.concerns import listed
from console.render.safe import visible_line
from console.render.short_text import age
from console.render.timestamps import iso_time
from console.words.concern_words import heading_of
from mailstore.queries.attention import every_concern
from mailstore.queries.concerns import Concern, in_order

ROWS = JsonOutput(list[ConcernRow])
OUTPUTS = (ROWS,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per concern, under headings: what is addressed to the user first, then the most urgent."""
    from console.settings.config_file import load_config

    limits = load_config().config.attention.limits()
    with loaded_for_listing(args, with_seen=True) as mail:
        presences = Presences(mail)
        every = every_concern(mail.mailbox, mail.now, limits, presences.of, presences.usage)
        quiet, acknowledged = put_off(mail.store.url)
        concerns = listed(
            in_order(concern for concern in every if concern is not None), mail.mailbox, acknowledged, quiet
        )
    if args.json:
        ROWS.put([_row(concern) for concern in concerns])
    elif concerns:
        put("\n\n".join(_group(mail, heading, list(some)) for heading, some in groupby(concerns, key=heading_of)))
    else:
        put("Nothing needs attention")
    return 0


def _row(concern: Concern) -> ConcernRow:
    return ConcernRow(
        trouble=concern.kind,
        who=concern.who,
        reason=concern.reason,
        since=iso_time(concern.since),
        message_id=concern.message_id,
        recipient=concern.recipient or None,
        is_mine=concern.is_mine,
    )


def _group(mail: Loaded, heading: str, concerns: list[Concern]) -> str:
    """Return the concerns under one heading as lines."""
    cells = []
    for concern in concerns:
        message = mail.mailbox.message(concern.message_id or "")
        subject = visible_line(message.subject) if message is not None else ""
        who = f"{concern.who} → {concern.recipient}" if concern.recipient else concern.who
        cells.append((age(mail.now - concern.since), who, subject, concern.reason, concern.message_id or ""))
    return f"{heading} ({len(concerns)})\n" + columns(cells, ("since", "who", "subject", "why", "message"))
