"""`signalbox mcp --as ID`: serve the mailbox over MCP on standard input and output."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from console.cli.loading import known_agent, loaded
from console.cli.options import mailbox_options, reader_option
from console.cli.settings import settings
from console.cli.terminal_io import run_loop
from console.errors import Refused
from mailstore.installation import remedy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    reader_option(parser, "Agent to serve: a session id of the roster", required=True)
    mailbox_options(parser, json=False, at=False)
    parser.set_defaults(at=None)


def run(args: argparse.Namespace) -> int:
    """Serve one client until it disconnects."""
    if find_spec("mcp") is None:
        raise Refused("the package mcp is not installed", remedy("mcp"), "E217")
    from console.mcp.server import serve
    from console.mcp.tools import Caller

    configured = settings()
    with loaded(args) as mail:
        agent = known_agent(mail.mailbox, args.reader)
        run_loop(serve(Caller(mail, agent.session_id, configured.stale_seconds)))
    return 0
