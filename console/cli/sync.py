"""`signalbox sync`: carry the mail of an AgentAZAll mailbox to other machines and back."""

from __future__ import annotations

import argparse
import signal
import sys

from console.cli.options import json_option
from console.cli.plain import put
from console.cli.progress import StatusLine
from console.cli.sync_output import DONE, REGISTERED, STATUS, SyncDone
from console.cli.sync_plan import plan_for
from console.cli.terminal_io import tell, warn
from console.errors import UsedWrongly
from console.render.safe import visible_line
from mailstore.kinds.agentazall.sync.engine import SyncEngine, SyncReport

OUTPUTS = (DONE, REGISTERED, STATUS)

ACTIONS = {
    "status": "Show which accounts work, which letters wait, and what was turned away",
    "register": "Get an account on a relay for an agent",
}
STATUSES = {1: "with --once or status: an account fails, or a letter was refused"}
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="PATH",
        help="Folder of mailboxes, or a config.json (default: of the settings); "
        "or: status [PATH], what waits and what fails; or: register URL AGENT, an account on a relay",
    )
    parser.add_argument("--store", metavar="URL", help="Mailbox: agentazall:PATH or a path")
    parser.add_argument("--once", action="store_true", help="Send and receive once; exit with 1 if an account fails")
    parser.add_argument("--again", action="store_true", help="Try again to send what was refused")
    parser.add_argument("--ca-file", metavar="FILE", default="", help="With register: the authority of the relay")
    parser.add_argument("--allow-plain", action="store_true", help="With register: without TLS to another machine")
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Carry mail until interrupted, or once; or show how that stands, or register with a relay."""
    words: list[str] = args.words
    if words[:1] == ["status"]:
        from console.cli.sync_status import show_status

        return show_status(_one(words[1:]) or args.store, is_json=args.json)
    if words[:1] == ["register"]:
        from console.cli.sync_register import register_agent

        return register_agent(words[1:], ca_file=args.ca_file, allow_plain=args.allow_plain, is_json=args.json)
    plan = plan_for(_one(words) or args.store)
    for warning in plan.warnings:
        warn(warning)
    status = StatusLine(is_shown=not args.once and not args.json)
    with SyncEngine(plan, status.above(tell)) as engine:
        if args.again:
            engine.try_again()
        if args.once:
            return _reported(engine.once(), is_json=args.json)
        _stop_on_signals(engine)
        names = ", ".join(each.name for each in plan.agents)
        put(f"Carrying the mail of {names} in {visible_line(str(plan.root))}")
        sys.stdout.flush()
        engine.run(lambda report: status.show(_sentence(report)))
    status.clear()
    return 0


def _stop_on_signals(engine: SyncEngine) -> None:
    """Let the first signal end the work in order, and the second one at once, which loses nothing either."""

    def stop(*_: object) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        engine.stop()

    for each in SIGNALS:
        signal.signal(each, stop)


def _one(words: list[str]) -> str | None:
    if len(words) > 1:
        raise UsedWrongly(f'"{words[1]}" is one argument too many', "name one mailbox")
    return words[0] if words else None


def _reported(report: SyncReport, *, is_json: bool) -> int:
    if is_json:
        DONE.put(SyncDone(report.sent, report.received, report.waiting, report.refused, list(report.troubles)))
    else:
        more = " (signalbox sync status says why)" if report.waiting or report.refused else ""
        put(f"{_sentence(report)}{more}")
    return 1 if report.troubles else 0


def _sentence(report: SyncReport) -> str:
    words = f"{report.sent} sent, {report.received} received"
    if report.waiting:
        words += f", {report.waiting} waiting"
    if report.refused:
        words += f", {report.refused} refused"
    if report.troubles:
        words += f", {len(report.troubles)} {'account fails' if len(report.troubles) == 1 else 'accounts fail'}"
    return words
