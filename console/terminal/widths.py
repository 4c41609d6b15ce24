"""How wide the terminal draws characters about which terminals differ, by what the terminal says."""

from __future__ import annotations

import re
from collections.abc import Callable

from rich.cells import cell_len

from console.render.cells import SAMPLES
from console.terminal.background import Questioned
from console.terminal.queries import TerminalAnswer

LINE = 2
"""The line of the samples: an answer for the first one could be a key, F3 with a modifier."""

FOLLOWING = "x"
"""The character after a sample: some terminals don't know where to draw it."""

ANSWER = re.compile(rf"\x1b\[{LINE};(\d{{1,3}})R")
UNFINISHED = re.compile(rf"\x1b\[(?:{LINE}(?:;\d{{0,3}})?)?")
CONCEALED, REVEALED = "\x1b[8m", "\x1b[0m"


def ask_widths(terminal: object, heard: Callable[[frozenset[str]], object]) -> None:
    """Ask a terminal where its cursor is after each sample; to be called before anything is drawn.

    `heard` is called in the thread that reads the terminal with the kinds of characters whose width is that of the
    layout: when it has answered for all; a terminal that doesn't is drawn for as if it agreed about none.
    """
    if not isinstance(terminal, Questioned):
        return
    columns: list[int] = []

    def answered(found: re.Match[str]) -> None:
        columns.append(int(found[1]))
        if len(columns) == len(SAMPLES):
            measured = zip(SAMPLES.items(), columns, strict=True)
            heard(frozenset(kind for (kind, text), column in measured if column - 1 == cell_len(text + FOLLOWING)))

    samples = "".join(f"\x1b[{LINE};1H{text}{FOLLOWING}\x1b[6n" for text in SAMPLES.values())
    question = f"{CONCEALED}{samples}{REVEALED}\x1b[{LINE};1H\x1b[2K\x1b[H"
    terminal.query(question, TerminalAnswer(ANSWER, UNFINISHED, answered))
