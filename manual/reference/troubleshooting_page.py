"""The page of messages: every error of the program by what one was doing, with its cause and its remedy."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from manual.reference.markdown import code, page, prose, table
from manual.reference.messages import WORDS, ErrorMessage, messages

__all__ = ["Cause", "faults", "read_causes", "troubleshooting_page"]

CAUSES = Path(__file__).with_name("causes.txt")
INTRO = """\
Every message of an error or a warning, by what you were doing, with its cause and its remedy. Look for its words
with your browser's search, or with the search of the manual: words in capitals stand for what your message names.
Commands print `signalbox: WHAT IS WRONG: HOW TO MEND IT` to standard error and end with a status that is not 0
([exit statuses](reference/commands.md#exit-statuses)); warnings begin with `warning:`, and the command was carried
out. The console shows the same at its lower edge, and `:` *problems* lists those of the settings. What was refused
changed nothing, unless the message says so."""
HEALTH = """\
Before anything else: `signalbox doctor` reads a whole mailbox and names every damaged record by file, line and
offset, `signalbox config check` does so for the settings, `signalbox hook status` for hooks, `signalbox sync status`
for accounts. They change nothing."""


class Cause(NamedTuple):
    """Why a message comes; `remedy` where the message itself has none, or too little."""

    section: str
    problem: str
    words: str
    remedy: str


def read_causes() -> tuple[dict[str, str], list[Cause]]:
    """Return what each section begins with, and the causes of all messages."""
    about: dict[str, str] = {}
    causes: list[Cause] = []
    section = problem = ""
    for line in CAUSES.read_text("utf-8").splitlines():
        if line.startswith("# "):
            section, problem = line[2:], ""
            about[section] = ""
        elif line.startswith("    "):
            words, _, remedy = line.strip().partition(" => ")
            causes.append(Cause(section, problem, words, remedy))
        elif line and not about[section] and not any(cause.section == section for cause in causes) and line[-1] == ".":
            about[section] = line
        elif line:
            problem = line
    return about, causes


def faults(found: Iterable[ErrorMessage], causes: Iterable[Cause]) -> list[str]:
    """Return the messages without a cause or without a remedy, and the causes of messages that are gone."""
    known = {cause.problem: cause for cause in causes}
    wrong = []
    there = set()
    for message in found:
        there.add(message.problem)
        cause = known.get(message.problem)
        if cause is None:
            wrong.append(f"{message.module}: no cause in {CAUSES.name}: {message.problem}")
        elif not (WORDS.search(message.remedy) or cause.remedy):
            wrong.append(f"{message.module}: no remedy, in the code or in {CAUSES.name}: {message.problem}")
    return list(dict.fromkeys(wrong)) + [f"no such message: {problem}" for problem in known if problem not in there]


def troubleshooting_page() -> str:
    """Return the page."""
    remedies: dict[str, dict[str, None]] = {}
    for message in messages():
        remedies.setdefault(message.problem, {})[message.remedy] = None
    about, causes = read_causes()
    parts = ["# Troubleshooting", INTRO, HEALTH]
    for section, words in about.items():
        mine = sorted((it for it in causes if it.section == section), key=lambda it: it.problem.lower().lstrip('"-'))
        rows = ((code(it.problem), _sentence(it.words), _sentence(it.remedy or _said(remedies.get(it.problem, {}))))
                for it in mine)  # fmt: skip
        parts += [f"## {section}", words, table(("message", "cause", "remedy"), rows)]
    return page(*parts)


def _said(remedies: Iterable[str]) -> str:
    return "; or ".join(filter(None, remedies))


def _sentence(text: str) -> str:
    """Return words of ours with their links and code as they are."""
    return text if "](" in text else prose(text)
