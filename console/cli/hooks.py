"""`signalbox hook`: install, remove and report the hooks of agents' programs."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from console.cli.document import JsonOutput
from console.cli.limits import given_limits, limit_options
from console.cli.options import json_option
from console.cli.plain import bold, put
from console.cli.terminal_io import warn
from console.errors import Refused, UsedWrongly
from console.hooks.install.apply import diff, make
from console.hooks.install.choose import ALL, chosen, version_of
from console.hooks.install.freezing import freeze_sessions
from console.hooks.install.hook_report import HookReport, LogReport, SessionReport, log_report, reports
from console.hooks.install.installed import Installed, installed
from console.hooks.install.own_command import HookOptions
from console.hooks.install.plan import FileChange, Plan
from console.hooks.install.programs import NAMES, ProgramFiles, Target, program_files
from console.hooks.install.programs.former import FORMER_PROGRAMS
from console.hooks.options import DELIVERIES, ENDS, FREEZE, NOTICE
from console.hooks.programs import FORMER
from mailstore.errors import MailboxMissing, StoreError
from mailstore.location import path_in, without_secrets
from mailstore.records.scope import parts_of, url_of
from mailstore.registry import discover, kind_and_location, open_store


class HookStatus(Struct, frozen=True):
    """The hooks on this machine."""

    programs: Annotated[list[HookReport], "A report for each program of agents."]
    log: Annotated[LogReport, "What the hooks wrote down of what went wrong."]


STATUS = JsonOutput(HookStatus, "status")

MOST_SESSIONS = 5
DELIVERY_WORDS = {"notice": "notices", "session-start": "messages at session start", "letters": "messages everywhere"}


def put_status(names: list[str], target: Target, *, as_json: bool) -> int:
    """Print the status of the named programs, or of all."""
    programs: list[ProgramFiles] = [program_files(name) for name in NAMES if name in names or not names]
    former: list[ProgramFiles] = [program for program in FORMER_PROGRAMS if not names and installed(program, target)[0]]
    hook_reports = reports([*programs, *former], target)
    log = log_report()
    if as_json:
        STATUS.put(HookStatus(hook_reports, log))
        return 0
    shown = [
        report for report in hook_reports if report.command or report.installed or report.problems or report.sessions
    ]
    for report in shown:
        _put_report(report)
    missing = [report.title for report in hook_reports if report not in shown and report.program != "shell"]
    if missing:
        put(f"Neither found nor installed: {', '.join(missing)}")
    _put_log(log)
    return 0


def _put_report(report: HookReport) -> None:
    version = report.version or ("of unknown version" if report.command else "(not on the PATH)")
    title = f"{report.title} {version}"
    put(
        bold(
            title
            if report.tried
            else f"{report.title}: no longer supported, signalbox hook uninstall removes its hooks"
        )
    )
    for place in report.installed:
        put(f"  installed  {place.file}: {_choices(place)}")
    if not report.installed:
        put(f"  installed  no: signalbox hook install --for {report.program}")
    for problem in report.problems:
        put(f"  problem    {problem}")
    if report.trusted:
        put(f"  trusted    {report.trusted}{': ' if report.remark else ''}{report.remark}")
    put(f"  last ran   {report.last_run or 'never'}")
    if report.sessions:
        first = report.sessions[:MOST_SESSIONS]
        more = len(report.sessions) - len(first)
        rest = f" and {more} more" if more else ""
        put(f"  sessions   {', '.join(map(_session, first))}{rest}")


def _choices(place: Installed) -> str:
    said = [DELIVERY_WORDS.get(place.deliver, place.deliver)]
    said += ["wakes idle agents"] if place.wake else []
    said += ["holds agents, has permissions answered"] if place.gate else []
    said += [f"holds at {' and '.join(place.limits)}"] if place.limits else []
    said += ["buries at the end"] if place.at_end == "bury" else []
    said += [f"mailbox {place.mailbox}"] if place.mailbox else []
    return f"{place.scope}, {', '.join(said)}"


def _session(session: SessionReport) -> str:
    return f"{session.agent or session.session_id} {session.doing}"


def _put_log(log: LogReport) -> None:
    if not log.lines:
        put("Log: nothing went wrong")
        return
    put(f"Log: {log.lines} {'line' if log.lines == 1 else 'lines'} in {log.file}; the last:")
    for line in log.last:
        put(f"  {line}")


OUTPUTS = (STATUS,)

ACTIONS = {
    "install": "Install the hooks, after showing the changes and asking",
    "uninstall": "Remove the hooks, after showing the changes and asking",
    "status": "Show which hooks are installed",
    "run": "Answer an event of an agent's program; installed hooks call this",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=ACTIONS, help="run TOOL [EVENT] is what the installed hooks call")
    parser.add_argument("folder", nargs="?", metavar="DIR", help="Project folder (default: the current one)")
    parser.add_argument(
        "--for",
        dest="programs",
        action="append",
        metavar="PROGRAM",
        type=_not_former,
        choices=[ALL, *NAMES],
        help=f"Agent program, repeatable: {', '.join(NAMES)}, or {ALL} (default: those that are found)",
    )
    parser.add_argument("--user", action="store_true", help="All projects of this machine: your own settings")
    parser.add_argument("--shared", action="store_true", help="The files that a team commits")
    parser.add_argument("--wake", action="store_true", help="Wake idle agents for new mail; costs tokens")
    parser.add_argument("--gate", action="store_true", help="Run before each tool, too, so that agents can be held")
    limit_options(parser, "With --gate")
    parser.add_argument(
        "--deliver",
        choices=DELIVERIES,
        default=NOTICE,
        help="What hooks print: messages at session start, notices only (default), or messages everywhere",
    )
    parser.add_argument("--at-end", choices=ENDS, default=FREEZE, help="What the end of a session does to its agent")
    parser.add_argument("--store", metavar="URL", help="Mailbox, if the agent would not find it by itself")
    parser.add_argument("--dry-run", action="store_true", help="Show the changes without making them")
    parser.add_argument("--yes", action="store_true", help="Change the files without asking")
    json_option(parser)


def _not_former(name: str) -> str:
    if name in FORMER:
        raise UsedWrongly(
            f"{name} is no longer supported",
            "signalbox hook uninstall, without --for, removes the hooks that an earlier version installed",
            "E215",
        )
    return name


def run(args: argparse.Namespace) -> int:
    """Show the changes, ask, and make them; or report."""
    target = _target(args)
    if args.json and args.action != "status":
        raise UsedWrongly("--json is for status", "leave it out", "E114")
    if args.action == "install":
        return _install(args, target)
    if args.action == "status":
        return put_status([name for name in args.programs or [] if name != ALL], target, as_json=args.json)
    return _uninstall(args, target)


def _target(args: argparse.Namespace) -> Target:
    folder = Path(args.folder or ".").expanduser()
    if not folder.is_dir():
        if _not_former(args.folder) in NAMES:
            raise UsedWrongly(f"{args.folder} is a program", f"give it as --for {args.folder}", "E214")
        raise UsedWrongly(f"{folder} is not a folder", "give the project folder", "E213")
    if args.user and args.folder:
        raise UsedWrongly("--user is for all folders", "leave out DIR, or leave out --user", "E115")
    if args.user and args.shared:
        raise UsedWrongly("--user and --shared exclude each other", "choose one", "E116")
    home = Path.home()
    return Target(home if args.user else folder.absolute(), args.user, home, os.environ)


def _install(args: argparse.Namespace, target: Target) -> int:
    remarks: list[str] = []
    store = _store(args, target, remarks)
    limits = given_limits(args, "--gate", is_possible=args.gate)
    options = HookOptions(store, args.deliver, args.at_end, args.wake, args.shared, args.gate, limits)
    plan = Plan(target)
    for program in chosen(args.programs or [], target, installing=True):
        version = version_of(program, target)
        for part in program.parts(target, options, version):
            plan.part(program.NAME, part)
        if file := program.instruction_file(target):
            plan.instruction(program.NAME, file, wanted=True)
        remarks += program.remarks(target, options, version)
        remarks += _elsewhere(program, target, plan, "one place is enough")
    if store and (path := path_in(store)):
        plan.mailbox(path.resolve())
    if shutil.which("signalbox") is None:
        remarks.append('"signalbox" is not on the PATH: agents need it there to read their messages')
    _carried_out(args, plan.changes(excludes=not args.shared))
    for remark in [*plan.remarks, *remarks]:
        put(f"- {remark}")
    return 0


def _uninstall(args: argparse.Namespace, target: Target) -> int:
    plan = Plan(target)
    programs = chosen(args.programs or [], target, installing=False)
    for program in programs:
        for part in program.parts(target, None, None):
            plan.part(program.NAME, part)
        if path := program.instruction_file(target):
            plan.instruction(program.NAME, path, wanted=False)
    gone = {program.NAME for program in programs}
    is_last = not any(installed(program_files(name), target)[0] for name in NAMES if name not in gone)
    is_done = _carried_out(args, plan.changes(excludes=False, is_last=is_last))
    if is_done:
        frozen, problems = freeze_sessions([program.NAME for program in programs], target)
        if frozen:
            put(f"Frozen: {', '.join(frozen)}")
        for problem in problems:
            warn(problem)
    for program in programs:
        for remark in _elsewhere(program, target, plan, "remove them there too" if is_done else "these stay"):
            put(f"- {remark}")
    return 0


def _elsewhere(program: ProgramFiles, target: Target, plan: Plan, advice: str) -> list[str]:
    """Return where else a program's hooks are installed that run in this folder."""
    others = [place for place in installed(program, target)[0] if Path(place.file).resolve() not in plan.paths]
    return [f"{program.TITLE}: hooks are also in {place.file} ({place.scope}): {advice}" for place in others]


def _carried_out(args: argparse.Namespace, changes: Sequence[FileChange]) -> bool:
    """Show changes, ask, make them and say so; return whether any file was changed."""
    real = [change for change in changes if change.is_one]
    if not real:
        if not args.dry_run:
            make(changes)
        put("Nothing to change")
        return False
    for line in diff(changes):
        put(line)
    if args.dry_run:
        return False
    if not args.yes:
        _ask()
    make(changes)
    for word, names in (
        ("Created", [change.name for change in real if change.before is None]),
        ("Changed", [change.name for change in real if change.before is not None and change.after is not None]),
        ("Removed", [change.name for change in real if change.after is None]),
    ):
        if names:
            put(f"{word}: {', '.join(names)}")
    return True


def _ask() -> None:
    if not sys.stdin.isatty():
        raise UsedWrongly(
            "no terminal to ask for confirmation",
            "use --yes to change the files without asking, or --dry-run to see the changes",
            "E103",
        )
    print("Change these files? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Refused("nothing was changed", "answer y to change the files, or use --yes", "E216")


def _store(args: argparse.Namespace, target: Target, remarks: list[str]) -> str:
    """Return the mailbox to write into the commands: none for the user's hooks and a team's, unless it is named."""
    given = args.store or ("" if args.user or args.shared else os.environ.get("SIGNALBOX_STORE", ""))
    if given and without_secrets(given) != given:
        remarks.append(
            "the mailbox's URL has a secret, which is not written into any file: "
            "set SIGNALBOX_STORE to the whole URL where the agent is started"
        )
        return ""
    if given:
        return _absolute_url(given)
    try:
        location = discover(target.folder)
    except MailboxMissing:
        if not args.user:
            remarks.append("the hooks do nothing until this repository has a mailbox: run signalbox init")
        return ""
    return "" if args.user or args.shared else location


def _absolute_url(given: str) -> str:
    """Return a mailbox's URL as its store names it; for one that can't be opened yet, with an absolute path."""
    if parts := parts_of(given):
        return url_of({label: _absolute_url(part) for label, part in parts.items()})
    kind, location = kind_and_location(given)
    if kind and path_in(given) is None:
        return given
    path = Path(location).expanduser().absolute()
    url = f"{kind}:{path}" if kind else str(path)
    try:
        with open_store(url) as store:
            return store.url
    except StoreError:
        return url
