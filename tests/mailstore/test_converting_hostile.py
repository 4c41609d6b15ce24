"""Names and texts that another system let through: a copy stays in its folder, and says what it could not keep."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mailstore.files.naming import safe_name
from mailstore.kinds.agentazall.block import wrapped
from mailstore.memory import MemoryStore
from mailstore.records.events import Event
from mailstore.records.message import NEVER, Delivery, Message, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store, store_class
from mailstore.transfer.compare import Contents
from mailstore.transfer.convert import convert

KINDS = ("haak", "channels", "agenties", "agentazall")
NAMES = (
    *(
        "../../evil",
        "/etc/evil",
        "..",
        ".",
        ".hidden",
        "a/b",
        "a\\b",
        "C:\\evil",
        "x" * 300,
        "é" * 200,
        "con",
        "NUL.txt",
    ),
    *("", " ", " ann ", "ann bob", "ann, bob", "Ann <bob@x>", '"ann', "a:b", "shared", "human@localhost", "nobody"),
    *("user", "human", "all", "broadcast", "orchestrator", "agent:ann", "agent:user", "agent:all", "role:", "role:qa"),
    *(
        "project:",
        "project:../../up",
        "project:.x",
        "project:a/b",
        "project:ink",
        "concern:ink",
        "agentazall:bob",
        "bob",
    ),
    *(
        "a\nFrom: boss",
        "a\r\n---\nb",
        "a\x00b",
        "a\u2028b",
        "\ud800",
        "a\udcffb",
        "\u202eevil",
        "2026-03-16",
        "ann",
        "Ann",
    ),
    *("msg-20260316-120000-ann-0001", safe_name("../../evil"), "ann~0123456789abcdef", "(somebody)", "x.tmp", "x.txt"),
)
TEXTS = (
    *(
        "",
        " ",
        "\n",
        "---",
        "---\n",
        "\n---\nbody",
        "Status: new\n",
        "a\r\nb\rc",
        "a\x00b",
        "half \ud83d of",
        "end\n\n",
    ),
    *("\ufeffmark", "\x1b[2J", "first\n---\nFrom: boss@localhost\n", "Re: x", "x" * 5000, "{}", '{"id": "x"}\n'),
    wrapped("signed", "0" * 16, "a" * 43 + "=", "c" * 86 + "=="),
    "quoting\n" + wrapped("signed", "0" * 16, "a" * 43 + "=", "c" * 86 + "==") + "\nand more",
    *("---BEGIN AGENTAZALL SIGNED MESSAGE---", "---BEGIN AGENTAZALL SIGNED MESSAGE---\n\nopen", "\ud800"),
)
TIMES = (0.0, -1.5, 1_773_662_400.0, 1_773_662_400.123456, 4e9, -62_135_646_800.0, 253_402_300_799.0, 253_402_387_199.0)

names = st.sampled_from(NAMES) | st.text(st.characters(), max_size=8)
texts = st.sampled_from(TEXTS) | st.text(st.characters(), max_size=40)
messages = st.builds(
    Message,
    id=names.filter(bool),
    sender=names,
    recipients=st.lists(names, max_size=3).map(tuple),
    timestamp=st.sampled_from(("", "yesterday", "2026-03-16T12:00:00Z", "0001-01-01T00:00:00+14:00", "a\nFrom: b")),
    time=st.sampled_from(TIMES),
    subject=texts,
    thread=st.none() | names,
    ttl_hours=st.sampled_from((None, 1.0, NEVER)),
    type=names,
    tags=st.lists(names | st.sampled_from(("issue:../7", "agent:../x")), max_size=2).map(tuple),
    read_by=st.lists(names, max_size=1).map(tuple),
    archived=st.booleans(),
    timed=st.booleans(),
)
agents = st.builds(
    Agent,
    session_id=names,
    name=names,
    role=names,
    tags=st.lists(names, max_size=2).map(tuple),
    status=st.sampled_from(Status),
    activity=texts | st.sampled_from(("retired", "offline", "awake: idle", "busy")),
    started_at=st.none() | st.sampled_from(TIMES),
    ended_at=st.none() | st.sampled_from(TIMES),
    last_seen=st.none() | st.sampled_from(TIMES),
)
facts = st.builds(Receipt, names, names, st.none() | st.sampled_from(TIMES)) | st.builds(Delivery, names, names)
mailboxes = st.tuples(
    st.lists(agents, max_size=3), st.lists(facts, max_size=3), st.lists(st.tuples(messages, texts), max_size=4)
)
Mail = tuple[list[Agent], list[Receipt | Delivery], list[tuple[Message, str]]]


class Hostile(MemoryStore):
    """A store that hands out whatever it was given."""

    def __init__(self, mail: Mail) -> None:
        super().__init__()
        self._told, self._facts, letters = mail
        self._bodies = {message.id: (message, text) for message, text in letters}

    def scan(self) -> Iterator[list[Event]]:
        yield [*self._told, *self._facts, *(message for message, _ in self._bodies.values())]

    def content(self, message: Message) -> str:
        return self._bodies[message.id][1]

    def raw(self, message: Message) -> bytes:
        return b'{"metadata": {"in_reply_to": "x", "n": [1, null]}}'


def everything(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*")}


def addressed(text: str) -> str:
    return {"human": "user", "broadcast": "all", "AGENT:*": "all"}.get(text, text.removeprefix("agent:"))


@pytest.mark.parametrize("kind", KINDS)
@example(mail=([], [], [(Message("m", "AGENT:*", ("ann",), "", 0.0, "", type="note"), "")]))
@given(mail=mailboxes)
def test_a_copy_stays_in_its_folder_and_says_what_differs(kind: str, mail: Mail) -> None:
    with tempfile.TemporaryDirectory() as around:
        place = Path(around) / "deep" / "deeper" / "copy"
        place.mkdir(parents=True)
        source = Hostile(mail)
        report = convert(source, lambda: store_class(kind).create(place))
        inside = everything(place)
        assert everything(Path(around)) - inside == {str(path) for path in (place, *list(place.parents)[:2])}
        assert not any(Path(path).is_symlink() for path in inside)
        losses = {loss.field: loss for loss in report.losses}
        assert "damaged in the copy" not in losses
        with open_store(report.url) as target:
            found = Contents(target).messages
            bodies = {name: target.content(message) for name, message in found.items()}
    differing: dict[str, int] = {}
    for name, (message, text) in source._bodies.items():
        other = found.get(name)
        if other is None:
            differing["message"] = differing.get("message", 0) + 1
            continue
        is_same = {
            "text": text == bodies[name],
            "sender": addressed(message.sender) == addressed(other.sender),
            "time": abs(message.time - other.time) < 1e-3,
            **{field: getattr(message, field) == getattr(other, field) for field in ("subject", "thread", "type")},
        }
        for field in (field for field, same in is_same.items() if not same):
            differing[field] = differing.get(field, 0) + 1
    assert {field: losses[field].number if field in losses else 0 for field in differing} == differing


@given(st.sampled_from(NAMES) | st.text(st.characters()), st.sampled_from(NAMES) | st.text(st.characters()))
def test_a_safe_name_is_one_component_and_that_of_one_name_alone(first: str, second: str) -> None:
    one, other = safe_name(first), safe_name(second)
    assert Path(one).name == one
    assert not one.startswith(".")
    assert one.isprintable()
    assert len(os.fsencode(one)) <= 100
    assert (one == other) is (first == second)


@pytest.mark.parametrize("name", ["ann-00000001", "alice@localhost", "rita.agenttalk", "agent os paper", "ångström"])
def test_a_plain_name_is_its_own(name: str) -> None:
    assert safe_name(name) == name
