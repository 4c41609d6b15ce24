"""`signalbox views`: list the saved views and what each finds now."""

from __future__ import annotations

import argparse

from console.cli.document import JsonOutput
from console.cli.loading import loaded_for_listing
from console.cli.options import mailbox_options
from console.cli.output import ViewRow
from console.cli.plain import columns, put
from console.cli.search import search_context
from console.cli.settings import saved_views
from console.state.saved_views import run_saved_views
from mailstore.steps import at_once

ROWS = JsonOutput(list[ViewRow])
OUTPUTS = (ROWS,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per view."""
    with loaded_for_listing(args, with_seen=True) as mail:
        views = saved_views(mail.store.url)
        hints = mail.store.candidates
        with search_context(mail) as context:
            hits = dict(at_once(run_saved_views(context, mail.now, views, hints)))
        rows = [
            ViewRow(name, query, hits[name].messages, hits[name].unseen, hits[name].problem)
            for name, query in views.items()
        ]
    if args.json:
        ROWS.put(rows)
    elif rows:
        cells = [(str(row.messages), str(row.unread or ""), row.name, row.query, row.problem) for row in rows]
        put(columns(cells, ("messages", "unread", "view", "query", "")))
    else:
        put("No saved views. Save one with w in the console, or under [views] in config.toml")
    return 0
