"""Whatever the order in which events come, the mailbox says the same."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from mailstore.records.events import Event, Seen
from mailstore.records.message import Delivery, Intervention, Location, Message, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View

HOUR = 3600.0
NOW = 100 * HOUR
NAMES = ["alpha-session", "beta-session", "gamma-session", "architect", "librarian", "nobody", "all", "user"]
TAGS = ["project:x", "concern:y"]


@st.composite
def events(draw: st.DrawFn) -> list[Event]:
    """Draw a small mailbox: some agents, messages that answer each other (in rings too), and records."""
    agents = [
        Agent(
            name,
            role=draw(st.sampled_from(["", "architect", "librarian"])),
            tags=tuple(draw(st.sets(st.sampled_from(TAGS)))),
            status=draw(st.sampled_from(list(Status))),
            started_at=draw(st.sampled_from([None, 10 * HOUR, 95 * HOUR])),
            ended_at=draw(st.sampled_from([None, 50 * HOUR])),
        )
        for name in draw(st.sets(st.sampled_from(NAMES[:3])))
    ]
    ids = [f"m{number}" for number in range(draw(st.integers(0, 9)))]
    messages = [
        Message(
            id=key,
            sender=draw(st.sampled_from(NAMES[:3])),
            recipients=tuple(draw(st.lists(st.sampled_from(NAMES + TAGS), min_size=1, max_size=2, unique=True))),
            timestamp="",
            time=draw(st.integers(0, 99) | st.sampled_from([50, 90])) * HOUR,
            subject=key,
            thread=draw(st.sampled_from([None, "lost", *ids])),
            ttl_hours=draw(st.sampled_from([None, 1, 40])),
            type=draw(st.sampled_from(["", "question"])),
            mentions=tuple(draw(st.sets(st.sampled_from(NAMES), max_size=1))),
            location=Location(draw(st.sampled_from(["box", "box-archive/2026-03"])), (9 - at) * 100, 100),
        )
        for at, key in enumerate(ids)
    ]
    some_id = st.sampled_from([*ids, "lost"])
    some_name = st.sampled_from([*NAMES[:3], "user"])
    receipts = draw(st.lists(st.builds(Receipt, some_id, some_name, st.just(99 * HOUR)), max_size=6))
    deliveries = draw(st.lists(st.builds(Delivery, some_id, some_name), max_size=3))
    seen = draw(st.lists(st.builds(Seen, some_id), max_size=3))
    settled = [
        Intervention(f"i{at}", "user", "acknowledge", NOW, key)
        for at, key in enumerate(draw(st.lists(some_id, max_size=2)))
    ]
    return [*agents, *messages, *receipts, *deliveries, *seen, *settled]


def answers(mailbox: Mailbox) -> dict[str, Any]:
    """Ask everything that a pane asks."""
    views = [View("all"), View("for-you"), View("unread"), View("dead"), View("waiting")]
    views += [View("channel", tag) for tag in TAGS] + [View("agent", name) for name in NAMES[:3]]
    return {
        "counts": mailbox.counts(),
        "states": {m.id: mailbox.states(m, NOW) for m in mailbox.messages()},
        "threads": {view: list(mailbox.threads(view)) for view in views},
        "newest": [message.id for message in mailbox.newest()],
        "trees": {root: [node.id for node in mailbox.tree(root)] for root in mailbox.threads(View("all"))},
        "summaries": {
            root: (s.messages, s.unseen, s.last_time)
            for root in mailbox.threads(View("all"))
            if (s := mailbox.summary(root))
        },
        "unread": {name: [m.id for m in mailbox.unread(name, NOW)] for name in [*NAMES[:3], "user"]},
        "inbox": {name: [m.id for m in mailbox.inbox(name, NOW)] for name in [*NAMES[:3], "user"]},
        "dead": [
            (mail_item.message.id, mail_item.recipient, mail_item.state) for mail_item in mailbox.dead_letters(NOW)
        ],
        "waiting": mailbox.waiting(),
        "channels": mailbox.channels(),
    }


def folded(batch: list[Event]) -> Mailbox:
    mailbox = Mailbox()
    mailbox.fold(batch, NOW)
    return mailbox


@given(events().flatmap(lambda batch: st.tuples(st.just(batch), st.permutations(batch))))
def test_the_order_of_events_changes_no_answer(case: tuple[list[Event], list[Event]]) -> None:
    batch, shuffled = case
    # agents keep their order among themselves: a roster lists them as they registered
    in_order = iter([event for event in batch if isinstance(event, Agent)])
    shuffled = [next(in_order) if isinstance(event, Agent) else event for event in shuffled]
    one, other = answers(folded(batch)), answers(folded(shuffled))
    for key in one:
        assert one[key] == other[key], key


def is_late(agent: Agent, message: Message) -> bool:
    """Say whether an agent began after a message's time had run out, unless that stood still for a holder's sake."""
    if agent.started_at is None or message.ttl_hours is None:
        return False
    return agent.started_at >= message.time + message.ttl_hours * HOUR


@given(events())
@example(
    [
        Agent("beta-session", role="librarian"),
        Message("m0", "beta-session", ("beta-session", "librarian"), timestamp="", time=0.0, subject="m0"),
    ]
)
def test_counts_agree_with_the_states_of_every_message(batch: list[Event]) -> None:
    mailbox = folded(batch)
    for name in NAMES[:3]:
        agent = mailbox.roster.get(name)
        if agent is None:
            continue
        unread = {m.id for m in mailbox.unread(name, NOW)}
        expected: set[str] = set()
        doubtful: set[str] = set()
        for message in mailbox.inbox(name, NOW):
            states = mailbox.states(message, NOW)
            assert mailbox.bare_states(message, NOW) == {name: found.state for name, found in states.items()}
            for one, standing in states.items():
                assert mailbox.states(message, NOW, [one]) == {one: standing}
            own = states.get(name)
            if own is not None and own.state in (State.UNREAD, State.FROZEN):
                expected.add(message.id)
            for role in agent.roles() if agent.status is not Status.DEAD and message.sender != name else ():
                held = states.get(role)
                if held is not None and held.state in (State.UNREAD, State.FROZEN, State.WAITING):
                    (doubtful if is_late(agent, message) else expected).add(message.id)
        assert expected <= unread <= expected | doubtful
    assert mailbox.counts().unseen == sum(mailbox.is_unseen(message) for message in mailbox.messages())


@given(events())
def test_every_message_is_in_exactly_one_thread(batch: list[Event]) -> None:
    mailbox = folded(batch)
    placed = [
        node.id for root in mailbox.threads(View("all")) for node in mailbox.tree(root) if node.message is not None
    ]
    assert sorted(placed) == sorted(message.id for message in mailbox.messages())


@given(events(), st.floats(0, 99 * HOUR))
def test_time_that_passes_gives_what_a_later_fold_gives(batch: list[Event], earlier: float) -> None:
    mailbox = Mailbox()
    mailbox.fold(batch, earlier)
    mailbox.advance(NOW)
    assert answers(mailbox) == answers(folded(batch))
