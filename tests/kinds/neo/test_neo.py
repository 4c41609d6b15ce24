"""What is read of a graph that its own program wrote, and of graphs as they should not be."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mailstore.conformance.following import of, scanned
from mailstore.errors import ContentGone, MailboxMissing
from mailstore.kinds.neo.records import identity
from mailstore.kinds.neo.store import NeoStore
from mailstore.records.events import Event
from mailstore.records.message import SOMEBODY, Delivery, Message, Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability
from tests.mailstore.graphs import Graph
from tests.mailstore.owners import snapshot

REAL = Path(__file__).parents[2] / "fixtures" / "neo"
SENT = "2026-03-16T12:00:00.000Z"
NOW = 1_800_000_000.0


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    graph = Graph(tmp_path / ".neo-ai-data" / "sqlite" / "memory-core-graph.sqlite")
    graph.make()
    for name in ("@ann", "@bob", "@cyd"):
        graph.agent(name)
    graph.human()
    return graph


def read(path: Path) -> list[Event]:
    with NeoStore.open(path) as store:
        return scanned(store)


def all_of(graph: Graph) -> list[Event]:
    graph.close()
    return read(graph.path)


def only(graph: Graph) -> Message:
    [message] = of(Message, all_of(graph))
    return message


def by_subject(events: list[Event]) -> dict[str, Message]:
    return {message.subject: message for message in of(Message, events)}


def test_the_graph_of_the_real_program_is_read_as_it_wrote_it() -> None:
    before = snapshot(REAL)
    events = read(REAL)
    found = by_subject(events)
    assert len(found) == 8
    review, reply = found["Review request for #11042"], found["Re: Review request"]
    assert review.tags == ("concept:mailbox", "ticket:#11029", "priority:high")
    assert (review.sender, review.recipients) == ("@neo-opus-ada", ("@neo-gpt",))
    assert (reply.thread, review.thread) == (review.id, None)
    question = found["Question for operator"]
    assert (question.recipients, question.tags) == (("@tobiu",), ("priority:high",))
    assert found["Task: write docs"].tags == ("task:Working",)
    assert found["[retracted by sender]"].tags == ("retracted",)
    talk = found["Design dialogue: receipts"]
    assert (talk.recipients, talk.is_listed) == (("all",), True)
    assert len([one for one in of(Delivery, events) if one.message_id == talk.id]) == 6
    assert {(one.message_id, one.reader) for one in of(Receipt, events)} == {
        (talk.id, "@neo-gpt"),
        (review.id, "@neo-gpt"),
    }
    with NeoStore.open(REAL / "memory-core-graph.sqlite") as store:
        assert store.content(review) == "Please review the **DELIVERED_TO** patch."
        assert json.loads(store.raw(review))["properties"]["relatedTickets"] == ["#11029"]
    assert snapshot(REAL) == before


def test_one_agent_s_mark_on_a_broadcast_leaves_it_unread_for_the_others() -> None:
    mailbox = Mailbox()
    mailbox.fold(events := read(REAL), NOW)
    states = mailbox.states(by_subject(events)["Design dialogue: receipts"], NOW)
    assert states["@neo-gpt"].state.value == "read"
    assert {states[name].state.value for name in ("@neo-fable", "@neo-opus-grace")} == {"unread"}
    assert states["@neo-gemini-pro"].state.value == "frozen"
    assert "@neo-opus-ada" not in states
    assert [message.subject for message in mailbox.unread("user", NOW)] == ["Question for operator"]


OWN = """
SELECT DISTINCT message.id FROM Nodes AS message JOIN Edges AS sent ON sent.source = message.id
WHERE sent.type = 'SENT_TO' AND sent.target = :name AND json_extract(message.data, '$.label') = 'MESSAGE'
AND json_extract(message.data, '$.properties.readAt') IS NULL
AND json_extract(message.data, '$.properties.archivedAt') IS NULL
UNION SELECT DISTINCT source FROM Edges WHERE type = 'DELIVERED_TO' AND target = :name
AND json_extract(data, '$.properties.readAt') IS NULL AND json_extract(data, '$.properties.archivedAt') IS NULL
"""
"""What neo itself lists as unread for an identity (docs/formats/neo.md#tables)."""


def unread_there(path: Path) -> dict[str, set[str]]:
    """Return what is unread in a graph by its own words, by identity."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as graph:
        names = [name for (name,) in graph.execute("SELECT id FROM Nodes WHERE id LIKE '@%'")]
        return {
            name: {node.removeprefix("MESSAGE:") for (node,) in graph.execute(OWN, {"name": name})} for name in names
        }


def test_as_much_is_unread_as_the_program_itself_says() -> None:
    there = unread_there(REAL / "memory-core-graph.sqlite")
    assert (len(there["@neo-gpt"]), len(there["@neo-opus-vega"]), len(there["@tobiu"])) == (1, 1, 1)
    mailbox = Mailbox()
    mailbox.fold(read(REAL), NOW)
    for name, expected in there.items():
        assert {message.id for message in mailbox.unread(name, NOW)} == expected, name
        assert mailbox.unread_count(name) == len(expected), name
    assert {message.id for message in mailbox.unread("user", NOW)} == there["@tobiu"]


def test_what_one_recipient_put_away_stays_unread_for_the_others(graph: Graph) -> None:
    graph.message("m", "@ann", "AGENT:*", sent=SENT)
    for name, put_away in (("@bob", SENT), ("@cyd", None)):
        graph.edge("MESSAGE:m", name, "DELIVERED_TO", deliveredAt=SENT, readAt=None, archivedAt=put_away)
    graph.message("n", "@ann", "@bob", sent=SENT, archivedAt=SENT)
    graph.message("o", "@ann", "@ann", sent=SENT)
    mailbox = Mailbox()
    mailbox.fold(all_of(graph), NOW)
    found = {message.id: message for message in mailbox.messages()}
    states = {key: {name: it.value for name, it in mailbox.bare_states(found[key], NOW).items()} for key in found}
    assert states["m"] == {"@bob": "archived", "@cyd": "unread"}
    assert (found["m"].archived, found["n"].archived, states["n"]) == (False, True, {"@bob": "archived"})
    assert states["o"] == {"@ann": "unread"}


def test_the_person_and_sentinels_are_no_agents_and_who_is_benched_is_frozen() -> None:
    agents = {agent.session_id: agent for agent in of(Agent, read(REAL))}
    assert len(agents) == 7
    assert not agents.keys() & {"@tobiu", "AGENT:*", "@system"}
    benched = agents["@neo-gemini-pro"]
    assert (benched.status, agents["@neo-gpt"].status) == (Status.FROZEN, Status.LIVING)
    assert benched.activity.startswith("operator benched: Antigravity")
    assert agents["@neo-gpt"].name == "Neo GPT"


def test_it_is_recognised_by_its_repository_its_folders_and_its_file(graph: Graph, tmp_path: Path) -> None:
    graph.close()
    for path in (tmp_path, tmp_path / ".neo-ai-data", graph.path.parent, graph.path):
        with open_store(path) as store:
            assert store.url == f"neo:{graph.path}"
            assert Capability.SEND in store.capabilities
    other = tmp_path / "elsewhere.db"
    other.write_bytes(graph.path.read_bytes())
    with open_store(other) as store:
        assert store.kind == "neo"
        assert "not in a .neo-ai-data folder" in store.capabilities.why_not(Capability.SEND)
    with pytest.raises(MailboxMissing):
        NeoStore.open(tmp_path / ".neo-ai-data" / "memory-wal")


@pytest.mark.parametrize("text", ["@ann", "ann", "@@ann", "AGENT:@ann", "AGENT:ann"])
def test_every_spelling_of_an_identity_is_one(graph: Graph, text: str) -> None:
    assert identity(text) == "@ann"
    graph.message("m", text, "@bob", sent=SENT)
    assert only(graph).sender == "@ann"


def test_addresses_of_another_kind_stay_and_a_human_is_the_person(graph: Graph) -> None:
    graph.message("r", "@ann", "role:librarian", sent=SENT, subject="role")
    graph.message("h", "@ann", "human:olga", sent=SENT, subject="human")
    found = by_subject(events := all_of(graph))
    assert found["role"].recipients == ("role:librarian",)
    assert found["human"].recipients == ("human:olga",)
    mailbox = Mailbox()
    mailbox.fold(events, NOW)
    assert [message.id for message in mailbox.unread("user", NOW)] == ["h"]


def test_where_there_are_several_people_all_of_them_are_the_person_and_told_apart(graph: Graph) -> None:
    graph.human("@pia")
    graph.message("m", "@ann", "@pia", sent=SENT, readAt=SENT)
    events = all_of(graph)
    mailbox = Mailbox()
    mailbox.fold(events, NOW)
    [message] = of(Message, events)
    assert message.recipients == ("@pia",)
    assert mailbox.is_mine(message)
    assert [one.reader for one in of(Receipt, events)] == ["@pia"]
    assert {name: one.state.value for name, one in mailbox.states(message, NOW).items()} == {"user": "read"}


def test_a_mention_of_the_person_is_their_mail(graph: Graph) -> None:
    graph.message("m", "@ann", "@bob", sent=SENT, bodyText="Ask @olga and @cyd.")
    mailbox = Mailbox()
    mailbox.fold(all_of(graph), NOW)
    assert [message.id for message in mailbox.unread("user", NOW)] == ["m"]


def test_a_broadcast_without_deliveries_has_no_audience_and_was_read_by_somebody(graph: Graph) -> None:
    graph.message("old", "@ann", "AGENT:*", sent=SENT, readAt=SENT)
    events = all_of(graph)
    mailbox = Mailbox()
    mailbox.fold(events, NOW)
    [message] = of(Message, events)
    assert message.is_listed
    assert not of(Delivery, events)
    assert [one.reader for one in of(Receipt, events)] == [SOMEBODY]
    assert not mailbox.states(message, NOW).keys() & {"@bob", "@cyd"}


def test_edges_that_are_there_twice_count_once(graph: Graph) -> None:
    graph.message("m", "@ann", "AGENT:*", sent=SENT, audience=["@bob", "@bob"])
    graph.edge("MESSAGE:m", "@bob", "DELIVERED_TO", deliveredAt=SENT, readAt=SENT)
    events = all_of(graph)
    assert [one.recipient for one in of(Delivery, events)] == ["@bob"]
    assert [one.reader for one in of(Receipt, events)] == ["@bob"]


def test_it_is_archived_when_all_recipients_have_archived_it(graph: Graph) -> None:
    graph.message("direct", "@ann", "@bob", sent=SENT, subject="direct", archivedAt=SENT)
    graph.message("some", "@ann", "AGENT:*", sent=SENT, subject="some", audience=["@bob"])
    graph.edge("MESSAGE:some", "@cyd", "DELIVERED_TO", deliveredAt=SENT, archivedAt=SENT)
    graph.message("every", "@ann", "AGENT:*", sent=SENT, subject="every")
    graph.edge("MESSAGE:every", "@cyd", "DELIVERED_TO", deliveredAt=SENT, archivedAt=SENT)
    found = by_subject(all_of(graph))
    assert {name: message.archived for name, message in found.items()} == {"direct": True, "some": False, "every": True}


def test_a_label_makes_a_thread_that_begins_with_its_earliest_message(graph: Graph) -> None:
    for number, second in enumerate((5, 3, 9)):
        sent = f"2026-03-16T12:00:0{second}.000Z"
        graph.message(f"m{number}", "@ann", "@bob", sent=sent, partOfThread="THREAD:ink", subject=f"{number}")
    graph.message("by-edge", "@ann", "@bob", sent="2026-03-16T12:00:01.000Z", subject="edge")
    graph.edge("MESSAGE:by-edge", "THREAD:ink", "PART_OF_THREAD")
    graph.message(
        "reply", "@bob", "@ann", sent=SENT, partOfThread="THREAD:ink", inReplyTo="MESSAGE:m2", subject="reply"
    )
    graph.message("orphan", "@bob", "@ann", sent=SENT, inReplyTo="MESSAGE:lost", subject="orphan")
    threads = {name: message.thread for name, message in by_subject(all_of(graph)).items()}
    assert threads == {
        "0": "by-edge",
        "1": "by-edge",
        "2": "by-edge",
        "edge": None,
        "reply": "m2",
        "orphan": "lost",
    }


def test_what_only_messages_tell_of_is_an_agent_too_until_the_roster_knows_better(graph: Graph) -> None:
    graph.message("m", "@dan", "@eve", sent=SENT)
    agents = {agent.session_id: agent.name for agent in of(Agent, all_of(graph))}
    assert {"@dan", "@eve"} <= agents.keys()
    graph.agent("@dan", displayName="Dan")
    assert {agent.session_id: agent.name for agent in of(Agent, all_of(graph))}["@dan"] == "Dan"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no json",
        b'{"id": "cut", "label": "MESS',
        b'{"label": "MESSAGE", "properties": 7}',
        b'{"label": "MESSAGE"}',
        b"[" * 100_000,
        b'"text"',
        b"\xff\xfe\x00",
    ],
)
def test_what_is_no_message_is_a_problem_and_the_others_are_read(graph: Graph, data: bytes) -> None:
    graph.message("before", "@ann", "@bob", sent=SENT)
    graph.do("INSERT INTO Nodes VALUES ('MESSAGE:odd', NULL, CAST(? AS TEXT))", (data,))
    graph.message("after", "@ann", "@bob", sent=SENT)
    events = all_of(graph)
    assert {message.id for message in of(Message, events)} == {"before", "after"}
    [problem] = of(Problem, events)
    assert (problem.fatal, problem.file, problem.offset) == (True, "memory-core-graph.sqlite", 0)
    assert "MESSAGE:odd" in problem.reason


@pytest.mark.parametrize(
    "value", [None, 7, -1.5, True, [1, {"a": None}], {"x": []}, "\ud800", "x" * 2_000_000], ids=lambda it: ascii(it)[:9]
)
def test_anything_may_stand_anywhere(graph: Graph, value: object) -> None:
    known = dict.fromkeys(
        ("subject", "bodyText", "priority", "sentAt", "readAt", "archivedAt", "from", "to", "inReplyTo"), value
    )
    known |= dict.fromkeys(("partOfThread", "taggedConcepts", "relatedTickets", "task", "retracted"), value)
    data = json.dumps({"id": "MESSAGE:odd", "label": "MESSAGE", "properties": known})
    graph.do("INSERT INTO Nodes VALUES ('MESSAGE:odd', NULL, ?)", (data,))
    graph.do("INSERT INTO Edges VALUES ('e', NULL, 'MESSAGE:odd', '@bob', 'DELIVERED_TO', ?)", (json.dumps(value),))
    message = only(graph)
    with NeoStore.open(graph.path) as store:
        assert isinstance(store.content(message), str)


def test_bytes_that_are_no_text_are_read_as_far_as_they_are(graph: Graph) -> None:
    known = b'{"subject": "caf\xe9", "bodyText": "\xff\xff", "from": "@ann", "to": "@bob"}'
    data = b'{"label": "MESSAGE", "properties": %s}' % known
    graph.do("INSERT INTO Nodes VALUES ('MESSAGE:latin', NULL, CAST(? AS TEXT))", (data,))
    assert only(graph).subject == "caf\ufffd"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200) | st.text(max_size=80).map(lambda text: json.dumps({"properties": text}).encode()))
def test_no_node_stops_the_reading(graph: Graph, data: bytes) -> None:
    graph.do("DELETE FROM Nodes WHERE id = 'MESSAGE:odd'")
    graph.do("INSERT INTO Nodes VALUES ('MESSAGE:odd', NULL, ?)", (data,))
    graph.do("INSERT OR REPLACE INTO Nodes VALUES ('@odd', NULL, ?)", (b'"AgentIdentity"' + data,))
    assert len(of(Agent, all_of(graph))) == 3


def test_a_message_that_is_gone_from_the_graph_has_no_body_any_more(graph: Graph) -> None:
    graph.message("m", "@ann", "@bob", sent=SENT)
    message = only(graph)
    graph.do("DELETE FROM Nodes WHERE id = 'MESSAGE:m'")
    graph.close()
    with NeoStore.open(graph.path) as store, pytest.raises(ContentGone, match="no longer in the graph"):
        store.content(message)
