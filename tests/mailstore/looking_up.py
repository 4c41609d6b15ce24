"""Lines of every kind for the files of a HAAK mailbox, and what is found in it by looking in two ways."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hypothesis import strategies as st

from mailstore.errors import ContentGone
from mailstore.haak import HaakStore
from mailstore.haak_records.search_pattern import FOLDED
from mailstore.queries.query import Query
from mailstore.queries.search import SearchContext, look_up, search
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store
from tests.mailboxes import NOW, MailFiles, iso

ANN, BOB = "ann-00000001", "bob-00000001"


class Found:
    """A mailbox, and what is found in it by both ways; `read` are the messages whose texts were read."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.mailbox = Mailbox()
        for batch in store.scan():
            self.mailbox.fold(batch, NOW)
        self.read: list[str] = []

    def text(self, message: Message) -> str:
        self.read.append(message.id)
        try:
            return self.store.search_text(message)
        except ContentGone:
            return ""

    def context(self) -> SearchContext:
        return SearchContext(self.mailbox, self.text, NOW)

    def plainly(self, query: Query) -> set[str]:
        return {message.id for message in search(self.mailbox.messages(), query, self.context())}

    def by_bytes(self, query: Query) -> list[str]:
        self.read.clear()
        batches = look_up(query, self.context(), self.store.candidates)
        return [message.id for batch in batches for message in batch]


def messages(folder: Path, number: int = 200) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent(ANN)
    for at in range(number):
        mail.message(f"m{at}", ANN, BOB, f"Message {at},\nas usual. {'Heureka!' * (at in (3, 150))}", ago=1000 - at)
    return mail


ODD = "".join(FOLDED) + 'sSkKfFiItTlLnNaAeE01.- \n\t"\\/é𝔘Ж'
texts = st.text(st.sampled_from(ODD), max_size=8) | st.sampled_from(
    ["Red", "aﬀair", "thread", "null", "2026", "line:", "dead", "Straße", 'x "id": y', '{"sender": 1}', "a\\u0061"]
)
values = st.recursive(
    texts | st.integers(-20, 2000) | st.sampled_from([1e3, 1.50, float("nan"), None, True]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts | st.just("thread"), inner, max_size=2),
    max_leaves=4,
)
names = st.sampled_from([ANN, BOB, "role:red", "all", "user", "Straße"]) | texts
records = st.fixed_dictionaries(
    {"id": texts | st.sampled_from(["m1", "m2", 7, 1e3, None]), "content": texts | values},
    optional={
        "sender": names | values,
        "from": names,
        "recipient": names | st.lists(names | values, max_size=2),
        "body": texts,
        "subject": texts | values,
        "thread": texts,
        "timestamp": st.sampled_from([iso(NOW - 60), iso(NOW - 90), "no time", 12]),
        "read_by": st.lists(names, max_size=2),
        "meta": values,
    },
)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """Draw a line: a record in one of many spellings, sometimes damaged."""
    fields = {"sender": ANN, "recipient": BOB, **draw(records)}
    text = json.dumps(fields, ensure_ascii=draw(st.booleans()), separators=draw(st.sampled_from([(",", ":"), None])))
    for char in draw(st.sets(st.sampled_from("aeskSKfi0 n"), max_size=2)):
        hexed = f"\\u{ord(char):04x}"
        if char not in "un0" or draw(st.booleans()):
            parts = text.split('"content":')
            parts[-1] = parts[-1].replace(char, hexed if draw(st.booleans()) else hexed[:2] + hexed[2:].upper())
            text = '"content":'.join(parts)
    data = text.encode("utf-8", "surrogatepass")
    damage = draw(st.sampled_from(["", "", "", "", "glued", "torn", "bom", "cr", "bytes", "nul"]))
    whole = {
        "glued": data + data.replace(b"m1", b"m9"),
        "torn": data[: len(data) // 2] + data,
        "bom": b"\xef\xbb\xbf" + data,
        "cr": data + b"\r",
        "bytes": data.replace(b"e", b"\xff", 1),
        "nul": b"\0\0" + data,
    }
    return whole.get(damage, data).replace(b"\n", b"") + b"\n"


@contextmanager
def written(files: Sequence[Sequence[bytes]]) -> Iterator[Found]:
    """Write a mailbox, a month and a packed month."""
    with tempfile.TemporaryDirectory() as folder:
        mail = MailFiles(Path(folder))
        archive = mail.data / "agent-mailbox-archive"
        archive.mkdir()
        mail.mailbox.write_bytes(b"".join(files[0]))
        (archive / "2026-02.jsonl").write_bytes(b"".join(files[1]))
        (archive / "2026-01.jsonl.gz").write_bytes(gzip.compress(b"".join(files[2])))
        with HaakStore.open(mail.data) as store:
            yield Found(store)
