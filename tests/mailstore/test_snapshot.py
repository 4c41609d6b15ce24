"""A snapshot forgets nothing: every attribute of every part is found by introspection and compared."""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterator
from types import FunctionType, MethodType
from typing import Any

import msgspec
import pytest

from mailstore.columns.snapshot_parts import InvalidSnapshot
from mailstore.columns.strings import ODD, STYLES, style_of, written
from mailstore.folding import load, save
from mailstore.kit.timestamps import time_of
from mailstore.records.events import Event, Mailboxes, Person, PutAway, Undelivered
from mailstore.records.message import Delivery, Intervention, Location, Message, Problem, Receipt, Trace
from mailstore.records.roster import Agent, Status
from mailstore.state.mailbox import Mailbox
from tests.mailstore.folded import answers

NOW, HOUR = 1_000_000.0, 3600.0
ANN, BOB, CYD, DOT = "ann-00000001", "bob-00000002", "cyd-00000003", "dot-00000004"
USER = "here/ed"

REBUILT = {
    ".seen.rows.marks": "the user's marks are kept by the console, and folded after loading",
    ".seen.rows.number": "counts the marks",
    ".seen.early": "the user's marks again",
    ".marks": "what the user muted, snoozed and starred, kept by the console too",
    **{
        f".index.quiet.{name}": "what is quiet by those marks"
        for name in (
            *(
                "rows.marks",
                "rows.number",
                "unseen",
                "for_user",
                "channels",
                "mailboxes",
                "senders",
                "muted_senders",
                "types",
            ),
            *("muted_roots", "snoozed_roots", "starred_roots", "_threads"),
        )
    },
    **{f".receipts.{name}._long": "made where a name is looked for" for name in ("reads", "deliveries")},
    ".index.views._changes": "tells lists that were made before that threads were moved",
    ".index.postings.moves": "counts what happened since loading",
    ".index.channels._quiet": "the numbers of channels among them",
    ".progress": "belongs to a scan that is over",
    ".connections._lost": "belongs to the connection, and is reported again",
    ".must_rebuild": "is False between two folds",
    ".roster.resolved": "a cache of what addresses mean",
    ".roster._bearers": "a cache of who belongs to a channel",
    ".roster._tags": "a cache of the channels",
    ".messages._made": "a cache of messages as values",
    ".messages._is_disordered": "saving puts the messages in order",
    ".messages._unordered": "saving puts the messages in order",
    ".messages.ids.texts._changed": "is empty, because an id never changes",
    ".messages.ids._fresh": "saving sorts the ids",
    ".copies._copies._changed": "is empty between two folds",
    ".index._read_since": "belongs to the list that is on screen",
    ".index.keeps_read": "belongs to the list that is on screen",
    ".index.asked": "found out when it is asked for",
    ".index.touched": "belongs to the list that is on screen",
    ".index.views._lists": "the views that somebody opened, sorted again when they are opened",
    **{f".index.channels.{name}": "a cache of the channels" for name in ("_renewed_for", "_tags", "_shared")},
    ".index._all._ends": "a cache of positions",
    ".index.postings._heads_naming": "built when it is asked for",
    ".index.postings._sizes": "built when it is asked for",
    ".index.postings._sized": "built when it is asked for",
    ".index.postings._indexed": "built when it is asked for",
    ".summaries._known": "a cache of summaries",
    ".problems._counted": "counted when it is asked for",
    ".problems._unreadable_in": "counted when it is asked for",
}
"""What a snapshot leaves out, and why it is not missed."""


def message(key: str, sender: str, to: str, ago: float, **more: Any) -> Message:
    where = Location("box", int(NOW - ago * HOUR), 10)
    more = {"timestamp": "soon", "subject": f"About {key}", "location": where, "type": "question", **more}
    return Message(id=key, sender=sender, recipients=(to,), time=NOW - ago * HOUR, **more)


def rich() -> Mailbox:
    """Return a mailbox in which every attribute holds something."""
    mailbox = Mailbox(USER)
    events: list[Event] = [
        Mailboxes(("here", "there")),
        Person(("here/boss",)),
        *(
            Agent(name, role="builder", tags=("project:x",), status=status, started_at=1.0, updated=1.0)
            for name, status in ((ANN, Status.LIVING), (BOB, Status.FROZEN), (CYD, Status.DEAD))
        ),
        Agent(BOB, role="", tags=("project:x",), status=Status.LIVING, started_at=1.0, updated=NOW - HOUR),
        message("here/a", ANN, BOB, 9),
        message("here/b", BOB, "project:x", 8, thread="here/a", read_by=(ANN,)),
        message("here/c", ANN, "role:builder", 7, ttl_hours=100),
        message("here/d", ANN, "role:gone", 6),
        message("here/e", ANN, CYD, 5, thread="here/nowhere"),
        message("here/f", ANN, USER, 4),
        message("here/g", ANN, BOB, 3, thread="here/h"),
        message("here/h", BOB, ANN, 2, thread="here/g"),
        message("here/i", ANN, "nobody", 1, archived=True),
        message("here/a", BOB, ANN, 0, location=Location("box", int(NOW), 10)),
        message("here/late", BOB, "all", 10, ttl_hours=11),
        message("here/over", BOB, ANN, 10, ttl_hours=1),
        Agent(DOT, updated=NOW - 90 * HOUR),
        Agent(DOT, role="clerk", updated=NOW - 10 * HOUR),
        Agent(DOT, role="clerk", status=Status.FROZEN, updated=NOW - 5 * HOUR),
        message("here/role", BOB, "clerk", 30, ttl_hours=5),
        message("here/both", ANN, "clerk", 12, mentions=(DOT,)),
        Receipt("here/a", BOB, NOW - HOUR),
        Receipt("here/unknown", BOB, None),
        Delivery("here/a", BOB, NOW - 2 * HOUR),
        PutAway("here/b", ANN, NOW),
        Undelivered("here/f", USER, "held", NOW, is_told=True),
        Intervention("i1", "user", "acknowledge", NOW, "here/e", details={"recipient": CYD, "size": 1 << 80}),
        Intervention("i2", "user", "undo", NOW, None, details={"undoes": "i1"}),
        Intervention("i3", "user", "intervene", NOW, "here/d"),
        Problem("here/box", 1, 0, "not valid", fatal=True),
        Problem("here/box", 2, 9, "odd", fatal=False),
    ]
    for number, slot in enumerate(("", "relay ann")):
        key = f"here/copy{number}"
        events.append(message(key, ANN, BOB, 11))
        events.append(Trace(key, key, "letter", slot, ANN, (BOB,), NOW - 11 * HOUR, f"box{number}", is_signed=False))
    mailbox.fold(events, NOW)
    changed = message("here/b", BOB, "project:x", 8, thread="here/a", read_by=(ANN,), archived=True, subject="Changed")
    mailbox.fold([msgspec.structs.replace(changed, subject="About here/b")], NOW)
    return mailbox


def loaded(mailbox: Mailbox) -> Mailbox:
    file = io.BytesIO()
    save(mailbox, b"place", file)
    file.seek(0)
    found, position = load(file, mailbox.user)
    assert position == b"place"
    return found


PLAIN = (str, bytes, bytearray, int, float, bool, type(None), msgspec.Struct)


def attributes(part: Any, path: str = "", known: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield every attribute of an object of ours, and of those that it holds, each under one path."""
    known = set() if known is None else known
    known.add(id(part))
    slots = [name for kind in type(part).__mro__ for name in getattr(kind, "__slots__", ())]
    for name in {**dict.fromkeys(slots), **getattr(part, "__dict__", {})}:
        value, place = getattr(part, name), f"{path}.{name}"
        if isinstance(value, FunctionType | MethodType) or id(value) in known:
            continue
        if type(value).__module__.startswith("mailstore") and not isinstance(value, PLAIN):
            yield from attributes(value, place, known)
        else:
            yield place, (value.typecode, value.tobytes()) if isinstance(value, array) else value


def test_a_snapshot_holds_every_attribute() -> None:
    mailbox = rich()
    again = dict(attributes(loaded(mailbox).contents))
    saved, empty = dict(attributes(mailbox.contents)), dict(attributes(Mailbox().contents))
    compared = {path for path in saved if path not in REBUILT}
    assert {path for path in compared if saved[path] == empty.get(path)} == set(), "a richer mailbox is needed"
    assert {path for path in compared if again.get(path) != saved[path]} == set()
    assert saved.keys() == again.keys()
    assert REBUILT.keys() <= saved.keys()


@pytest.mark.parametrize("style", range(len(STYLES)))
@pytest.mark.parametrize("time", [0.0, 1_774_000_000.25, 1_774_000_000.123456])
def test_a_usual_timestamp_needs_no_text(style: int, time: float) -> None:
    text = written(time, style)
    found = style_of(text, time_of(text))
    assert found != ODD
    assert written(time_of(text), found) == text


def test_a_mailbox_that_was_loaded_answers_and_goes_on_like_the_one_that_was_saved() -> None:
    mailbox = rich()
    again = loaded(mailbox)
    assert answers(again, NOW) == answers(mailbox, NOW)
    for each in (mailbox, again):
        each.fold([message("here/new", ANN, BOB, 0.5, thread="here/b"), Receipt("here/c", BOB, NOW)], NOW)
    assert answers(again, NOW) == answers(mailbox, NOW)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: b"", "not a snapshot"),
        (lambda data: data[:-1], "truncated"),
        (lambda data: data + b"x", "longer than its header says"),
        (lambda data: data.replace(ANN.encode(), b"\xff" * len(ANN), 1), "(?i)utf-8"),
    ],
)
def test_damaged_bytes_are_not_loaded(change: Any, reason: str) -> None:
    file = io.BytesIO()
    save(rich(), b"", file)
    with pytest.raises(InvalidSnapshot, match=reason):
        load(io.BytesIO(change(file.getvalue())), USER)


def test_another_users_snapshot_is_not_loaded() -> None:
    file = io.BytesIO()
    save(Mailbox("ann"), b"", file)
    file.seek(0)
    with pytest.raises(InvalidSnapshot, match="for another user"):
        load(file, "user")
