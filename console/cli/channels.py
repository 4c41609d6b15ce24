"""`signalbox channels`: list every tag of messages and agents."""

from __future__ import annotations

import argparse

from console.cli.document import JsonOutput
from console.cli.loading import loaded_for_listing, unread_of_agent
from console.cli.options import mailbox_options, reader_option
from console.cli.output import ChannelRow
from console.cli.plain import columns, put

ROWS = JsonOutput(list[ChannelRow])
OUTPUTS = (ROWS,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    reader_option(parser, "Count unread mail of this agent instead of mail new to you")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per channel."""
    with loaded_for_listing(args, with_seen=True) as mail:
        unread = unread_of_agent(args, mail, lambda message: list(dict.fromkeys(message.recipients)))
        rows = [
            ChannelRow(
                tag=channel.tag,
                messages=channel.messages,
                unread=channel.unseen if unread is None else unread[channel.tag],
                agents=channel.agents,
            )
            for channel in mail.mailbox.channels()
        ]
    if args.json:
        ROWS.put(rows)
    elif rows:
        cells = [
            (
                mail.mailbox.label(row.tag),
                row.tag,
                str(row.messages),
                str(row.unread or ""),
                ", ".join(row.agents),
            )
            for row in rows
        ]
        put(columns(cells, ("channel", "tag", "messages", "unread", "agents")))
    else:
        put("No channels")
    return 0
