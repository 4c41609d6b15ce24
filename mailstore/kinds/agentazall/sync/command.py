"""`signalbox sync`: carry the mail of an AgentAZAll mailbox to other machines and back."""

from __future__ import annotations

import argparse
import signal

from mailstore.kinds.agentazall.sync.chosen_plan import plan_for, root_of
from mailstore.kinds.agentazall.sync.command_rows import SyncDone, SyncRegistered, SyncStatus
from mailstore.kinds.agentazall.sync.engine import SyncEngine, SyncReport
from mailstore.own_commands import CommandAnswer, Program, WrongArguments

ANSWERS = {SyncDone: (), SyncRegistered: ("register",), SyncStatus: ("status",)}

ACTIONS = {
    "status": "Show which accounts work, which messages wait, and what was turned away",
    "register": "Get an account on a relay for an agent",
}
STATUSES = {1: "with --once or status: an account fails, or a message was refused"}
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


def run(args: argparse.Namespace, program: Program) -> CommandAnswer:
    """Carry mail until interrupted, or once; or show how that stands, or register with a relay."""
    words: list[str] = args.words

    def usual() -> str:
        return program.mailbox_url

    if words[:1] == ["status"]:
        from mailstore.kinds.agentazall.sync.standing import standing

        return standing(root_of(_one(words[1:]) or args.store or "", usual))
    if words[:1] == ["register"]:
        from mailstore.kinds.agentazall.sync.registering import register_agent

        return register_agent(words[1:], program, ca_file=args.ca_file, allow_plain=args.allow_plain)
    plan = plan_for(_one(words) or args.store or "", usual)
    for warning in plan.warnings:
        program.warn(warning)
    with SyncEngine(plan, program.tell) as engine:
        if args.again:
            engine.try_again()
        if args.once:
            return _answer(engine.once())
        _stop_on_signals(engine)
        names = ", ".join(agent.name for agent in plan.agents)
        program.say(f"Carrying the mail of {names} in {plan.root}")
        engine.run(lambda report: program.show_status(_sentence(report)))
    return CommandAnswer()


def _stop_on_signals(engine: SyncEngine) -> None:
    """Let the first signal end the work in order, and the second one at once, which loses nothing either."""

    def stop(*_: object) -> None:
        for signals in SIGNALS:
            signal.signal(signals, signal.SIG_DFL)
        engine.stop()

    for signals in SIGNALS:
        signal.signal(signals, stop)


def _one(words: list[str]) -> str | None:
    if len(words) > 1:
        raise WrongArguments(f'"{words[1]}" is one argument too many', "name one mailbox", "E267")
    return words[0] if words else None


def _answer(report: SyncReport) -> CommandAnswer:
    more = " (signalbox sync status says why)" if report.waiting or report.refused else ""
    done = SyncDone(report.sent, report.received, report.waiting, report.refused, list(report.troubles))
    return CommandAnswer([f"{_sentence(report)}{more}"], done, 1 if report.troubles else 0)


def _sentence(report: SyncReport) -> str:
    words = f"{report.sent} sent, {report.received} received"
    if report.waiting:
        words += f", {report.waiting} waiting"
    if report.refused:
        words += f", {report.refused} refused"
    if report.troubles:
        words += f", {len(report.troubles)} {'account fails' if len(report.troubles) == 1 else 'accounts fail'}"
    return words
