"""The page of troubleshooting: every error message by what one was doing, with its cause and its remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from console.cli.explain import TABLE
from manual.reference.markdown import code, page, prose, table
from manual.reference.messages import WORDS, ErrorMessage, messages

UNCODED = {"tell", "warn", "append", "parser", "LoadedConfig", "ThemeError"}
"""What the console tells without raising an error that could have a code."""
EXPLANATIONS = Path(__file__).parents[2] / "console" / "cli" / TABLE
CAUSES = Path(__file__).with_name("causes.txt")
INTRO = """\
What you may see and why; then every message of an error or a warning, by what you were doing, with its cause and its
remedy. Look for its words on this page with your browser's search (ctrl+f): words in capitals stand for what your
message names. In a terminal, `signalbox explain` finds it by its words. Where a message has a code, `console.log` names
it; `signalbox explain E103` finds that too.
Commands print `signalbox: WHAT IS WRONG: HOW TO MEND IT` to standard error and end with a status that is not 0
([exit statuses](reference/commands.md#exit-statuses)); warnings begin with `warning:`, and the command was carried
out. The console shows the same at its lower edge, and `:` *problems* lists those of the settings. What was refused
changed nothing, unless the message says so."""
HEALTH = """\
Before anything else: `signalbox doctor` reads a whole mailbox and names every damaged record by file, line and
offset, `signalbox config check` does so for the settings, `signalbox hook status` for hooks, `signalbox sync status`
for accounts. They change nothing.

To report a defect: what fails inside the console is logged in `console.log` in the state folder
(`~/.local/state/signalbox`), with its kind and its place in the program. `signalbox open --log FILE` also logs each
command that you give. Neither holds text of messages, names or addresses: attach it as it is."""

LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
UNLINKED = str.maketrans("", "", "',:.")
WITHOUT = "Without a message"
SYMPTOMS = (
    (
        "The shell doesn't find `signalbox` after it was installed.",
        "The folder of programs that pipx or uv installs is not in the `PATH`.",
        "Run `pipx ensurepath` or `uv tool update-shell`, and open a new terminal ([install](install.md)).",
    ),
    (
        "No new mail appears until the console is opened again.",
        "The mailbox is on a file system that reports no changes, and it was not recognised as one.",
        "Give `--poll`, or set `poll = true` ([plain mode, colours and slow lines](plain.md#on-nfs-and-the-like)).",
    ),
    (
        "There are fewer messages than lines in the file.",
        "Some lines, files or folders can't be read; the header counts them as *unreadable*.",
        "`!` lists them, each with its place and the reason; so does `signalbox doctor`.",
    ),
    (
        "A message is in *All mail*, but not in *New to you*.",
        "You have seen it, or its thread, channel, sender or type is [muted or snoozed](quiet.md).",
        "Look into *Muted*, or search for `is:snoozed`.",
    ),
    (
        "Keys that write are refused, and the header says `as of`.",
        "You are looking at [the past](time-travel.md).",
        "`T` goes back to live.",
    ),
    (
        "An agent doesn't hear of its mail.",
        "Its program has no hooks, or doesn't trust them yet.",
        "Go through the list at [If an agent hears nothing](agents.md#if-an-agent-hears-nothing).",
    ),
    (
        "An agent at work is shown with `◌`.",
        "It has given no sign of life for `stale_after_minutes`.",
        "Install [hooks](agents.md), or let it run `signalbox presence`.",
    ),
    (
        "`·` stands where others have `✓` or `○`.",
        "The system of the mailbox doesn't record who reads.",
        "Nothing; [what each system records](stores.md#what-is-shown-and-what-is-not).",
    ),
    (
        "Arrow keys type messages or go back.",
        "The line is slow, so that their escape sequences arrive in pieces.",
        "Raise [`ESCDELAY`](plain.md#over-a-slow-connection): `ESCDELAY=100 signalbox`.",
    ),
    (
        "What was copied is not in the clipboard.",
        "The terminal, or tmux in it, doesn't take OSC 52.",
        "Allow it there (`set -s set-clipboard on` in tmux), or write the thread to a file with `x`.",
    ),
    (
        "The colours don't fit the terminal's background.",
        "The terminal doesn't say which background it has.",
        "Choose a theme: `--theme timetable` for light ones, `night-box` for dark ones ([themes](settings.md#themes)).",
    ),
    (
        "A number in a status bar has a `~`, or is a `?`.",
        "The mailbox has changed since it was counted, or never was.",
        "Nothing: the next call knows; or give `--wait` ([in the shell](shell.md#numbers-in-a-status-bar)).",
    ),
    (
        "The tab key completes only names of files, or `man signalbox` finds nothing.",
        "The shell has not loaded the script; `man` doesn't look where the pages are.",
        "See [tab completion](shell.md#tab-completion) and [man pages](shell.md#man-pages).",
    ),
    (
        "A link to the console in a browser no longer works.",
        "The server was started again and has another token.",
        "Use the link that it printed last; `--links` [keeps them](browser.md#from-another-machine).",
    ),
)
"""What a user sees, why, and what to do about it."""


class Cause(NamedTuple):
    """Why a message comes, by its code or its words; `remedy` where the message itself has none, or too little."""

    section: str
    key: str
    words: str
    remedy: str


def read_causes() -> tuple[dict[str, str], list[Cause]]:
    """Return what each section begins with, and the causes of all messages."""
    about: dict[str, str] = {}
    causes: list[Cause] = []
    section = key = ""
    for line in CAUSES.read_text("utf-8").splitlines():
        if line.startswith("# "):
            section, key = line[2:], ""
            about[section] = ""
        elif line.startswith("    "):
            words, _, remedy = line.strip().partition(" => ")
            causes.append(Cause(section, key, words, remedy))
        elif line and not about[section] and not any(cause.section == section for cause in causes) and line[-1] == ".":
            about[section] = line
        elif line:
            key = line
    return about, causes


def faults(found: Iterable[ErrorMessage], causes: Iterable[Cause]) -> list[str]:
    """Return the messages without a code, cause or remedy, the codes of two messages, and the causes of none."""
    known = {cause.key: cause for cause in causes}
    wrong = []
    there: dict[str, str] = {}
    for message in found:
        if there.setdefault(message.key, message.problem) != message.problem:
            wrong.append(f"{message.module}: {message.code} is that of another message: {there[message.key]}")
        cause = known.get(message.key)
        if not message.code and message.kind not in UNCODED:
            wrong.append(f"{message.module}: no code: {message.problem}")
        elif cause is None:
            wrong.append(f"{message.module}: no cause in {CAUSES.name}: {message.key}")
        elif not (WORDS.search(message.remedy) or cause.remedy):
            wrong.append(f"{message.module}: no remedy, in the code or in {CAUSES.name}: {message.problem}")
    return list(dict.fromkeys(wrong)) + [f"no such message: {key}" for key in known if key not in there]


def explained() -> tuple[dict[str, str], list[tuple[Cause, str, str]]]:
    """Return what each section begins with, and each cause with its message and what to do about it."""
    remedies: dict[str, dict[str, None]] = {}
    problems: dict[str, str] = {}
    for message in messages():
        remedies.setdefault(message.key, {})[message.remedy] = None
        problems[message.key] = message.problem
    about, causes = read_causes()
    return about, [(it, problems[it.key], it.remedy or _said(remedies[it.key])) for it in causes]


def explanations_table() -> str:
    """Return the table of `signalbox explain`."""
    rows = ((it.key if it.key != problem else "", problem, it.words, fix) for it, problem, fix in explained()[1])
    return "".join("\t".join(LINK.sub(r"\1", each) for each in row) + "\n" for row in rows)


def troubleshooting_page() -> str:
    """Return the page."""
    about, causes = explained()
    contents = " · ".join(f"[{it}](#{it.lower().replace(' ', '-').translate(UNLINKED)})" for it in (WITHOUT, *about))
    seen = table(("you see", "because", "remedy"), SYMPTOMS)
    parts = ["# Troubleshooting", INTRO, HEALTH, contents, f"## {WITHOUT}", seen]
    for section, words in about.items():
        mine = sorted((it for it in causes if it[0].section == section), key=lambda it: it[1].lower().lstrip('"-'))
        rows = (
            (it.key if it.key != problem else "", code(problem), _sentence(it.words), _sentence(fix))
            for it, problem, fix in mine
        )
        parts += [f"## {section}", words, table(("code", "message", "cause", "remedy"), rows)]
    return page(*parts)


def _said(remedies: Iterable[str]) -> str:
    return "; or ".join(filter(None, remedies))


def _sentence(text: str) -> str:
    """Return words of ours with their links and code as they are."""
    return text if "](" in text else prose(text)
