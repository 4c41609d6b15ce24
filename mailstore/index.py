"""Where mail is found again: by thread, address, channel, sender and view."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from mailstore.address import is_channel
from mailstore.message import Message
from mailstore.protocol import BROADCAST_NAMES, USER_NAMES
from mailstore.recency import Recency
from mailstore.roster import Agent, Roster
from mailstore.scope import label_of
from mailstore.thread import Forest
from mailstore.views import Channel, View

__all__ = ["Index"]


class Index:
    """Indices of messages by everything that a view or a changed agent asks for."""

    def __init__(self, age: Callable[[str], tuple[float, str]], user: str) -> None:
        self._user = user
        self.forest = Forest(age)
        self._members: dict[str, list[int]] = {}
        self._by_name: dict[str, list[int]] = defaultdict(list)
        self._by_delivery: dict[str, list[str]] = defaultdict(list)
        self._positions: dict[str, int] = {}
        self._all = Recency()
        self._for_user = Recency()
        self._archive = Recency()
        self._channels: dict[str, Recency] = defaultdict(Recency)
        self._channel_mail: dict[str, int] = defaultdict(int)
        self._people: dict[str, Recency] = defaultdict(Recency)
        self._unseen_in: dict[str, int] = defaultdict(int)
        self._unseen_channel: dict[str, int] = defaultdict(int)
        self.unseen_total = 0
        self._unseen_mailbox: dict[str, int] = defaultdict(int)
        self.unseen_for_user = 0

    def add(self, index: int, message: Message, is_unseen: bool) -> None:
        """Take a message in."""
        self._positions[message.id] = index
        link = self.forest.add(message.id, message.thread)
        if link.absorbed is not None:
            self._absorb(link.absorbed, link.root)
        self._members.setdefault(link.root, []).append(index)
        for name in {name.removeprefix("agent:") for name in (*message.recipients, *message.mentions)}:
            self._by_name[name].append(index)
        for recency in self._views_of(message):
            recency.touch(link.root, message.time)
        for tag in channel_tags(message):
            self._channel_mail[tag] += 1
        if is_unseen:
            self.count_unseen(message, 1)

    def _views_of(self, message: Message) -> Iterable[Recency]:
        yield self._all
        if message.archived:
            yield self._archive
        if self.is_for_user(message):
            yield self._for_user
        for tag in channel_tags(message):
            yield self._channels[tag]
        for name in {message.sender, *(name.removeprefix("agent:") for name in message.recipients)}:
            yield self._people[name]

    def archive(self, message: Message) -> None:
        """Take note that a message that was live is archived."""
        self._archive.touch(self.forest.root(message.id), message.time)

    def _absorb(self, absorbed: str, root: str) -> None:
        moved = self._members.pop(absorbed, None)
        if moved is None:
            return
        here = self._members.setdefault(root, moved)
        if here is not moved:
            here.extend(moved)
        self._unseen_in[root] += self._unseen_in.pop(absorbed, 0)
        self._all.merge(absorbed, root)
        self._for_user.merge(absorbed, root)
        self._archive.merge(absorbed, root)
        for recency in (*self._channels.values(), *self._people.values()):
            recency.merge(absorbed, root)

    def deliver(self, message_id: str, recipient: str) -> None:
        """Note for whom a message was when it was sent."""
        self._by_delivery[recipient].append(message_id)

    def count_unseen(self, message: Message, by: int) -> None:
        """Count a message as unseen by the person, or as seen."""
        self._unseen_in[self.forest.root(message.id)] += by
        self.unseen_total += by
        self._unseen_mailbox[label_of(message.id)] += by
        if self.is_for_user(message):
            self.unseen_for_user += by
        for tag in channel_tags(message):
            self._unseen_channel[tag] += by

    def is_for_user(self, message: Message) -> bool:
        """Say whether a message is addressed to the user or mentions them."""
        names = (*message.recipients, *message.mentions)
        if message.sender == self._user:
            return False
        return any(name == self._user or name in USER_NAMES or name.startswith("person:") for name in names)

    def unseen_by_mailbox(self) -> dict[str, int]:
        """Return how many messages of each of several mailboxes the person has not seen, by their labels."""
        return self._unseen_mailbox

    def members(self, root: str) -> list[int]:
        """Return a thread's messages; raises KeyError for a root that is none."""
        return self._members[root]

    def unseen_in(self, root: str) -> int:
        """Return how many messages of a thread the person has not seen."""
        return self._unseen_in.get(root, 0)

    def candidates(self, name: str, agent: Agent | None) -> set[int]:
        """Return every message that may be for a name: addressed, mentioned or delivered to it."""
        names = {name, *_broadcasts(name)}
        if name == "user":
            names |= {self._user, *USER_NAMES} | {key for key in self._by_name if key.startswith("person:")}
        found = self._named(names | (self._names_of(agent) if agent else set()))
        return found | self._delivered_to(name)

    def touched_by(self, agent: Agent, before: Agent | None) -> set[int]:
        """Return every message whose fate an agent's registration or change may alter."""
        names = _broadcasts(agent.session_id) | self._names_of(agent)
        if before is not None:
            names |= self._names_of(before)
        return self._named(names) | self._delivered_to(agent.session_id)

    def _names_of(self, agent: Agent) -> set[str]:
        session = agent.session_id
        prefixes = {session[:size] for size in range(8, len(session))}
        roles = {spelling for role in agent.roles() for spelling in (role, f"role:{role}")}
        return {session, agent.name, *agent.tags, *prefixes, *roles}

    def _named(self, names: set[str]) -> set[int]:
        return {index for name in names if name in self._by_name for index in self._by_name[name]}

    def _delivered_to(self, name: str) -> set[int]:
        ids = self._by_delivery.get(name, ())
        return {self._positions[message_id] for message_id in ids if message_id in self._positions}

    def threads(self, view: View) -> list[str]:
        """Return the roots of a view that is kept in order, the newest first."""
        if view.kind == "unread":
            return [root for root in self._all.newest_first() if self._unseen_in.get(root, 0) > 0]
        if view.kind == "channel":
            recency = self._channels.get(view.name)
            return recency.newest_first() if recency else []
        kept = {"all": self._all, "for-you": self._for_user, "archive": self._archive}
        return kept[view.kind].newest_first()

    def agent_threads(self, name: str, agent: Agent | None) -> list[str]:
        """Return the threads in which a name, or a role its agent holds, sends or receives."""
        names = {name, *((agent.name, *agent.roles()) if agent else ())}
        last: dict[str, float] = {}
        for recency in (self._people[key] for key in names if key in self._people):
            for root, time in recency.items():
                last[root] = max(last.get(root, time), time)
        return sorted(last, key=lambda root: last[root], reverse=True)

    def channels(self, roster: Roster) -> list[Channel]:
        """Return every channel that mail or agents bear, sorted by name."""
        return [
            Channel(
                tag,
                self._channel_mail.get(tag, 0),
                self._unseen_channel.get(tag, 0),
                tuple(agent.session_id for agent in roster.bearers(tag)),
            )
            for tag in self.tags(roster)
        ]

    def tags(self, roster: Roster) -> list[str]:
        """Return the tags of all channels that mail or agents bear, sorted by name."""
        tags = {*self._channel_mail, *(tag for tag in roster.tags() if is_channel(tag))}
        return sorted(tags, key=lambda tag: (tag.partition(":")[2], tag))


def _broadcasts(name: str) -> set[str]:
    """Return the broadcasts that may reach a name, and those of its mailbox alone where there are several."""
    label, _, rest = name.partition("/")
    return {*BROADCAST_NAMES, f"{label}/all"} if rest else set(BROADCAST_NAMES)


def channel_tags(message: Message) -> list[str]:
    """Return the tags that a message is addressed to."""
    return [name for name in message.recipients if is_channel(name)]
