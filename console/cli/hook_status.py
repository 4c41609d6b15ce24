"""`signalbox hook status`: which hooks are installed, whether they may run, and when they did."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from console.cli.document import JsonOutput
from console.cli.plain import bold, put
from console.hooks.install.hook_report import HookReport, LogReport, SessionReport, log_report, reports
from console.hooks.install.installed import Installed, installed
from console.hooks.install.programs import NAMES, ProgramFiles, Target, program_files
from console.hooks.install.programs.former import FORMER_PROGRAMS


class HookStatus(Struct, frozen=True):
    """The hooks on this machine."""

    programs: Annotated[list[HookReport], "A report for each program of agents."]
    log: Annotated[LogReport, "What the hooks wrote down of what went wrong."]


STATUS = JsonOutput(HookStatus, "status")

MOST_SESSIONS = 5
DELIVERIES = {"notice": "notices", "session-start": "messages at session start", "letters": "messages everywhere"}


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
    said = [DELIVERIES.get(place.deliver, place.deliver)]
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
