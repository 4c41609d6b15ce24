"""Numbers for the parties of a mailbox: the party that a name in a record means, and those in a list of recipients."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from mailstore.columns.interned import InternTable
from mailstore.columns.messages import ABSENT
from mailstore.records.address import is_channel, party, resolve
from mailstore.state.mailbox import Mailbox
from mailstore.state.message_lookup import check_current

PER_STEP = 512
Spellings = dict[str, tuple[str, ...]]


class Parties:
    """Parties by number; all names of the user are one, and so are all spellings of an address."""

    def __init__(self) -> None:
        self.names: InternTable[str] = InternTable()
        self.of_name = array("i")
        """The party of each name in records."""
        self._as_sender: dict[str, dict[str, None]] = {}
        self._as_address: dict[str, dict[str, None]] = {}

    def number(self, mailbox: Mailbox) -> Iterator[None]:
        """Number the parties of all names in records, some at a step."""
        names = mailbox.contents.messages.names.values
        for at in range(len(self.of_name), len(names)):
            name = party(names[at], mailbox.roster, mailbox.user)
            self._as_sender.setdefault(name, {})[names[at]] = None
            self.of_name.append(self.names.number(name))
            if at % PER_STEP == 0:
                yield None

    def address(self, mailbox: Mailbox, text: str) -> int:
        """Return the party that an address means."""
        name = resolve(text, mailbox.roster, mailbox.user).name
        self._as_address.setdefault(name, {})[text] = None
        return self.names.number(name)

    def spellings(self) -> tuple[Spellings, Spellings]:
        """Return how parties are written as senders and in addresses, where that is not just by their name."""
        return _other(self._as_sender), _other(self._as_address)


def _other(spelled: dict[str, dict[str, None]]) -> Spellings:
    return {name: tuple(texts) for name, texts in spelled.items() if list(texts) != [name]}


class HeadTable:
    """For each head that messages share: whether its time is known, and the list of recipients by number."""

    def __init__(self) -> None:
        self.timed = array("b")
        self.lists = array("i")
        self._recipients: InternTable[tuple[str, ...]] = InternTable()

    def extend(self, mailbox: Mailbox) -> Iterator[None]:
        """Add the heads that are new, some at a step. Raises MailboxReloaded."""
        messages = mailbox.contents.messages
        heads = messages.head_values.values
        for at in range(len(self.timed), len(heads)):
            head = heads[at]
            self.timed.append(at != ABSENT and head.timed)
            self.lists.append(self._recipients.number(head.recipients))
            if at % PER_STEP == 0:
                yield None
                check_current(mailbox.contents, messages)

    def addressed(self, mailbox: Mailbox, parties: Parties) -> Iterator[tuple[tuple[int, ...], tuple[str, ...]]]:
        """Yield for each list of recipients the parties and the channels in it, each once."""
        for texts in self._recipients.values:
            found = dict.fromkeys(parties.address(mailbox, text) for text in texts)
            yield tuple(found), tuple(dict.fromkeys(text for text in texts if is_channel(text)))
