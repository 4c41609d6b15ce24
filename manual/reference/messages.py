"""Find every message of an error in the code: what is wrong and how it is mended, with names for the values in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from manual.reference.message_words import called, name_of, words_of

ROOT = Path(__file__).parents[2]
FIRST_ARGUMENT = {"DraftRefused": 1}
"""Where the problem stands, if a field comes before it."""
TOLD = {"tell": 0, "warn": 0, "fail": 0}
"""Functions that take a problem, and a remedy after it."""
PARSER = "console/cli/parser.py"
"""Words argparse's errors anew."""
SETTINGS = (
    "console/settings/config_check.py",
    "console/settings/config_file.py",
    "console/commands/keymap.py",
    "console/settings/theme_files.py",
)
"""Where problems in settings are collected."""
COLLECTED = {"append": 0, "LoadedConfig": -1, "ThemeError": 0}
"""By which calls, and where in their arguments."""
CLASS = re.compile(r"(?m)^class (\w+)\(([\w, ]+)\):")
WORDS = re.compile(r"[a-z]{2}")

PLACES = re.compile(r"^([A-Z]+( [A-Z]+)*: )+")
"""Names of the file and the key before a problem in the settings."""


class ErrorMessage(NamedTuple):
    """A message as a module has it; an empty remedy is one that the values say. `code` is that of its error, if any."""

    problem: str
    remedy: str
    module: str
    kind: str
    code: str = ""

    @property
    def key(self) -> str:
        """Return by what its cause is found."""
        return self.code or self.problem


@cache
def messages() -> tuple[ErrorMessage, ...]:
    """Return every message that has words of its own, in the order of the modules."""
    found = (each._replace(problem=" ".join(each.problem.split())) for each in _all_messages())
    return tuple(each for each in found if WORDS.search(each.problem) and not each.problem.startswith("warning: "))


def _all_messages() -> Iterator[ErrorMessage]:
    texts = {path: path.read_text("utf-8") for path in _modules()}
    known = _error_classes(texts.values())
    telling = re.compile(rf"\b(?:{'|'.join([*known, *TOLD])})\(")
    for path, text in texts.items():
        module = path.relative_to(ROOT).as_posix()
        if module in SETTINGS or module == PARSER or telling.search(text):
            for node in ast.walk(ast.parse(text)):
                yield from _found_in(node, module, known)


def _found_in(node: ast.AST, module: str, known: set[str]) -> Iterator[ErrorMessage]:
    """Yield the messages that a statement or a call has."""
    if module == PARSER and isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        problems, remedies = (words_of(part) for part in node.value.elts)
        yield from (ErrorMessage(text, (remedies or [""])[0], module, "parser") for text in problems)
    if not isinstance(node, ast.Call) or not node.args or isinstance(node.args[0], ast.Starred):
        return
    kind = called(node)
    if module in SETTINGS and kind in COLLECTED:
        yield from _problems(node.args[COLLECTED[kind]], module, kind)
    elif kind in known or (kind in TOLD and _is_told(module, kind)):
        yield from _said(node, module, kind)


def _said(node: ast.Call, module: str, kind: str) -> Iterator[ErrorMessage]:
    at = FIRST_ARGUMENT.get(kind, 0)
    given = {word.arg: word.value for word in node.keywords}
    remedy = (words_of(node.args[at + 1] if len(node.args) > at + 1 else given.get("remedy")) or [""])[0]
    field = f"{(words_of(node.args[0]) or [name_of(node.args[0])])[0]} " if at else ""
    for problem in words_of(node.args[at]):
        if kind == "warn" and not remedy:
            what, _, then = problem.partition(": ")
            yield ErrorMessage(what, then, module, kind)
        else:
            yield ErrorMessage(field + problem, remedy, module, kind, _code_of(node.args[at + 2 :], given.get("code")))


def _code_of(rest: Sequence[ast.expr], named: ast.expr | None) -> str:
    node = named or (rest[0] if rest else None)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _problems(node: ast.expr, module: str, kind: str) -> Iterator[ErrorMessage]:
    """Yield a problem in a settings file: place, what is wrong, and after a colon or a semicolon what to do."""
    for text in words_of(node.elts[0] if isinstance(node, ast.List) and node.elts else node):
        said = PLACES.sub("", text)
        said = said.replace(" (known: ", "; use one of ", 1).rstrip(")") if " (known: " in said else said
        problem, _, remedy = said.partition("; ") if "; " in said else said.rpartition(": ")
        yield ErrorMessage(problem or remedy, remedy if problem else "", module, kind)


def _is_told(module: str, kind: str) -> bool:
    """Say whether a function of that name in a module is one of those that tell somebody."""
    return module == "mailstore/queries/language/parser.py" if kind == "fail" else module.startswith("console/cli/")


def _modules() -> list[Path]:
    found = [*(ROOT / "console").rglob("*.py"), *(ROOT / "mailstore").rglob("*.py")]
    return sorted(path for path in found if not {"conformance", "demo"} & set(path.parts))


def _error_classes(texts: Iterable[str]) -> set[str]:
    """Return the names of MailError and of all that derive from it."""
    bases = dict(found for text in texts for found in CLASS.findall(text))
    known = {"MailError"}
    while more := {name for name, above in bases.items() if known & set(above.split(", "))} - known:
        known |= more
    return known
