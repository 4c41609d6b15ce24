"""Guess a mapping from samples of records, with the evidence for each choice, and write it as a TOML file."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from mailstore.kinds.mapped.fields import text_of
from mailstore.kinds.mapped.samples import Sample, leaves, samples
from mailstore.kit.timestamps import parse_time
from mailstore.records.message import Message, Problem

NAMES: dict[str, tuple[str, ...]] = {
    "sender": (
        "from",
        "sender",
        "from_agent",
        "sender_id",
        "from_id",
        "from_name",
        "author",
        "source",
        "src",
        "instance",
    ),
    "recipients": (
        *("to", "recipients", "recipient", "to_agent", "delivered_to", "targets", "target", "recipient_id", "to_id"),
        *("receiver", "dest", "destination", "dst", "channel", "room", "mailbox"),
    ),
    "body": ("body", "text", "content", "message", "msg", "message_text", "payload"),
    "id": ("id", "msg_id", "message_id", "uuid", "uid", "_id", "key"),
    "time": (
        "timestamp",
        "ts",
        "created_at",
        "sent_at",
        "created_ts",
        "time",
        "datetime",
        "date",
        "created",
        "at",
        "when",
    ),
    "subject": ("subject", "title", "summary", "topic"),
    "reply_to": ("reply_to", "in_reply_to", "parent_id", "parent", "replies_to", "reply_to_id", "re"),
    "thread": ("thread", "thread_id", "conversation_id", "conversation", "job_id"),
    "type": ("type", "kind", "message_type", "msg_type", "category"),
    "tags": ("tags", "labels"),
    "read": ("read", "is_read", "seen", "read_at", "acked", "acknowledged"),
    "expires": ("expires_at", "expires", "expiry", "expires_ts"),
}
"""Usual names of fields, most likely first; case, dashes and underscores are ignored."""
NEEDED = ("sender", "recipients", "body")
TIMES = ("time", "expires")
BOXES = frozenset({"inbox", "outbox", "sent", "new", "cur", "queue", "pending", "processing"})
DONE = frozenset({"consumed", "read", "cur", "done", "processed", "archive", "archived", "delivered"})
MAIL = frozenset({"message", "mail", "msg", "dm", "chat"})
MOST_VALUES = 4
A_NAME = re.compile(r"[^\s]{1,80}")


class Choice(msgspec.Struct, frozen=True):
    """The choice for a field of a message, its evidence, and the alternatives."""

    field: str
    found: dict[str, Any]
    evidence: str
    others: tuple[str, ...] = ()
    is_sure: bool = True


class Guess(msgspec.Struct, frozen=True):
    """A complete mapping as tables, and how each field was chosen."""

    source: dict[str, Any]
    choices: tuple[Choice, ...]
    sampled: int


class Values:
    """The values at one path in the samples."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.all: list[Any] = []

    @property
    def texts(self) -> list[str]:
        return [text_of(each) for each in self.all]

    def share(self, total: int) -> float:
        return len(self.all) / total

    def evidence(self, total: int) -> str:
        shown = [f'"{text[:40]}"' for text in dict.fromkeys(self.texts)][:MOST_VALUES]
        return f"in {len(self.all)} of {total} records: {', '.join(shown)}"


def guess(path: Path) -> Guess:
    """Return the most likely mapping for a path. Raises StoreError."""
    guesses = [_guessed(sample) for sample in samples(path)]
    return max(guesses, key=lambda each: (_score(each), each.sampled))


def _score(guessed: Guess) -> float:
    return sum((3 if choice.field in NEEDED else 1) for choice in guessed.choices if choice.is_sure)


def _guessed(sample: Sample) -> Guess:
    source, sample = _only(sample)
    total = len(sample.records)
    values: dict[str, Values] = {}
    for record in sample.records:
        for path, value in leaves(record.value):
            if value not in (None, "", []):
                values.setdefault(path, Values(path)).all.append(value)
    groups = _groups(sample)
    if groups:
        source["path"] = _pattern(sample, groups)
    choices: list[Choice] = []
    # a field that is used as filter is constant
    taken = {source["only"]["path"]} if "only" in source else set()
    for field in NAMES:
        candidates = [it for it in _named(field, values, total) if it.path not in taken and _fits(field, it)]
        if candidates:
            best = candidates[0]
            taken.add(best.path)
            others = tuple(candidate.path for candidate in candidates[1:])
            choices.append(Choice(field, _finder(field, best), best.evidence(total), others))
        elif (other := _otherwise(field, values, taken, groups, total)) is not None:
            choices.append(other)
    return Guess(source, tuple(choices), total)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _named(field: str, values: dict[str, Values], total: int) -> list[Values]:
    """Return the paths with one of a field's names, most likely first: by frequency, name and depth."""
    ranks = {_plain(name): rank for rank, name in reversed(list(enumerate(NAMES[field])))}
    items = [value for path, value in values.items() if _plain(path.rpartition(".")[2]) in ranks]

    def rank(it: Values) -> tuple[float, int, int]:
        is_rare = it.share(total) < 0.5 and field in NEEDED
        return is_rare, ranks[_plain(it.path.rpartition(".")[2])], it.path.count(".")

    return sorted(items, key=rank)


def _fits(field: str, values: Values) -> bool:
    """Return whether the values at a path fit a field."""
    tests: dict[str, Callable[[Any], bool]] = {
        "sender": lambda it: isinstance(it, (str, int)) and bool(A_NAME.fullmatch(text_of(it))),
        "recipients": lambda it: isinstance(it, (str, int, list)) and len(text_of(it)) < 500,
        "body": lambda it: isinstance(it, (str, dict)),
        "time": lambda it: parse_time(it)[0] is not None,
        "expires": lambda it: parse_time(it)[0] is not None,
        "id": lambda it: isinstance(it, (str, int)),
        "read": lambda it: isinstance(it, (bool, int, str)),
        "tags": lambda it: isinstance(it, (list, str)),
    }
    test = tests.get(field, lambda it: isinstance(it, (str, int)))
    if field == "id" and len(set(values.texts)) < len(values.texts):
        return False
    return sum(map(test, values.all)) >= 0.8 * len(values.all)


def _finder(field: str, values: Values) -> dict[str, Any]:
    finder: dict[str, Any] = {"path": values.path}
    if field in TIMES and all(isinstance(it, (int, float)) for it in values.all):
        finder["format"] = "epoch-ms" if max(values.all) > 1e11 else "epoch"
    if field == "recipients":
        for separator in (",", ";"):
            if any(isinstance(it, str) and separator in it and not it.startswith("[") for it in values.all):
                finder["separator"] = separator
                break
    return finder


def _otherwise(
    field: str, values: dict[str, Values], taken: set[str], groups: dict[str, set[str]], total: int
) -> Choice | None:
    """Choose by the form of values, or by the files' path; required fields that can't be guessed are reported."""
    free = [value for path, value in values.items() if path not in taken]
    boxes = {name: texts for name, texts in groups.items() if texts & (BOXES | DONE)}
    people = {name: texts for name, texts in groups.items() if name not in boxes}
    if field == "read":
        for name, texts in boxes.items():
            if done := sorted(texts & DONE):
                return Choice(field, {"group": name, "values": done}, f"a folder is called {', '.join(done)}")
    if field == "recipients" and people:
        name, texts = max(people.items(), key=lambda item: len(item[1]))
        return Choice(field, {"group": name}, f"folders are called {', '.join(sorted(texts)[:MOST_VALUES])}")
    if field == "body":
        long = [it for it in free if it.share(total) > 0.5 and all(isinstance(each, str) for each in it.all)]
        if long:
            best = max(long, key=lambda it: sum(map(len, it.texts)) / len(it.all))
            taken.add(best.path)
            return Choice(field, {"path": best.path}, f"the longest text, {best.evidence(total)}", is_sure=False)
    if field not in NEEDED:
        return None
    likely = [it.path for it in free if all(A_NAME.fullmatch(text) for text in it.texts)]
    likely.sort(key=lambda path: len(set(values[path].texts)))
    constant = {"sender": "unknown", "recipients": "all", "body": ""}[field]
    return Choice(field, {"constant": constant}, "could not be guessed", tuple(likely[:8]), is_sure=False)


def _only(sample: Sample) -> tuple[dict[str, Any], Sample]:
    """Leave out records that are not messages, if a column shows which are."""
    source = dict(sample.source)
    for name in ("type", "kind", "event", "event_type"):
        texts = Counter(text_of(record.value.get(name)) for record in sample.records if name in record.value)
        mail = next((text for text in texts if text.lower() in MAIL), None)
        if mail is None or len(texts) < 2:
            continue
        kept = [record for record in sample.records if text_of(record.value.get(name)) == mail]
        is_table = "table" in source
        if is_table and re.search("messag|mail|inbox", source["table"], re.IGNORECASE):
            continue
        if not is_table and len({frozenset(record.value) for record in sample.records}) == 1:
            continue
        source["only"] = {"path": name, "values": [mail]}
        return source, sample._replace(records=kept)
    return source, sample


def _groups(sample: Sample) -> dict[str, set[str]]:
    """Return the varying parts of the files' paths by name, counted from the file upward."""
    folders = [name.split("/")[:-1] for name in sample.names]
    deepest = min(map(len, folders), default=0)
    groups: dict[str, set[str]] = {}
    for level in range(1, deepest + 1):
        texts = {parts[-level] for parts in folders}
        if len(texts) > 1 or texts & DONE:
            name = "folder" if level == 1 else f"folder{level}"
            groups["box" if texts <= BOXES | DONE else name] = texts
    stems = {name.rpartition("/")[2].rpartition(".")[0] for name in sample.names}
    if "jsonl" in sample.source and len(stems) > 1:
        groups["file"] = stems
    return groups


def _pattern(sample: Sample, groups: dict[str, set[str]]) -> str:
    """Return the regular expression with the groups of a file's path."""
    folders = [name.split("/")[:-1] for name in sample.names]
    deepest = min(map(len, folders), default=0)
    parts = [r"(?P<file>[^/]+)\.jsonl$" if "file" in groups else "[^/]+$"]
    for level in range(1, deepest + 1):
        texts = {folder[-level] for folder in folders}
        name = "box" if texts <= BOXES | DONE else "folder" if level == 1 else f"folder{level}"
        parts.insert(0, f"(?P<{name}>[^/]+)" if name in groups else "[^/]+")
    return "/".join(parts)


MOST_LOOKED_AT = 10
BEYOND_LATIN = 0x250
"""From here on code points include invisible ones: all are written as numbers."""


def toml(guessed: Guess) -> str:
    """Return the mapping as TOML that can be loaded as it is, without invisible characters."""
    lines = ["[source]", *(f"{key} = {_value(value)}" for key, value in guessed.source.items()), "", "[message]"]
    lines += [f"{choice.field} = {_value(_shortest(choice.found))}" for choice in guessed.choices]
    return "\n".join(lines) + "\n"


def _shortest(finder: dict[str, Any]) -> Any:
    return finder["path"] if set(finder) == {"path"} else finder


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    text = str(value)
    if "\\" in text and "'" not in text and text.isascii() and text.isprintable():
        return f"'{text}'"
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable() and ord(char) < BEYOND_LATIN:
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def look(text: str) -> tuple[list[Message], list[Problem]]:
    """Return the newest messages that a mapping gives, and what in its source is none. Raises StoreError."""
    from mailstore.kinds.mapped.store import MappedStore

    with tempfile.TemporaryDirectory(prefix="signalbox-") as folder:
        path = Path(folder) / "mapping.toml"
        path.write_text(text, encoding="utf-8")
        messages: list[Message] = []
        problems: list[Problem] = []
        with MappedStore.open(path) as store:
            for batch in store.scan():
                messages += (event for event in batch if isinstance(event, Message))
                problems += (event for event in batch if isinstance(event, Problem))
                messages = sorted(messages, key=lambda message: -message.time)[:MOST_LOOKED_AT]
    return messages, problems
