"""What can be written in a query: the one table from which parser, completion, help and docs/search.md are made."""

from __future__ import annotations

from textwrap import wrap

from msgspec import Struct


class ValueHelp(Struct, frozen=True):
    """A value, or a way of writing, and what it finds."""

    text: str
    meaning: str


class FieldHelp(Struct, frozen=True):
    """A field: its name, what its value is, what it finds, an example, and its values where they are a fixed set."""

    name: str
    value: str
    meaning: str
    example: str
    values: tuple[ValueHelp, ...] = ()


SYNTAX = (
    ValueHelp("lamp oil", "both words, in texts, subjects, names, ids, tags or fields of a record; in any case"),
    ValueHelp('"lamp oil"', "this phrase"),
    ValueHelp("=lamp", "this whole word, and no longer one; also a phrase"),
    ValueHelp("/err(or)?s/", "a regular expression, with \\s for a blank and \\/ for a slash"),
    ValueHelp("-done", "not this word; also before a field or brackets"),
    ValueHelp("lamp OR oil", "one of the two"),
    ValueHelp("(lamp OR oil) red", "brackets group"),
    ValueHelp("#ink", "this channel or tag: short for tag:ink"),
    ValueHelp("@ann", "a mention of ann"),
    ValueHelp("ISS-7", "an issue or a link, anywhere in the record"),
)

IS_VALUES = (
    ValueHelp("unread", "a recipient has not read it yet"),
    ValueHelp("read", "a recipient has read it"),
    ValueHelp("dead", "a recipient ended before reading it"),
    ValueHelp("expired", "it expired before a recipient read it"),
    ValueHelp("question", "it expects an answer: a question, a task, a request for a review"),
    ValueHelp("answered", "it expects one, and who was asked has written it in its thread"),
    ValueHelp("waiting", "it waits for a holder of its role"),
    ValueHelp("mentioned", "it mentions you"),
    ValueHelp("frozen", "a recipient is frozen"),
    ValueHelp("unknown", "no agent ever had a recipient's name"),
    ValueHelp("undelivered", "it was held, refused, dropped or lost on its way"),
    ValueHelp("unrecorded", "reads are not recorded for a recipient"),
    ValueHelp("unseen", "it is new to you"),
    ValueHelp("archived", "it is archived"),
    ValueHelp("starred", "you starred it"),
    ValueHelp("muted", "you muted it, or where it belongs"),
    ValueHelp("snoozed", "you put it off"),
)

FIELDS = (
    FieldHelp("from", "NAME", "the sender: an id, a name or a role, or the beginning of one", "from:lib"),
    FieldHelp("to", "NAME", "a recipient, likewise; also a channel", "to:user"),
    FieldHelp("tag", "TAG", "a channel or a tag, or the beginning of one", "tag:ink"),
    FieldHelp("role", "ROLE", "addressed to a role, or to the beginning of one", "role:steward"),
    FieldHelp("type", "TYPE", "the type of the message, or the beginning of one", "type:question"),
    FieldHelp("thread", "ID", "the thread of a message", "thread:m7"),
    FieldHelp("subject", "TEXT", "a text in the subject", "subject:ink"),
    FieldHelp("store", "NAME", "one of several mailboxes", "store:lab"),
    FieldHelp("is", "STATE", "a state", "is:unread", IS_VALUES),
    FieldHelp("before", "TIME", "earlier than a time", "before:09:00"),
    FieldHelp("after", "TIME", "at a time or later", "after:yesterday"),
    FieldHelp("on", "DAY", "on a day, in a week or in a month", "on:last week"),
    FieldHelp(
        "has",
        "PART",
        "a part of the text",
        "has:code",
        (
            ValueHelp("code", "a block of code"),
            ValueHelp("attachment", "a picture or a linked file"),
            ValueHelp("link", "a web address"),
        ),
    ),
    FieldHelp("larger", "SIZE", "its text has more characters: 500, 2k, 1m", "larger:2k"),
    FieldHelp("id", "ID", "the id of the message, or its beginning", "id:4f2a"),
)
FIELD_NAMES = tuple(field.name for field in FIELDS)

TIMES = (
    ValueHelp("2h", "an age: minutes, hours, days or weeks ago (30m, 2h, 3d, 1w)"),
    ValueHelp("09:00", "the last time that the clock showed this"),
    ValueHelp("yesterday", "a day by its name: today, yesterday, monday, last monday"),
    ValueHelp("yesterday 09:00", "a day and a time"),
    ValueHelp("last week", "a week or a month: this week, last week, this month, last month"),
    ValueHelp("2026-03-16", "a date; 2026-03 is a month"),
    ValueHelp("2026-03-16T14:30", "a date and a time; 2026-03-16T14:30Z, 14:30Z and +02:00 name an offset"),
)
"""Ways to write a time; without an offset they are local."""

KNOWN_TYPES = (
    "task-assigned",
    "task-done",
    "review-request",
    "review-result",
    "question",
    "answer",
    "cancel",
    "status",
    "custom",
    "chat",
    "task_assign",
    "task_result",
    "review_vote",
    "ha_report",
    "bag_analysis",
    "incident",
    "docs",
    "qc_review",
)
"""The types that docs/semantics.md names: each means itself, never the beginning of another."""


def field_help(name: str) -> FieldHelp:
    """Return what is known about a field. Raises KeyError."""
    return _BY_NAME[name]


_BY_NAME = {field.name: field for field in FIELDS}


WIDTH = 20
LINE = 79


def help_text() -> str:
    """Return what can be written in a query, a line each, in three groups; fixed values below their field."""
    lines = ["query language:", *_lines(SYNTAX), "", "fields:"]
    for field in FIELDS:
        lines += _lines([ValueHelp(f"{field.name}:{field.value}", f"{field.meaning} ({field.example})")])
        lines += _lines([ValueHelp(f"  {value.text}", value.meaning) for value in field.values])
    return "\n".join([*lines, "", "times, in local time:", *_lines(TIMES)])


def _lines(entries: tuple[ValueHelp, ...] | list[ValueHelp]) -> list[str]:
    return [
        line
        for entry in entries
        for line in wrap(
            entry.meaning,
            LINE,
            initial_indent=f"  {entry.text:<{WIDTH}} ",
            subsequent_indent=" " * (WIDTH + 3),
            break_on_hyphens=False,
        )
    ]
