"""Messages say what is wrong and how to fix it, and no text uses the phrases of `tests/project/wording.py`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from console.cli import main
from console.cli.own_commands import all_commands
from tests.project.wording import ANYWHERE, IN_MESSAGES, ROOT, found

HOLE = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for a value in a message."""
FIRST_ARGUMENT = {"DraftRefused": 1}
"""Where the problem stands, if a field comes before it."""
NAMES = ("QUERY", "URL", "ID", "MSG", "Agenties", "AgentAZAll", "HAAK", "SIGNALBOX")


class Error(NamedTuple):
    """An error as a module raises it; None for a part that is not written there."""

    place: str
    problem: str | None
    remedy: str | None
    has_remedy: bool


def template(node: ast.expr) -> str | None:
    """Return a text with holes for its values; None for an expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else HOLE for part in node.values)
    return None


def error_classes(texts: Iterable[str]) -> set[str]:
    """Return the names of MailError and of all that derive from it."""
    known = {"MailError"}
    classes = [found for text in texts for found in re.findall(r"(?m)^ *class (\w+)\(([^()]*)\):", text)]
    while more := {name for name, bases in classes if known & set(re.split(r"[\s,]+", bases))} - known:
        known |= more
    return known - {"QueryError"}


def errors() -> Iterator[Error]:
    files = [*(ROOT / "console").rglob("*.py"), *(ROOT / "mailstore").rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(files)}
    known = error_classes(texts.values())
    assert len(known) > 8
    for path, text in texts.items():
        if not any(f"{name}(" in text for name in known):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in known:
                at = FIRST_ARGUMENT.get(node.func.id, 0)
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                if any(isinstance(argument, ast.Starred) for argument in node.args):
                    continue
                given = {word.arg: word.value for word in node.keywords}
                remedy = node.args[at + 1] if len(node.args) > at + 1 else given.get("remedy")
                yield Error(
                    place,
                    template(node.args[at]),
                    None if remedy is None else template(remedy),
                    remedy is not None and not (isinstance(remedy, ast.Constant) and not remedy.value),
                )


def ill_formed(text: str) -> str:
    """Return what is wrong with the form of a problem or remedy; nothing for a good one."""
    first = re.split(r"[^A-Za-z]", text, maxsplit=1)[0]
    if text.endswith((".", "!", ":", " ")) or text.startswith(" "):
        return "ends like a sentence"
    if first[:1].isupper() and not first.isupper() and first not in NAMES:
        return "begins in upper case"
    if hit := IN_MESSAGES.search(text):
        return f"says {hit.group()!r}"
    return ""


def test_every_error_says_what_is_wrong_and_how_to_fix_it() -> None:
    wrong = []
    number = 0
    for error in errors():
        number += 1
        if not error.has_remedy:
            wrong.append(f"{error.place}: no remedy: {error.problem}")
        for text in (error.problem, error.remedy):
            if text is not None and (fault := ill_formed(text)):
                wrong.append(f"{error.place}: {fault}: {text}")
        if error.problem is not None and ": " in error.problem:
            wrong.append(f"{error.place}: a colon in the problem: {error.problem}")
    assert number > 150
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", all_commands())
def test_wrong_arguments_are_answered_in_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([name, "--nonsense"], [name, "--help", "--nonsense"]):
        status = main(words)
        said = capsys.readouterr()
        if "--help" in words:
            assert status == 0
            assert not IN_MESSAGES.search(said.out), said.out
            continue
        assert (status, said.out) == (2, "")
        problem, remedy = re.fullmatch(r"signalbox: ([^:\n]+): ([^\n]+)\n", said.err).groups()  # type: ignore[union-attr]
        assert not ill_formed(problem)
        assert not ill_formed(remedy)


def test_no_text_uses_a_phrase_that_only_its_author_understands() -> None:
    assert not found([ROOT / "console", ROOT / "mailstore", ROOT / "docs"], ANYWHERE)
    assert found([Path(__file__)], re.compile("its author understands"))


def raw_reasons(text: str) -> Iterator[int]:
    """Yield the lines of a module's text that say an error of the system as Python does, with its number and path."""
    for handler in ast.walk(ast.parse(text)):
        if not isinstance(handler, ast.ExceptHandler) or handler.type is None or handler.name is None:
            continue
        if not any(isinstance(node, ast.Name) and node.id == "OSError" for node in ast.walk(handler.type)):
            continue
        for node in ast.walk(handler):
            if isinstance(node, ast.FormattedValue) and getattr(node.value, "id", "") == handler.name:
                yield node.lineno


def test_no_error_of_the_system_is_said_with_its_number() -> None:
    modules = [path for folder in ("console", "mailstore") for path in sorted((ROOT / folder).rglob("*.py"))]
    texts = [(path.relative_to(ROOT), path.read_text("utf-8")) for path in modules]
    wrong = [f"{path}:{line}" for path, text in texts if "OSError" in text for line in raw_reasons(text)]
    assert not wrong, f"write reason_of(error): {wrong}"
    assert list(raw_reasons('try: ...\nexcept (OSError, ValueError) as e:\n    x = f"it failed: {e}"')) == [3]


SAYS_LETTER = re.compile(r"(?<!dead )(?<!dead-)(?<!`)\bletters?\b", re.IGNORECASE)
OF_THE_ALPHABET = re.compile(
    r"digits|casefold|escaped|ASCII|to the letter|small letters|three letters|of one or two cells|in their order"
)
"""What makes a letter one of the alphabet."""


def letters_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each string of a module's text that calls a message a letter."""
    nodes = list(ast.walk(ast.parse(text)))
    pieces = {id(piece) for node in nodes if isinstance(node, ast.JoinedStr) for piece in node.values}
    for node in nodes:
        said = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        is_text = " " in said.strip() or id(node) in pieces  # others are names of fields and settings, which stay
        if is_text and SAYS_LETTER.search(said) and not OF_THE_ALPHABET.search(said):
            yield getattr(node, "lineno", 0), said


def test_only_a_dead_letter_is_a_letter() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {said}"
        for folder in ("console", "mailstore")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if SAYS_LETTER.search(text := path.read_text(encoding="utf-8"))
        for line, said in letters_in(text)
    ]
    assert not wrong, "\n".join(wrong)
    assert list(letters_in('x = "a dead letter"; y = f"{n} letter{s}"; z = "letters"')) == [(1, " letter")]
