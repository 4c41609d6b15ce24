"""How much mail each channel has, and which channels there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from mailstore.columns.messages import MessageHead
from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.records.address import is_channel
from mailstore.records.roster import Roster
from mailstore.state.views import Channel


class ChannelCounts:
    """Numbers of messages by the tag of the channel; `quiet` are those of unseen messages that are muted or snoozed."""

    def __init__(self, roster: Roster, quiet: Mapping[str, int]) -> None:
        self._roster = roster
        self._quiet = quiet
        self.messages: dict[str, int] = defaultdict(int)
        self.unseen: dict[str, int] = defaultdict(int)
        """Messages that the user has not seen."""
        self._tags: tuple[list[str], set[str], list[str]] | None = None
        """The tags of agents and of messages, and all of them sorted, as of the last question."""

    def save(self, out: SnapshotWriter) -> None:
        """Write this into a snapshot."""
        out.value((self.messages, self.unseen))

    def load(self, saved: SnapshotReader) -> None:
        """Read this from a snapshot."""
        messages, unseen = saved.value(tuple[dict[str, int], dict[str, int]])
        self.messages.update(messages)
        self.unseen.update(unseen)

    def all(self) -> list[Channel]:
        """Return every channel that messages are sent to or agents belong to, sorted by name."""
        return [
            Channel(
                tag,
                self.messages.get(tag, 0),
                self.unseen.get(tag, 0) - self._quiet.get(tag, 0),
                self._quiet.get(tag, 0),
                tuple(agent.session_id for agent in self._roster.bearers(tag)),
            )
            for tag in self.tags()
        ]

    def tags(self) -> list[str]:
        """Return the tags of all channels, sorted by name; do not change the list."""
        of_agents = self._roster.tags()
        if self._tags is None or self._tags[0] is not of_agents or self._tags[1] != self.messages.keys():
            tags = {*self.messages, *filter(is_channel, of_agents)}
            ordered = sorted(tags, key=lambda tag: (tag.partition(":")[2], tag))
            self._tags = of_agents, set(self.messages), ordered
        return self._tags[2]


def channel_tags(head: MessageHead) -> list[str]:
    """Return the tags of the channels that a message is sent to."""
    return [name for name in head.recipients if is_channel(name)]
