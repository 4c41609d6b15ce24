"""The parts of an AgentAZAll mailbox: the roster, and each copy of each message."""

from __future__ import annotations

import re
import stat
import time
from bisect import bisect_right, insort
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from mailstore.errors import reason_of
from mailstore.files.folder import Stamp, path_stamp
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.block import unwrapped
from mailstore.kinds.agentazall.decode import (
    Copy,
    attachments,
    digest_of,
    id_of,
    message_of,
    missing,
    split,
    trace_of,
    who,
)
from mailstore.kinds.agentazall.ledger import CarriedNames
from mailstore.kinds.agentazall.message_file import InvalidSignedFile, SignedFile, is_partial, moment, parse
from mailstore.kinds.agentazall.names import HUMAN, USER, address_of, is_remote, name_of
from mailstore.kinds.agentazall.pins import Pins, SignatureChecker, is_of_all
from mailstore.kinds.agentazall.places import INBOX, OUTBOX
from mailstore.kinds.agentazall.rules import Filter, filters_of, is_blocked
from mailstore.kinds.agentazall.signature import SignatureFacts, SignatureVerdict, facts_of
from mailstore.kinds.agentazall.spools import is_in_spool, problem_of, spools_of
from mailstore.kinds.agentazall.tree import TASKS, AgentFolders
from mailstore.kit.bodies import first_line
from mailstore.kit.part_reader import PartSource, is_settled
from mailstore.records.events import Event, Person
from mailstore.records.message import Delivery, Message, Problem, Receipt
from mailstore.records.roster import Agent

ROSTER = "roster"
SIGNING_SECONDS = 20.0
"""How long an unsigned message in the outbox of an agent with a key is ignored: its program signs it first."""
ALONE_SECONDS = 60.0
"""How long files may lie without their message, which is written after them."""
PLACELESS = ("attachment:", "!attachment-missing:", "key:new", "key:pinned", "!key:of-another")
"""Tags that may differ between copies of one message."""
OF_HEADER = "signature:legacy"
TASKS_BYTES = 1 << 20
LAST_DAYS = 30
"""Number of an agent's days that are searched for its activity."""
QUOTED = re.compile(r"(?m)^--- Original from (.*) \((.*)\) ---\r?$")
ANSWER_PREFIX = "re: "
MOST_LOOKED_AT = 100
"""Maximum number of messages with the same date or subject that are considered."""


class AgentAZAllSource(PartSource):
    """The copies of all messages, emitted as one message each."""

    def __init__(self, root: Path, pins: Pins) -> None:
        self._root = root
        self._pins = pins
        self._tree = AgentFolders(root)
        self.begin()

    def begin(self) -> None:
        self._ids: dict[str, dict[str, str]] = {}
        self._parents = Parents()
        self._told_of: set[str] = set()
        self._put_off: set[str] = set()
        self._checker = SignatureChecker(self._pins)
        self._filters: dict[str, Filter] = {}
        self._tasks: dict[str, tuple[str, Hashable]] = {}
        self._stamps: Mapping[str, Hashable] = {}
        self._ledgers = CarriedNames()
        self._carried: frozenset[str] = frozenset()
        self._here: frozenset[str] = frozenset()
        self._absent: dict[str, bool] = {}
        """Recipients that are neither here nor have a remote address, and whether messages to them are carried."""
        self._is_begun = False

    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        """Return the roster and the message files. Raises OSError."""
        if not self._is_begun:
            self._pins.load()
            self._filters = filters_of(self._root)
            self._is_begun = True
        self._pins.save()
        files = self._tree.parts(closely=closely)
        self._tasks = tasks_of(self._tree)
        self._here = frozenset(name_of(agent.rpartition("/")[2]) for agent in self._tree.agents)
        self._carried = self._ledgers.look(self._tree.roots) - self._here
        stamp = (*(stamp for _, stamp in self._tasks.values()), tuple(self._tasks), len(self._told_of), self._carried)
        self._stamps = files
        return {ROSTER: stamp, **files, **dict(spools_of(self._root, self._tree.agents))}

    def read(self, part: str) -> list[Event] | None:
        """Return the events of a part; None if it may be incomplete, or its parent has not been read yet."""
        if part == ROSTER:
            trouble = [Problem(str(self._pins.path), 1, 0, self._pins.trouble, False)] if self._pins.trouble else []
            return [Person((HUMAN,)), *agents_of(self._root, self._tasks, self._told_of | self._carried), *trouble]
        if part in self._tree.problems:
            return [Problem(part, 1, 0, self._tree.problems[part])]
        try:
            if is_in_spool(part):
                why = problem_of(self._root / part)
                return None if why is None else [Problem(part, 1, 0, why)]
            if part.endswith("/"):
                return self._told_alone(part)
            data = read_whole(self._root / part)
        except NotAFile as error:
            return [Problem(part, 1, 0, str(error))]
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return [Problem(part, 1, 0, reason_of(error))]
        changed = self._changed(part)
        if is_partial(data) and not is_settled(changed):
            return None
        copy = split(part)
        try:
            if copy is None:
                return []
            return self._told(parse(data), copy, len(data), changed)
        except InvalidSignedFile as error:
            return [Problem(part, 1, 0, str(error))]

    def stale(self) -> str:
        """Say that keys were compared with one that was not the first, or that a recipient is elsewhere than it was."""
        was_wrong, self._pins.was_wrong = self._pins.was_wrong, False
        if was_wrong:
            return "an older message shows another key of a sender"
        moved = [name for name, was in self._absent.items() if (name in self._carried) != was]
        return f"{moved[0]} is on another machine, or not any more" if moved else ""

    def same(self, event: Event) -> Hashable:
        """Return the identity of an event across copies: a message's id and facts, a warning's file name and text."""
        if isinstance(event, Message):
            return Message, event.id, event.sender, *_lasting(event.tags)
        if isinstance(event, Problem) and not event.fatal and not event.file.endswith("/"):
            return Problem, "" if is_of_all(event.reason) else event.file.rpartition("/")[2], event.reason
        return event

    def sent(self, copy: Copy) -> Message:
        """Return a message that was just written, as a scan will emit it. Thread-safe."""
        part = "/".join(copy)
        data = read_whole(self._root / part)
        message = parse(data)
        parties = who(message, copy)
        tags, _ = self._checker.checked(facts_of(message), parties.sender, copy.stem)
        tags += ("blocked",) if self.blocked(message, copy) else ()
        return message_of(
            message,
            copy,
            message_id=copy.stem,
            thread=message.get("In-Reply-To") or None,
            facts=tags,
            files=attachments(self._root / part),
            size=len(data),
            changed=time.time(),
            is_elsewhere=self.is_elsewhere,
        )

    def is_elsewhere(self, name: str) -> bool:
        """Return whether an agent is on another machine: by its address, or since messages to it are carried."""
        return is_remote(name) or name in self._carried

    def known_id(self, signed: SignedFile, copy: Copy) -> str:
        """Return the id of a copy's message: its own, or a replacement if its own was taken."""
        claimed = id_of(signed, copy)
        digest = digest_of(unwrapped(signed.body), who(signed, copy).sender)
        return self._ids.get(claimed, {}).get(digest, claimed)

    def blocked(self, signed: SignedFile, copy: Copy) -> bool:
        """Return whether a recipient's program would reject the message if it came from elsewhere."""
        asked = {address_of(name) for name in who(signed, copy).recipients}
        return any(agent in asked and is_blocked(rules, signed.get("From")) for agent, rules in self._filters.items())

    def _changed(self, part: str) -> float:
        stamp = self._stamps.get(part)
        first = stamp[0] if isinstance(stamp, tuple) and not isinstance(stamp, Stamp) else stamp
        return first.changed / 1e9 if isinstance(first, Stamp) else time.time()

    def _told(self, signed: SignedFile, copy: Copy, size: int, changed: float) -> list[Event] | None:
        parties = who(signed, copy)
        facts = self._checker.facts_of(signed)
        part = "/".join(copy)
        files = attachments(self._root / part)
        text = unwrapped(signed.body)
        digest = digest_of(text, parties.sender)
        claimed = id_of(signed, copy)
        is_new = digest not in self._ids.get(claimed, {})
        if is_new and self._is_unfinished(signed, facts, copy, files, changed):
            return None
        message_id = self._id(claimed, digest)
        date = moment(signed.get("Date"))
        when = changed if date is None else date
        if is_new:
            self._parents.note(signed, message_id, when, *parties)
        thread = self._parents.of(signed, text, message_id, when, *parties)
        if thread is None and is_answer(signed) and part not in self._put_off:
            # its parent may just not have been read yet
            self._put_off.add(part)
            return None
        # a date may be forged; the day's folder is made by the receiving program
        age = max(when, moment(f"{copy.day} 00:00:00") or when), changed
        tags, warnings = self._checker.checked(facts, parties.sender, message_id, age)
        if message_id != claimed:
            warnings.append(f"another message has the id {claimed}: this one is shown as {message_id}")
        if self.blocked(signed, copy):
            tags += ("blocked",)
        message = message_of(
            signed, copy, message_id=message_id, thread=thread, facts=tags, files=files, size=size, changed=changed,
            is_elsewhere=self.is_elsewhere,
        )  # fmt: skip
        unknown = (
            recipient for recipient in parties.recipients if not is_remote(recipient) and recipient not in self._here
        )
        self._absent.update((each, each in self._carried) for each in unknown)
        self._told_of.update(name for name in parties.recipients if is_told_of(name, is_sender=False))
        self._told_of.add(parties.sender)
        reasons = (*signed.oddities, *warnings)
        trace = trace_of(signed, copy, message_id, facts.key if facts.is_whole else "", changed)
        return [
            trace,
            message,
            *_proofs(signed, copy, message_id),
            *(Problem(part, 1, 0, why, False) for why in reasons),
        ]

    def _told_alone(self, part: str) -> list[Event] | None:
        """Tell of a folder of files without their message; None while that may still be written."""
        found = (self._root / part).lstat()
        if not stat.S_ISDIR(found.st_mode):
            return []
        if not is_settled(found.st_ctime + ALONE_SECONDS):
            return None
        return [Problem(part, 1, 0, "files without their message: delete the folder if it doesn't come", False)]

    def _id(self, claimed: str, digest: str) -> str:
        """Return the id of a message: the claimed one, or a new one if that is taken."""
        taken = self._ids.setdefault(claimed, {})
        return taken.setdefault(digest, f"{claimed}~{digest}" if taken else claimed)

    def _is_unfinished(
        self, signed: SignedFile, facts: SignatureFacts, copy: Copy, files: list[str], changed: float
    ) -> bool:
        """Return whether attachments or a signature are still to come."""
        is_waited_for = bool(missing(signed, files)) and _is_just_made(self._root / "/".join(copy))
        return is_waited_for or self._will_be_signed(facts, copy, changed)

    def _will_be_signed(self, facts: SignatureFacts, copy: Copy, changed: float) -> bool:
        if copy.box != OUTBOX or facts.verdict is not SignatureVerdict.NONE or is_settled(changed + SIGNING_SECONDS):
            return False
        return (self._root / copy.owner / ".identity_key").is_file()


def _proofs(signed: SignedFile, copy: Copy, message_id: str) -> list[Event]:
    """Return the delivery, and perhaps the read record, that a copy in an inbox proves."""
    if copy.box != INBOX:
        return []
    owner = name_of(copy.address)
    is_read = signed.get("Status").lower() == "read"
    return [Delivery(message_id, owner), *([Receipt(message_id, owner)] if is_read else [])]


def _lasting(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags that are the same in every copy, unless one was tampered with."""
    if tags and tags[0].removeprefix("!").startswith(OF_HEADER):
        # a signature of the header is void once a copy is marked as read
        return ()
    return tuple(tag for tag in tags if not tag.startswith(PLACELESS))


def _is_just_made(path: Path) -> bool:
    """Return whether a file is so new that its attachments may still be missing."""
    try:
        return not is_settled(path.lstat().st_ctime)
    except OSError:
        return False


def tasks_of(tree: AgentFolders) -> dict[str, tuple[str, Hashable]]:
    """Return for each agent the newest activity file that isn't empty, with its stamp."""
    tasks: dict[str, tuple[str, Hashable]] = {}
    for agent in tree.agents:
        tasks[agent] = ("", None)
        for day in tree.days(agent)[:LAST_DAYS]:
            name = f"{agent}/{day}/{TASKS}/tasks.txt"
            stamp = path_stamp(tree.root / name)
            if stamp is not None and stamp.size and not (tree.root / name).parent.is_symlink():
                tasks[agent] = (name, stamp)
                break
    return tasks


def agents_of(root: Path, tasks: dict[str, tuple[str, Hashable]], told_of: Iterable[str]) -> list[Agent]:
    """Return the agents with a folder, and those without that are senders or to whom messages are carried."""
    here: dict[str, str] = {}
    for folder, (file, _) in tasks.items():
        # of several trees, the one with the newest activity counts
        here.setdefault(name_of(folder.rpartition("/")[2]), file)
    for folder, (file, _) in tasks.items():
        name = name_of(folder.rpartition("/")[2])
        if file.split("/")[-3:] > here[name].split("/")[-3:]:
            here[name] = file
    here.pop(USER, None)
    agents = [Agent(name, activity=_activity(root / file) if file else "") for name, file in sorted(here.items())]
    return agents + [Agent(name) for name in sorted(set(told_of) - set(here) - {USER})]


def is_told_of(name: str, *, is_sender: bool) -> bool:
    """Return whether a name in the mail is an agent: every sender and every remote address is."""
    return is_sender or is_remote(name)


def _activity(path: Path) -> str:
    try:
        return first_line(read_whole(path, TASKS_BYTES).decode("utf-8", "replace"))
    except (OSError, NotAFile):
        return ""


class _Known(NamedTuple):
    time: float
    id: str
    subject: str
    sender: str
    recipients: tuple[str, ...]

    @property
    def is_answer(self) -> bool:
        return self.subject.lower().startswith(ANSWER_PREFIX)


NOBODY = _Known(0.0, "", "", "", ())


class Parents:
    """Messages by sender and date, and by sender and subject in order of time."""

    def __init__(self) -> None:
        self._dated: dict[tuple[str, str], list[_Known]] = {}
        self._named: dict[tuple[str, str], list[_Known]] = {}

    def note(self, signed: SignedFile, message_id: str, time: float, sender: str, recipients: tuple[str, ...]) -> None:
        """Add a message that may have replies."""
        known = _Known(time, message_id, signed.get("Subject"), sender, recipients)
        self._dated.setdefault((signed.get("From"), signed.get("Date")), []).append(known)
        insort(self._named.setdefault((_plain(known.subject), sender), []), known)

    def of(
        self, signed: SignedFile, body: str, message_id: str, time: float, sender: str, recipients: tuple[str, ...]
    ) -> str | None:
        """Return the id of a message's parent.

        The id in In-Reply-To if there is one, else the message of the quoted sender and date, else the latest earlier
        one with that subject between the same two.
        """
        if named := signed.get("In-Reply-To").strip("<> "):
            return named if named != message_id else None
        if not is_answer(signed):
            return None
        subject = _plain(signed.get("Subject"))
        if quoted := QUOTED.search(body):
            dated = self._dated.get((quoted[1].strip(), quoted[2].strip()), [])[:MOST_LOOKED_AT]
            known = [one for one in dated if one.id != message_id and one.time <= time]
            same = [one for one in known if _plain(one.subject) == subject]
            if same or known:
                return (same or known)[0].id
        latest = [self._latest(subject, one, time, sender, message_id) for one in recipients[:MOST_LOOKED_AT]]
        return max((one for one in latest if one), default=NOBODY).id or None

    def _latest(self, subject: str, writer: str, time: float, reader: str, but: str) -> _Known | None:
        """Return the latest message with a subject from `writer` to `reader`, up to a time."""
        named = self._named.get((subject, writer), [])
        at = bisect_right(named, time, key=lambda one: one.time)
        for one in reversed(named[max(0, at - MOST_LOOKED_AT) : at]):
            # dates have whole seconds: the parent may have the same one
            is_before = one.time < time or not one.is_answer
            if is_before and reader in one.recipients and one.id != but:
                return one
        return None


def is_answer(signed: SignedFile) -> bool:
    return signed.get("Subject").lower().startswith(ANSWER_PREFIX)


def _plain(subject: str) -> str:
    """Return a subject without `Re:`."""
    while subject.lower().startswith(ANSWER_PREFIX):
        subject = subject[len(ANSWER_PREFIX) :].lstrip()
    return subject
