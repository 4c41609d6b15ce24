"""Find agents that keep each other busy: pairs, circles, and one that repeats itself.

A message is taken as caused by the latest one of others in its thread, or that its sender was sent. In a channel, a
message outside any thread is caused by the one before it; a new thread there is a new matter. Where the senders along
such a chain repeat, they run in a circle (docs/triage.md).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from mailstore.queries.concerns import Concern, ConcernKind, Limits
from mailstore.records.address import DIRECT, ROLE, TAG, USER, party, resolve
from mailstore.records.message import Message
from mailstore.records.protocol import PERSON
from mailstore.state.mailbox import Mailbox
from mailstore.state.message_queries import check_current

MOST_AGENTS = 64
"""The largest circle that is looked for."""

_Chain = list[int]
"""For each message, the place of the message that caused it, or -1."""


def find_loops(mailbox: Mailbox, talk: Sequence[Message], limits: Limits) -> Iterator[Concern | None]:
    """Yield loops among messages, which are the oldest first, and None at least once per message.

    Raises MailboxReloaded.
    """
    messages = mailbox.contents.messages
    senders: list[str] = []
    near, far = _LatestMail(), _LatestMail()
    stopped: dict[str, int] = {}
    """By agent, thread and channel, the place of the user's latest message to it."""
    in_place: _Chain = []
    anywhere: _Chain = []
    for at, message in enumerate(talk):
        yield None
        check_current(mailbox.contents, messages)
        sender = party(message.sender, mailbox.roster, mailbox.user)
        senders.append(sender)
        hearers, channels = _reached(mailbox, message)
        root = mailbox.root_of(message.id)
        places = [f"thread {root}", *(channels if channels and mailbox.summary(root).messages == 1 else ())]
        got, placed = far.before(sender, [sender]) if hearers else -1, near.before(sender, places)
        in_place.append(got if placed < 0 else placed)
        anywhere.append(placed if got < 0 else got)
        far.put(at, sender, hearers)
        near.put(at, sender, places)
        if sender == PERSON:
            stopped.update(dict.fromkeys((*hearers, *places), at))
    pairs: set[frozenset[str]] = set()
    for chain in (in_place, anywhere):
        for circle in _circles(senders, chain, limits.loop_messages):
            if circle is None:
                yield None
                check_current(mailbox.contents, messages)
                continue
            run, size = circle
            members = sorted({senders[at] for at in run})
            if frozenset(members) not in pairs and not any(
                stopped.get(place, -1) > run[0] for place in (*members, f"thread {mailbox.root_of(talk[run[0]].id)}")
            ):
                pairs.add(frozenset(members))
                yield _concern([talk[at] for at in run], members, len(run) // size, limits)
    yield from _repeats(mailbox, talk, limits)


def past_loops(mailbox: Mailbox, limits: Limits) -> Iterator[Concern]:
    """Yield the loops in all mail, the oldest first: each once for as long as the same agents go on with it."""
    width = limits.loop_minutes * 60.0
    mail = sorted(mailbox.newest(float("-inf")), key=lambda message: message.time)
    last: dict[tuple[str, ...], float] = {}
    begin = 0
    while begin < len(mail):
        # windows overlap by half, so that none is cut where one ends
        start = mail[begin].time
        end = bisect_right(mail, start + width, key=lambda message: message.time)
        for concern in find_loops(mailbox, mail[begin:end], limits):
            if concern is None:
                continue
            if concern.since - last.get(concern.parties, float("-inf")) > width:
                yield concern
            last[concern.parties] = mail[end - 1].time
        begin = max(begin + 1, bisect_right(mail, start + width / 2, key=lambda message: message.time))


def _reached(mailbox: Mailbox, message: Message) -> tuple[list[str], list[str]]:
    """Return who is addressed by name or role, and the channels; a broadcast asks nobody for an answer."""
    hearers: list[str] = []
    channels: list[str] = []
    for text in message.recipients:
        address = resolve(text, mailbox.roster, mailbox.user)
        if address.kind in (DIRECT, USER):
            hearers.append(address.name)
        elif address.kind == ROLE:
            hearers += [agent.session_id for agent in mailbox.roster.holders(address.role)]
        elif address.kind == TAG:
            channels.append(address.name)
    return hearers, channels


class _LatestMail:
    """The latest message at each place, and the latest there from anyone else."""

    def __init__(self) -> None:
        self._latest: dict[str, tuple[tuple[int, str], tuple[int, str]]] = {}

    def put(self, at: int, sender: str, places: Sequence[str]) -> None:
        nothing = (-1, "")
        for place in places:
            last, other = self._latest.get(place, (nothing, nothing))
            self._latest[place] = ((at, sender), other if last[1] == sender else last)

    def before(self, sender: str, places: Sequence[str]) -> int:
        """Return the latest at some places that is not from a sender, or -1."""
        latest = [self._latest[place] for place in places if place in self._latest]
        return max((other[0] if last[1] == sender else last[0] for last, other in latest), default=-1)


def _circles(senders: Sequence[str], chain: _Chain, least: int) -> Iterator[tuple[_Chain, int] | None]:
    """Yield the messages of each circle, the newest first, and how many agents it has, and None once per message."""
    used = set[int]()
    for tip in range(len(chain) - 1, -1, -1):
        yield None
        run = _Chain()
        members: dict[str, None] = {}
        is_closed, at = False, tip
        while at >= 0 and at not in used and senders[at] != PERSON:
            is_closed = is_closed or (bool(run) and senders[at] == senders[tip])
            if senders[at] != senders[run[-len(members)]] if is_closed else senders[at] in members:
                break
            if not is_closed and len(members) == MOST_AGENTS:
                break
            members[senders[at]] = None
            run.append(at)
            at = chain[at]
        if is_closed and len(run) >= max(least, 2 * len(members)):
            used.update(run)
            yield run, len(members)


def _concern(run: list[Message], members: list[str], rounds: int, limits: Limits) -> Concern:
    who = " and ".join(", ".join(members).rsplit(", ", 1))
    if len(members) == 2:
        words = f"answered each other {len(run)} times in {limits.loop_minutes:g} min with no one else involved"
    else:
        words = f"passed mail round a circle of {len(members)} {rounds} times in {limits.loop_minutes:g} min"
    return Concern(ConcernKind.LOOP, who, words, run[-1].time, run[0].id, parties=tuple(members))


def _repeats(mailbox: Mailbox, talk: Sequence[Message], limits: Limits) -> Iterator[Concern | None]:
    """Find senders that repeat a subject to the same agents, who don't answer."""
    runs: dict[str, dict[tuple[tuple[str, ...], str], list[Message]]] = {}
    """By sender, and by recipients and subject."""
    for message in talk:
        yield None
        sender = party(message.sender, mailbox.roster, mailbox.user)
        hearers = tuple(sorted(_reached(mailbox, message)[0]))
        for name in hearers:
            for answered in [it for it in runs.get(name, ()) if sender in it[0]]:
                del runs[name][answered]
        if hearers and PERSON not in (*hearers, sender):
            runs.setdefault(sender, {}).setdefault((hearers, message.subject), []).append(message)
    for sender, of_sender in runs.items():
        for (hearers, _), run in of_sender.items():
            if len(run) >= limits.loop_messages:
                words = f"sent {', '.join(hearers)} the same subject {len(run)} times"
                words += f" in {limits.loop_minutes:g} min without an answer"
                yield Concern(ConcernKind.LOOP, sender, words, run[0].time, run[-1].id, parties=(sender,))
