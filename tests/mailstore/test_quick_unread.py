"""The quick reading of a mailbox finds what folding it finds, or says that it can't."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from benchmarks.generate import generate
from mailstore.files.scan import Unusual
from mailstore.haak import HaakStore
from mailstore.haak.quick.quick_unread import quick_unread
from mailstore.quick_answers import NotRegistered, QuickMessage
from mailstore.state.mailbox import Mailbox
from tests.mailboxes import AMENDED, DAY, DIALECTS, HOUR, NOW, Dialect, MailFiles, damaged, every_case, iso, tangled
from tests.mailstore.indexes import note

ANN, BOB = "ann-00000001", "bob-00000001"
NAMES = [
    "agent:ann-0000",
    ANN,
    BOB,
    "cid-00000001",
    "clerk",
    "role:clerk",
    "scribe",
    "role:nobody",
    "all",
    "user",
    "project:ink",
    "ann-0000",
]
TEXTS = ["A text.", f"@{ANN}, look.", "a@b.org", 'He said "so": {"to": "x"}', "“é” \\u0040", ""]


def folded(mail: MailFiles, reader: str, now: float) -> list[QuickMessage | Any]:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, now)
        return [(one.id, one.sender, one.recipients, one.subject, one.thread or "", one.type, store.content(one))
                for one in mailbox.unread(reader, now)]  # fmt: skip


def quickly(mail: MailFiles, reader: str, now: float) -> list[tuple[Any, ...]]:
    found = quick_unread(str(mail.mailbox), reader, now)
    return [(one.id, one.sender, one.recipients, one.subject, one.thread or "", one.type, one.content) for one in found]


def agrees(mail: MailFiles, reader: str, now: float = NOW) -> bool:
    """Hold the two against each other; say whether the quick reading was enough."""
    try:
        found = quickly(mail, reader, now)
    except NotRegistered:
        found = []
    except Unusual:
        return False
    assert found == folded(mail, reader, now)
    return True


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("make", [lambda *words: every_case(*words)[0], tangled, damaged])
def test_every_case_is_told_alike(make: Callable[..., MailFiles], dialect: Dialect, tmp_path: Path) -> None:
    mail = make(tmp_path, NOW, dialect)
    for name in ("steward-0001", ANN, BOB, "fro-00000001", "ded-00000001", "user", "nobody", "lamp"):
        agrees(mail, name)


def test_a_mailbox_in_use_is_read_quickly(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.mailbox.unlink()
    generate(mail.data, messages=300, now=NOW)
    sessions = [json.loads(line) for line in mail.roster.read_bytes().splitlines()]
    living = [one["session_id"] for one in sessions if one["status"] == "living"]
    assert living
    assert all(agrees(mail, session) for session in living[:6])


def written(record: dict[str, Any], dialect: Dialect, *, is_plain: bool) -> bytes:
    if dialect == "amendment":
        record = {AMENDED.get(key, key): value for key, value in record.items()}
    separators = (",", ":") if is_plain else (", ", ": ")
    return json.dumps(record, ensure_ascii=is_plain, separators=separators).encode() + b"\n"


MESSAGES = st.fixed_dictionaries(
    {
        "sender": st.sampled_from(NAMES[:3]),
        "recipient": st.sampled_from(NAMES) | st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True),
        "timestamp": st.integers(0, 60).map(lambda hours: iso(NOW - hours * HOUR)),
        "content": st.sampled_from(TEXTS),
    },
    optional={
        "ttl_hours": st.sampled_from([None, 1, 2.5, 100, 0, "3"]),
        "read_by": st.lists(st.sampled_from(NAMES[:3]), max_size=2),
        "subject": st.sampled_from([None, "", " ", "A subject"]),
        "thread": st.sampled_from([None, "m0"]),
        "metadata": st.just({"to": BOB, "recipient": BOB}),
        "type": st.sampled_from(["question", 3]),
    },
)
PLAIN_MESSAGE = {"sender": ANN, "recipient": BOB, "timestamp": iso(NOW - HOUR), "content": TEXTS[0]}
IDS = st.sampled_from(["m0", "m1", "m2"])
AGENTS = st.fixed_dictionaries(
    {
        "session_id": st.sampled_from(NAMES[:3]),
        "status": st.sampled_from(["living", "living", "living", "frozen", "dead"]),
        "role": st.sampled_from([None, "clerk", "scribe"]),
        "tags": st.lists(st.sampled_from(["project:ink", "role:scribe"]), unique=True),
    },
    optional={"started_at": st.just(iso(NOW - 10 * HOUR)), "name": st.just("Ann")},
)


def test_whatever_the_files_hold_both_tell_the_same() -> None:
    quick: Counter[bool] = Counter()
    with_index: Counter[bool] = Counter()

    @settings(suppress_health_check=[HealthCheck.too_slow])
    @example(
        agents=[],
        messages=[PLAIN_MESSAGE] * 3,
        reads=[("m1", BOB)],
        deliveries=[],
        junk=b"",
        dialect=DIALECTS[0],
        is_plain=True,
        noted=1,
    )
    @given(
        agents=st.lists(AGENTS, max_size=4),
        messages=st.lists(MESSAGES, max_size=6),
        reads=st.lists(st.tuples(IDS, st.sampled_from([ANN, BOB, "clerk"])), max_size=3),
        deliveries=st.lists(st.tuples(st.sampled_from(["m0", "m1", "m9"]), st.sampled_from([ANN, BOB])), max_size=2),
        junk=st.sampled_from([b"", b"no record\n", b"\n", b'{"id":"m0"}\n', f'{{"id":"x","to":"{ANN}","bo'.encode()]),
        dialect=st.sampled_from(DIALECTS),
        is_plain=st.booleans(),
        noted=st.sampled_from([0, 1, 2, 4, None]),
    )
    def tell_the_same(
        agents: list[dict[str, Any]],
        messages: list[dict[str, Any]],
        reads: list[tuple[str, str]],
        deliveries: list[tuple[str, str]],
        junk: bytes,
        dialect: Dialect,
        is_plain: bool,
        noted: int | None,
    ) -> None:
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", f"{folder}/cache")
            mail = MailFiles(Path(folder))
            mail.agent(ANN, role="clerk", tags=["project:ink"])
            for agent in agents:
                mail.line(agent, mail.roster)
            for number, message in enumerate(messages):
                if number == noted:
                    note(mail)
                mail.line(written({"id": f"m{number}", **message}, dialect, is_plain=is_plain))
            for number, (message_id, reader) in enumerate(reads):
                if number + 4 == noted:
                    note(mail)
                mail.read(message_id, reader)
            mail.line(junk)
            for message_id, reader in deliveries:
                mail.delivery(message_id, reader)
            with_index[(mail.data.parent / "cache").exists()] += 1
            for reader in (ANN, BOB, "clerk", "dee-00000001"):
                quick[agrees(mail, reader)] += 1

    tell_the_same()
    assert with_index[True]
    assert quick[True] >= quick.total() / 10, "it was hardly ever quick: what is compared with what?"


def test_an_agent_that_was_resumed_is_read_quickly(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    for status, ago in (("living", 9), ("frozen", 8), ("living", 2)):
        mail.agent(ANN, status=status, started_at=iso(NOW - 9 * HOUR), updated=iso(NOW - ago * HOUR))
    mail.message("frozen", BOB, ANN, ago=3 * HOUR, ttl_hours=2.5)
    mail.message("expired", BOB, ANN, ago=9 * HOUR, ttl_hours=1)
    assert agrees(mail, ANN)
    assert [row[0] for row in quickly(mail, ANN, NOW)] == ["frozen"]


@pytest.mark.parametrize(
    ("pair", "is_quick"), [("\\ud83d\\ude00", True), ("\\ud83d", False), ("\\ude00\\ud83d", False)]
)
def test_a_message_may_hold_escaped_symbols_but_no_half_of_one(pair: str, is_quick: bool, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    line = {"id": "m", "sender": BOB, "recipient": ANN, "timestamp": iso(NOW - 60), "content": "PAIR"}
    mail.line(json.dumps(line).replace("PAIR", pair).encode() + b"\n")
    assert agrees(mail, ANN) is is_quick


def test_mail_is_read_quickly_beside_a_line_that_is_not_utf8(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.line(f'{{"id":"odd","recipient":"{BOB}","content":"'.encode() + b"\xff\xfe\n")
    mail.message("m", BOB, ANN, ago=60)
    assert agrees(mail, ANN)


def test_an_archival_that_left_something_is_not_read_quickly(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN)
    mail.message("m", BOB, ANN, ago=60)
    assert agrees(mail, ANN, mail.now)
    retired = mail.data / "agent-mailbox-archive" / "retired"
    retired.mkdir(parents=True)
    (retired / "run.json").write_text('{"months":{},"end":10}')
    assert not agrees(mail, ANN, mail.now)
    (retired / "run.jsonl").write_bytes(b"x" * 10)
    assert agrees(mail, ANN, mail.now)
    (retired / "run.jsonl").write_bytes(b"x" * 10 + b"late\n")
    assert not agrees(mail, ANN, mail.now)
    (mail.data / "agent-mailbox.jsonl.archiving-run").touch()
    assert not agrees(mail, ANN, mail.now)


def test_what_is_written_twice_is_not_read_quickly(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.message("m", BOB, BOB, ago=DAY)
    mail.message("m", BOB, ANN, ago=60)
    assert not agrees(mail, ANN)


@pytest.mark.parametrize("between", [b"", b" ", b",", b'{"id":"torn","recipient":"bob-00000001","cont'])
def test_the_second_record_of_a_line_is_told(between: bytes, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    first = {"id": "first", "sender": ANN, "recipient": BOB, "timestamp": iso(NOW - 60), "content": "One."}
    second = {**first, "id": "second", "sender": BOB, "recipient": ANN}
    mail.line(json.dumps(first).encode() + between + json.dumps(second).encode() + b"\n")
    assert not agrees(mail, ANN)
    assert [row[0] for row in folded(mail, ANN, NOW)] == ["second"]


@pytest.mark.parametrize(
    "to",
    [
        f'"to":"{BOB}","recipi\\u0065nt":"{ANN}"',
        f'"recipient":"{BOB}","recipient":"{ANN}"',
        f'"to":"{BOB}","recipient" : "{ANN}"',
        f'"recipient" : "{ANN}","to":"{BOB}"',
        f'"recipient":"\\u0061{ANN[1:]}"',
    ],
)
def test_a_recipient_in_an_odd_place_or_spelling_is_found(to: str, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.line(f'{{"id":"m","sender":"{BOB}",{to},"timestamp":"{iso(NOW - 60)}","content":"A text."}}\n'.encode())
    agrees(mail, ANN)
    assert [row[0] for row in folded(mail, ANN, NOW)] == ["m"]


@pytest.mark.parametrize("reader", [f"\\u0061{ANN[1:]}", f"{ANN[:-1]}\\u0031"])
def test_a_readers_name_may_be_written_with_escapes(reader: str, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.message("m", BOB, ANN, ago=60)
    mail.line(f'{{"message_id":"m","reader_session_id":"{reader}"}}\n'.encode(), mail.reads)
    assert agrees(mail, ANN)
    assert quickly(mail, ANN, NOW) == []
