"""Permissions for which programs wait, and what the user answers: files between the hook that waits and the console.

A request stands in the hooks' state folder of its mailbox while a hook waits for its answer, which is put beside it
once; then it says what became of it. Imports next to nothing, because hooks do.
"""

from __future__ import annotations

import os
from contextlib import suppress

from mailstore.files.scan import Unusual, ascii_json, decoded
from mailstore.files.whole import open_binary, open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import UnionType
    from typing import Any

ASKED = "asked"
"""The folder, in that of a mailbox's state."""
ALLOW, DENY, END_TURN = "allow", "deny", "end"
ELSEWHERE, LATE = "elsewhere", "late"
"""What else may become of a request: it was answered at the program's terminal, or by nobody in time."""
ANSWER, NEW = ".answer", ".new"
KEPT_SECONDS = 3600.0
LONGEST = 1 << 20
LONGEST_INPUT = 1 << 15
"""Characters of a tool's input that are kept and shown."""


TELLING = ("command", "file_path", "filepath", "path", "url", "pattern", "query", "description", "")
"""The names in a tool's input that say the most of it."""
TEXTS = ("id", "program", "session_id", "agent_id", "tool", "given", "cwd", "process", "outcome")
NUMBERS = ("size", "since", "until")


class PermissionRequest:
    """What a program asks: for which `tool` with what `given` (JSON, perhaps truncated, of `size` characters).

    `questions` are those of a model to its user: the text, the options, and whether several may be chosen. `since` and
    `until` are seconds since the epoch; `process` names the hook that waits; `outcome` is how it ended.
    """

    __slots__ = (*TEXTS, *NUMBERS, "questions")
    id: str
    program: str
    session_id: str
    agent_id: str
    tool: str
    given: str
    cwd: str
    process: str
    outcome: str
    size: int
    since: float
    until: float

    def __init__(self, facts: dict[str, Any]) -> None:
        for name in TEXTS:
            setattr(self, name, _of(facts.get(name, ""), str))
        for name in NUMBERS:
            setattr(self, name, _of(facts.get(name), int | float))
        self.questions = _questions(facts.get("questions"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PermissionRequest) and (self.id, self.outcome) == (other.id, other.outcome)

    __hash__ = None  # type: ignore[assignment]

    def in_a_line(self) -> str:
        """Return what is asked in a line: the model's question, or the tool and what matters most of its input."""
        if self.questions:
            return self.questions[0][0]
        given = input_of(self)
        what = next((given[name] for name in TELLING if isinstance(given.get(name), str)), self.given)
        return f"{self.tool}: {what}"


class PermissionAnswer:
    """What the user answers: allow, deny or end the turn, the words that the model reads, and choices by question."""

    __slots__ = ("by", "choices", "what", "words")

    def __init__(self, what: str, by: str, words: str = "", choices: dict[str, str] | None = None) -> None:
        self.what = what
        self.by = by
        self.words = words
        self.choices = choices or {}


def folder_of(mailbox_folder: str) -> str:
    """Return the folder of the requests for a mailbox, given that of its hooks' state."""
    return f"{mailbox_folder}/{ASKED}"


def put(folder: str, request: PermissionRequest) -> None:
    """Write a request, in place of an earlier state of it. Raises OSError."""
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    path = f"{folder}/{request.id}"
    data = {name: getattr(request, name) for name in PermissionRequest.__slots__}
    _write(path + NEW, data, os.O_TRUNC)
    os.rename(path + NEW, path)  # noqa: PTH104


def requests_in(folder: str) -> list[PermissionRequest]:
    """Return the requests for a mailbox, the oldest first, also those that were answered."""
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []
    requests = (request_at(folder, name) for name in names if "." not in name)
    return sorted(filter(None, requests), key=lambda request: (request.since, request.id))


def request_at(folder: str, request_id: str) -> PermissionRequest | None:
    """Return a request; None without one that can be read."""
    try:
        request = PermissionRequest(_read(f"{folder}/{request_id}"))
    except TypeError:
        return None
    return request if request.id == request_id else None


def answer(folder: str, request_id: str, given: PermissionAnswer) -> bool:
    """Answer a request; return whether nobody had before. Raises OSError."""
    data = {name: getattr(given, name) for name in PermissionAnswer.__slots__}
    path = f"{folder}/{request_id}{ANSWER}"
    try:
        _write(path, data, os.O_EXCL)
    except FileExistsError:
        return False
    except OSError:  # the disk is full: half an answer would keep the next one out
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108
        raise
    return True


def answer_to(folder: str, request_id: str) -> PermissionAnswer | None:
    """Return how a request was answered; None while it wasn't."""
    found = _read(f"{folder}/{request_id}{ANSWER}")
    what, by, words, choices = (found.get(name) for name in ("what", "by", "words", "choices"))
    if what not in (ALLOW, DENY, END_TURN) or not isinstance(by, str) or not isinstance(words, str):
        return None
    if not isinstance(choices, dict) or not all(isinstance(choice, str) for choice in choices.values()):
        return None
    return PermissionAnswer(what, by, words, choices)


def input_of(request: PermissionRequest) -> dict[str, Any]:
    """Return the tool's input by name; as one text without a name, where it was truncated."""
    try:
        given: dict[str, Any] = decoded(request.given.encode())
    except Unusual:
        return {"": request.given}
    return given


def settle(folder: str, request: PermissionRequest, outcome: str) -> None:
    """Say what became of a request, without the tool's input, and remove those that ended long ago. Raises OSError."""
    request.outcome, request.given, request.questions = outcome, "", []
    put(folder, request)
    with suppress(FileNotFoundError):
        os.unlink(f"{folder}/{request.id}{ANSWER}")  # noqa: PTH108
    for name in os.listdir(folder):  # noqa: PTH208
        with suppress(OSError):
            if os.stat(f"{folder}/{name}").st_mtime < request.since - KEPT_SECONDS:  # noqa: PTH116
                os.unlink(f"{folder}/{name}")  # noqa: PTH108


def _of(value: object, kind: type | UnionType) -> object:
    """Return a value if it is of a type. Raises TypeError."""
    if not isinstance(value, kind):
        raise TypeError(value)
    return value


def _questions(given: object) -> list[tuple[str, list[str], bool]]:
    """Return a model's questions; none where one is odd."""
    questions: list[tuple[str, list[str], bool]] = []
    for each in given if isinstance(given, list) else []:
        if isinstance(each, list) and len(each) == 3:
            text, options, is_several = each
        elif isinstance(each, dict):
            text, options, is_several = each.get("question"), each.get("options"), each.get("multiSelect")
        else:
            return []
        listed: list[Any] = options if isinstance(options, list) else []
        labels: list[Any] = [option.get("label") if isinstance(option, dict) else option for option in listed]
        if not isinstance(text, str) or not all(isinstance(label, str) for label in labels):
            return []
        questions.append((text, labels, bool(is_several)))
    return questions


def _write(path: str, data: dict[str, object], how: int) -> None:
    fd = open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | how)
    try:
        content = ascii_json(data).encode()
        if os.write(fd, content) < len(content):
            raise OSError(f"{path} could not be written completely")
    finally:
        os.close(fd)


def _read(path: str) -> dict[str, Any]:
    try:
        with open_binary(path) as file:
            fields: dict[str, Any] = decoded(file.read(LONGEST))
    except (OSError, Unusual):  # also while it is written
        return {}
    return fields
