"""The parts of a shared folder: one for each message, and the roster."""

from __future__ import annotations

import re
import stat
import time
from collections.abc import Hashable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from mailstore.encoding import is_encodable, shown_name
from mailstore.errors import reason_of
from mailstore.files.backward import last_lines
from mailstore.files.folder import Folder, Stamp
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.channels.decode import InvalidChannelFile, TruncatedRecord, decode
from mailstore.kinds.channels.places import CHANNELS, is_message, opening, person_or, sender_in, tag_of
from mailstore.kinds.channels.roster import ABSENT, RosterFiles
from mailstore.kit.part_reader import PartSource, is_settled
from mailstore.records.details import AgentFact
from mailstore.records.events import Event
from mailstore.records.message import Message, Problem

ROSTER = "roster"
YOUNG_SECONDS = 60.0
"""How long a new file is checked for changes: not every writer renames, but none changes old mail."""
LOGS = "logs"
ENDINGS = ("", "-watcher", "-daemon")
COLOUR = re.compile(r"(?:\x1b|\\033|\\e)\[[0-9;]*m")
"""Also as text: a watcher's `echo` writes colours to its log without interpreting them."""
ERROR = re.compile(r"\berror\b", re.IGNORECASE)
WENT_WELL = re.compile(r"\bOK\b")
NUMBERED = re.compile(r"(.+)-\d+")
LONGEST_ERROR = 300


class ChannelFolder:
    """The messages of one channel by file name, with their stamps; costs one `stat` if nothing has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = Folder(path, is_message)
        self._young: dict[str, float] = {}
        self.broken: set[str] = set()
        """Files with an invalid record; their writer may still complete them."""
        self.stamps: dict[str, Stamp] = {}
        self.senders: set[str] = set()
        """Senders of the messages read so far."""
        self._named: dict[str, list[str]] = {}
        """Files not read yet, by the sender in their name."""

    def look(self, *, closely: bool) -> bool:
        """Return whether anything has changed. Raises OSError if the folder can't be read."""
        now, clock = time.time(), time.monotonic()
        stamps = self._folder.look()
        has_changed = stamps is not self.stamps and stamps != self.stamps
        if has_changed:
            is_first = not self.stamps
            for name in stamps.keys() - self.stamps.keys():
                self._named.setdefault(person_or(sender_in(name)), []).append(name)
                if not is_first or abs(now - stamps[name].changed / 1e9) < YOUNG_SECONDS:
                    self._young[name] = clock + YOUNG_SECONDS
        self.stamps = stamps
        watched = {*self._young, *self.broken} if closely else set(self._young)
        has_changed = self._folder.look_at(watched) or has_changed
        self._young = {name: until for name, until in self._young.items() if until > clock}
        return has_changed

    def look_for_senders(self) -> None:
        """Determine the senders; a file's name alone proves nothing, since its contents may be invalid."""
        for sender, names in self._named.items():
            while names and sender not in self.senders:
                name = names.pop()
                if not is_encodable(name):
                    continue
                with suppress(InvalidChannelFile, NotAFile, OSError):
                    self.senders.add(decode(read_whole(self._path / name), self._path.name, name, 0.0).message.sender)
            names.clear()


class ChannelsSource(PartSource):
    """Parts are named by their path below the shared folder; a channel that can't be read is a part too."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._roster = RosterFiles(root)
        self.channels: tuple[str, ...] = ()
        """The channels found by the last look."""
        self._called: dict[str, str] = {}
        """The agents that the folder knows or that wrote, by name in lower case; once known, always."""
        self.begin()

    def begin(self) -> None:
        self._listing = Folder(self._root / CHANNELS, lambda name: not name.startswith("."))
        self._entries: dict[str, Stamp] = {}
        self._channels: dict[str, ChannelFolder] = {}
        self._links: dict[str, str] = {}
        self._closed: dict[str, str] = {}
        self._parts: dict[str, Hashable] = {}
        self._seen: set[str] = set()
        self._unnamed: dict[str, set[str]] = {}
        """The parts of messages that begin with a word, by that word, unless an agent has that name."""
        self._named: dict[str, str] = {}
        """The agents that such parts name after all, by part."""

    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        """Return the roster, then every message, the newest file name first. Raises OSError."""
        (self._root / CHANNELS).lstat()
        has_changed = self._list()
        closed = dict(self._links)
        for name, channel in self._channels.items():
            try:
                has_changed = channel.look(closely=closely) or has_changed
            except OSError as error:
                closed[name] = reason_of(error)
        has_changed = has_changed or closed != self._closed
        self._closed = closed
        senders = tuple(len(channel.senders) for channel in self._channels.values())
        roster = (self._roster.look(), len(self._seen), senders)
        if has_changed or not self._parts:
            self._parts = {
                ROSTER: roster,
                **{f"{CHANNELS}/{name}": why for name, why in closed.items()},
                **self._newest_first(),
            }
        elif self._parts[ROSTER] != roster:
            self._parts = {**self._parts, ROSTER: roster}
        return self._parts

    def _newest_first(self) -> dict[str, Hashable]:
        """Return the messages' parts: new ones since the last look first, then the others, newest first."""
        now: dict[str, Hashable] = {
            f"{CHANNELS}/{name}/{file}": stamp
            for name, channel in self._channels.items()
            if name not in self._closed
            for file, stamp in channel.stamps.items()
        }
        now.update({part: (now[part], name) for part, name in self._named.items() if part in now})
        came = sorted(now.keys() - self._parts.keys(), key=lambda part: part.rpartition("/")[2], reverse=True)
        return {part: now[part] for part in (*came, *(part for part in self._parts if part in now))}

    def _list(self) -> bool:
        """List the channels; return whether they have changed."""
        entries = self._listing.look()
        if entries is self._entries:
            return False
        before = self._channels
        modes = {name: _mode(self._root / CHANNELS / name) for name in entries}
        self._channels = {
            name: before.get(name) or ChannelFolder(self._root / CHANNELS / name)
            for name, mode in modes.items()
            if stat.S_ISDIR(mode)
        }
        self._links = {
            name: "symbolic link: links are not followed" for name, mode in modes.items() if stat.S_ISLNK(mode)
        }
        self._entries = entries
        self.channels = tuple(self._channels)
        return before.keys() != self._channels.keys()

    def read(self, part: str) -> list[Event] | None:
        """Return a message and the read record it implies, or the agents; None if the file is half-written."""
        if part == ROSTER:
            return self._read_roster()
        _, name, *rest = part.split("/")
        if not rest or not is_encodable(part):
            return [Problem(shown_name(part), 1, 0, "its name is not UTF-8" if rest else self._closed[name])]
        file, folder = rest[0], self._channels[name]
        changed = folder.stamps[file].changed / 1e9
        try:
            mail = decode(read_whole(self._root / part), name, file, changed)
        except FileNotFoundError:
            return []
        except (InvalidChannelFile, NotAFile, OSError) as error:
            folder.broken.add(file)
            if isinstance(error, TruncatedRecord) and not is_settled(changed):
                return None
            why = reason_of(error)
            return [Problem(part, 1, 0, why)]
        folder.broken.discard(file)
        message = self.addressed(mail.message, part)
        folder.senders.add(message.sender)
        self._seen.update(name for name in (message.sender, *message.recipients) if ":" not in name)
        events: list[Event] = [message]
        if mail.receipt is not None:
            events.append(mail.receipt)
        if mail.warning:
            events.append(Problem(part, 1, 0, mail.warning, fatal=False))
        return events

    def _read_roster(self) -> list[Event] | None:
        """Return the agents; mail that begins with the name of a new one is read again."""
        traffic = self.traffic()
        agents = self._roster.read(traffic)
        wrote = {name for channel in self._channels.values() for name in channel.senders}
        for name in sorted((self._roster.named | wrote) - set(self._called.values())):
            self._called[name.lower()] = name
            for part in self._unnamed.pop(name.lower(), ()):
                if part in self._parts:
                    self._named[part] = name
                    self._parts[part] = (self._parts[part], name)
        return agents

    def addressed(self, message: Message, part: str = "") -> Message:
        """Return a message as its readers take it: an agent whose name its text begins with is mentioned."""
        word = opening(message.subject)
        name = self._called.get(word)
        if name is None and word and part:
            self._unnamed.setdefault(word, set()).add(part)
        if name is None or name in message.mentions:
            return message
        return msgspec.structs.replace(message, mentions=(*message.mentions, name))

    def facts_about(self, name: str) -> list[AgentFact]:
        presence = self._roster.presences.get(name, ABSENT)
        return list(facts_about(self._root, name, presence.record, presence.file))

    def traffic(self) -> dict[str, list[str]]:
        """Return the channel tags of each sender; none for names that only received mail."""
        senders: dict[str, list[str]] = {name: [] for name in self._seen}
        for name, channel in self._channels.items():
            if is_encodable(name):
                channel.look_for_senders()
                for sender in channel.senders:
                    senders.setdefault(sender, []).append(tag_of(name))
        return senders


def _mode(path: Path) -> int:
    """Return what a path is; a folder where that is unknown: looking into it says why."""
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return 0
    except OSError:
        return stat.S_IFDIR


def facts_about(root: Path, name: str, presence: dict[str, Any], file: str) -> Iterator[AgentFact]:
    """Yield the process in an agent's presence, which is in `file`, and the last error in each of its logs."""
    pid = presence.get("watcher_pid")
    if isinstance(pid, int) and not isinstance(pid, bool):
        yield AgentFact("watcher", f"process {pid}", file)
    for path in _logs(root / LOGS, name):
        if (last_error := _last_error(path)) is not None:
            line, is_last_word = last_error
            yield AgentFact("last error", line, f"{LOGS}/{shown_name(path.name)}", is_last_word)


def _logs(folder: Path, name: str) -> list[Path]:
    """Return the logs of an agent's watchers; `bags-watcher.log` is of `bags-1` where that has none of its own."""
    if "/" in name or "\0" in name:
        return []
    numbered = NUMBERED.fullmatch(name)
    for stem in (name, numbered[1]) if numbered else (name,):
        paths = [folder / f"{stem}{ending}.log" for ending in ENDINGS]
        if logs := [path for path in paths if path.is_file() and not path.is_symlink()]:
            return logs
    return []


def _last_error(path: Path) -> tuple[str, bool] | None:
    """Return the last error in the end of a log, and whether nothing went well since; None if there is none."""
    try:
        lines = last_lines(str(path))
    except OSError:
        return None
    is_last_word = True
    for line in reversed(lines):
        text = COLOUR.sub("", line.decode("utf-8", "replace")).strip()
        if ERROR.search(text):
            return text[:LONGEST_ERROR], is_last_word
        is_last_word = is_last_word and WENT_WELL.search(text) is None
    return None
