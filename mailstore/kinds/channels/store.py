"""The store for channel folders (docs/formats/channels.md)."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Self

from mailstore.errors import ContentGone
from mailstore.files.append import refusal
from mailstore.kinds.channels.decode import InvalidChannelFile, body_of, decode, record_in
from mailstore.kinds.channels.places import CHANNELS, ROSTER, WORD, find, looks_like_mail
from mailstore.kinds.channels.source import ChannelsSource
from mailstore.kit.locating import read_located
from mailstore.kit.part_reader import PartReader
from mailstore.kit.watched_store import WatchedStore
from mailstore.location import path_of
from mailstore.records.message import Message
from mailstore.store import Capabilities, Capability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mailstore.kinds.channels.merging import ChannelsMerger
    from mailstore.records.adopted import Adopted, Merged
    from mailstore.records.details import AgentFact
    from mailstore.records.draft import Draft
    from mailstore.records.roster import Agent


class ChannelsStore(WatchedStore):
    """A folder for each channel, a file for each message; registry, presence and sessions beside them."""

    kind: ClassVar[str] = "channels"
    summary: ClassVar[str] = (
        "a Multi-Agent OS: channels/CHANNEL/msg-*.json, with registry, presence and sessions beside"
    )
    can_merge: ClassVar[bool] = True
    missing: ClassVar[tuple[str, str]] = (
        f"there is no folder {CHANNELS} at {{path}}",
        f"name the folder that holds {CHANNELS}/",
    )
    declared: ClassVar[Capabilities] = Capabilities(
        {
            Capability.MARK_READ: "channels have no read records",
            Capability.RECORD: "channels have no journal",
            Capability.ARCHIVE: "agents read a channel's messages again, so they stay",
            Capability.SEVERAL: "a message is for everybody in one channel, or for one agent in it",
            Capability.SUBJECT: "its messages have no subject: put it at the beginning of the text",
            Capability.TTL: "its messages do not expire",
            Capability.AUDIENCE: "channels don't record whom a message reached",
        }
    )
    known_fields: ClassVar[frozenset[str]] = frozenset(
        {"id", "timestamp", "session_id", "from", "to", "type", "text", "metadata"}
        | {"content.text", "content.code", "content.artifacts"}
    )
    fields_in_text: ClassVar[frozenset[str]] = frozenset({"content.code", "content.artifacts"})

    def __init__(self, root: Path, *, poll: bool = False) -> None:
        self._root = root
        self._source = ChannelsSource(root)
        super().__init__(PartReader(self._source), root, poll=poll)
        self._merger: ChannelsMerger | None = None
        self._merging = Lock()

    def would_wake(self, draft: Draft, names: Iterable[str]) -> list[str]:
        """Return which agents would wake: some react to their bare name anywhere in a text."""
        words = set(WORD.findall(draft.content.casefold()))
        return [name for name in names if name.casefold() in words and name not in (draft.sender, *draft.recipients)]

    def is_for_named(self, draft: Draft) -> bool:
        from mailstore.kinds.channels.addressing import names_anybody

        return names_anybody(draft.recipients)

    def describe_agent(self, name: str) -> list[AgentFact]:
        """Return the process of an agent's watcher, and the last error in its log."""
        return self._source.facts_about(name)

    @classmethod
    def find(cls, path: Path) -> Path | None:
        return find(path)

    @classmethod
    def is_likely(cls, place: Path) -> bool:
        return looks_like_mail(place)

    @classmethod
    def create(cls, location: str | Path) -> Self:
        """Create an empty shared folder; existing files stay as they are. Raises StoreError."""
        path = path_of(location)
        try:
            root = find(path)
            if root is None:
                root = path.absolute().parent if path.name == CHANNELS else path.absolute()
                for folder in (CHANNELS, *(name for name in ROSTER if name != "presence")):
                    (root / folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refusal(path, error) from error
        return cls(root)

    @property
    def title(self) -> str:
        return f"{self._root.name}/{CHANNELS}"

    def below(self) -> list[str]:
        return [CHANNELS, *(f"{CHANNELS}/{name}" for name in self._source.channels), *ROSTER]

    def content(self, message: Message) -> str:
        """Return a message's text, its code and its artifacts. Raises ContentGone."""
        return body_of(record_in(self.raw(message)))

    def raw(self, message: Message) -> bytes:
        data = read_located(self._root, message)
        assert message.location is not None
        file = message.location.file
        _, channel, name = file.split("/")
        try:
            found = decode(data, channel, name, 0.0).message
        except InvalidChannelFile as error:
            raise ContentGone(
                f"{file} is no longer a message", "it was replaced; signalbox doctor checks what is there now", "E310"
            ) from error
        if found.id != message.id:
            raise ContentGone(
                f"{file} no longer has this message",
                "it was replaced; signalbox doctor checks what is there now",
                "E304",
            )
        return data

    def check_draft(self, draft: Draft) -> None:
        """Refuse a draft that a message can't hold; a channel and agents named in it count as one recipient."""
        from mailstore.kinds.channels.addressing import is_for_several

        if not is_for_several(draft.recipients):
            draft = draft.model_copy(update={"recipients": draft.recipients[:1]})
        super().check_draft(draft)

    def write_message(self, draft: Draft) -> Message:
        """Post a message to a channel, as a file that appears complete; return it as a scan reads it."""
        from mailstore.kinds.channels.addressing import place
        from mailstore.kinds.channels.writer import post

        try:
            return self._source.addressed(post(self._root, place(self._root, draft), draft, time.time()))
        except OSError as error:
            raise refusal(self._root / CHANNELS, error) from error

    def write_agent(self, agent: Agent) -> None:
        """Write an agent's registration, presence and channels, as far as they change. Raises StoreError."""
        from mailstore.kinds.channels.agent_writer import write_agent

        try:
            (self._root / CHANNELS).lstat()
            write_agent(self._root, agent, self._source.traffic(), time.time())
        except OSError as error:
            raise refusal(self._root, error) from error

    def write_adopted(self, records: Iterable[Adopted]) -> None:
        """Write the records of another mailbox into these new channels, which no agent watches yet."""
        from mailstore.kinds.channels.adopt import adopt

        try:
            adopt(self._root, records)
        except OSError as error:
            raise refusal(self._root / CHANNELS, error) from error

    def merge(self, records: Sequence[Adopted]) -> Merged:
        """Write the messages of other mailboxes that are in no channel yet."""
        from mailstore.kinds.channels.merging import ChannelsMerger

        with self._merging:
            self._merger = self._merger or ChannelsMerger(self._root)
            try:
                return self._merger.merge(records)
            except OSError as error:
                raise refusal(self._root / CHANNELS, error) from error
