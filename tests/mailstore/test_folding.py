"""A mailbox that is folded at once, or was kept, is the one that folding record after record gives."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mailstore import folding
from mailstore.folding import fold_store, folded_anew, kept, kept_at
from mailstore.haak import HaakStore
from mailstore.state.mailbox import Mailbox
from tests.mailstore.folded import answers

NOW = 1_800_000_000.0
IDS = [f"m{number}" for number in range(9)]
AGENTS = ["ann-00000001", "bob-00000002", "cyd-00000003"]
NAMES = [*AGENTS, "bob", "builder", "role:builder", "project:x", "concern:y", "all", "user", "nobody", "signal:+1"]
STAMPS = [f"2027-01-{day:02}T{hour:02}:00:00Z" for day in (1, 13, 14, 15) for hour in (0, 7)]
ODD_STAMPS = [
    "2027-01-14T07:00:00.250Z",
    "2027-01-14T07:00:00.000Z",
    "2027-01-14T07:00:00.2505Z",
    "2027-01-14T08:00:00+01:00",
    "2027-02-30T00:00:00Z",
    "soon",
    "",
]
BODIES = ["Hello.", "Hello @bob, and @builder.", "first\\nsecond", "\u00e9\u20ac", "", 'a "quote" and \\ more']

messages = st.fixed_dictionaries(
    {
        "id": st.sampled_from(IDS),
        "sender": st.sampled_from([*AGENTS, "user", "stranger"]),
        "recipient": st.sampled_from(NAMES) | st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
        "timestamp": st.sampled_from([*STAMPS, *STAMPS, *STAMPS, *ODD_STAMPS]),
        "subject": st.sampled_from(["", "A subject", None, " "]),
        "content": st.sampled_from(BODIES),
        "thread": st.none() | st.sampled_from([*IDS, "gone"]),
    },
    optional={
        "ttl_hours": st.sampled_from([1, 48.0, 1000, 0, None]),
        "type": st.sampled_from(["question", "status"]),
        "tags": st.lists(st.sampled_from(["a", "b"]), max_size=2),
        "read_by": st.lists(st.sampled_from(AGENTS), max_size=2),
        "from": st.sampled_from(AGENTS),
        "extra": st.just({"deep": [1]}),
    },
)
reads = st.fixed_dictionaries(
    {
        "message_id": st.sampled_from([*IDS, "never"]),
        "reader_session_id": st.sampled_from([*AGENTS, "builder", "user"]),
        "timestamp": st.sampled_from([*STAMPS, None, "soon"]),
    }
)
deliveries = st.fixed_dictionaries(
    {"message_id": st.sampled_from(IDS), "recipient": st.sampled_from(AGENTS), "timestamp": st.sampled_from(STAMPS)}
)
agents = st.fixed_dictionaries(
    {
        "session_id": st.sampled_from(AGENTS),
        "status": st.sampled_from(["living", "frozen", "dead"]),
        "tags": st.lists(st.sampled_from(["project:x", "concern:y"]), max_size=2, unique=True),
        "role": st.sampled_from([None, "builder"]),
        "started_at": st.sampled_from([None, *STAMPS]),
        "ended_at": st.sampled_from([None, *STAMPS]),
        "updated": st.sampled_from([None, *STAMPS]),
    }
)
damage = st.sampled_from([b"", b"no JSON", b'{"id": "m1"}', b"[1]", b"\x00\x00", b'{"id":"m2"}{"id":', b'"\xff"'])


def line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()


def put_away(prefix: str) -> st.SearchStrategy[list[bytes]]:
    """Return lines of a month: ids of another kind, for which of two copies counts depends on which came first."""
    return st.lists(messages.map(lambda one: line({**one, "id": prefix + one["id"]})) | damage, max_size=5)


lines_of_mail = st.lists(st.one_of(messages.map(line), messages.map(line), messages.map(line), damage), max_size=14)
endings = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n"])


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("mailstore.haak.store.LONG", 0)
    monkeypatch.setattr("mailstore.haak.bulk.parallel_read.SHARE", 300)
    monkeypatch.setattr("mailstore.bulk.shares.FEW", 2)
    monkeypatch.setattr("mailstore.bulk.build.FEWEST", 1)
    return tmp_path / "cache"


def write(data: Path, name: str, lines: list[bytes], ending: bytes = b"\n") -> None:
    data.mkdir(parents=True, exist_ok=True)
    with (data / name).open("ab") as file:
        file.write(b"".join(one + ending for one in lines))


def scanned(data: Path) -> Mailbox:
    mailbox = Mailbox()
    with HaakStore.open(data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    return mailbox


def folded(data: Path) -> Mailbox:
    with HaakStore.open(data) as store:
        return fold_store(store, "user", NOW)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines_of_mail,
    lines_of_mail,
    st.lists(reads.map(line) | damage, max_size=12),
    st.lists(deliveries.map(line), max_size=4),
    st.lists(agents.map(line), max_size=5),
    put_away("a"),
    put_away("b"),
    endings,
)
def test_all_at_once_is_one_after_the_other(
    tmp_path_factory: pytest.TempPathFactory,
    mail: list[bytes],
    more: list[bytes],
    read: list[bytes],
    delivered: list[bytes],
    roster: list[bytes],
    month: list[bytes],
    before: list[bytes],
    ending: bytes,
) -> None:
    data = tmp_path_factory.mktemp("mailbox")
    write(data, "agent-mailbox.jsonl", mail, ending)
    write(data, "agent-mailbox-reads.jsonl", read)
    write(data, "agent-mailbox-deliveries.jsonl", delivered)
    write(data, "agent-roster.jsonl", roster)
    write(data / "agent-mailbox-archive", "2026-11.jsonl", month)
    packed = gzip.compress(b"".join(one + b"\n" for one in before))
    (data / "agent-mailbox-archive" / "2026-10.jsonl.gz").write_bytes(packed)
    expected = answers(scanned(data), NOW)
    anew, again = folded(data), folded(data)
    assert answers(anew, NOW) == expected
    assert answers(again, NOW) == expected
    # what comes after is read from where the kept one ends
    write(data, "agent-mailbox.jsonl", more)
    write(data, "agent-mailbox-reads.jsonl", read[:3])
    write(data, "agent-roster.jsonl", roster[:1])
    assert answers(folded(data), NOW) == answers(scanned(data), NOW)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    mail = [
        {"id": f"m{at}", "sender": AGENTS[0], "recipient": AGENTS[1], "timestamp": STAMPS[at % 8], "content": "Hello."}
        for at in range(50)
    ]
    write(data, "agent-mailbox.jsonl", [line(one) for one in mail])
    write(data, "agent-roster.jsonl", [line({"session_id": name, "status": "living"}) for name in AGENTS])
    return data


@pytest.fixture
def building(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    built: list[str] = []

    def noted(store: Any, user: str, now: float) -> Mailbox:
        built.append(user)
        return folded_anew(store, user, now)

    monkeypatch.setattr(folding, "folded_anew", noted)
    return built


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_what_is_kept_is_used_and_lies_in_the_cache_alone(data: Path, cache: Path, building: list[str]) -> None:
    before = files(data)
    assert answers(folded(data), NOW) == answers(folded(data), NOW) == answers(scanned(data), NOW)
    assert building == ["user"]
    assert files(data) == before
    one, index = sorted(files(cache), key=lambda path: path.suffix)
    assert index.suffix == ".index"
    assert (one.stat().st_mode | index.stat().st_mode) & 0o077 == 0


def test_each_user_has_another(data: Path, cache: Path) -> None:
    with HaakStore.open(data) as store:
        fold_store(store, "user", NOW)
    with HaakStore.open(data) as store:
        fold_store(store, "bob", NOW)
        assert kept_at(store, "bob") != kept_at(store, "user")
    assert sorted(path.suffix for path in files(cache)) == ["", "", ".index"]


@pytest.mark.parametrize("how", ["other inode", "cut", "rewritten", "rewritten and grown", "an agent has left"])
def test_what_no_longer_holds_is_not_used(data: Path, building: list[str], how: str) -> None:
    folded(data)
    mailbox, roster = data / "agent-mailbox.jsonl", data / "agent-roster.jsonl"
    held = mailbox.read_bytes()
    if how == "other inode":
        mailbox.rename(data / "old")
        mailbox.write_bytes(held.replace(b'"m7"', b'"n7"'))
    elif how == "cut":
        mailbox.write_bytes(held[: len(held) // 2])
    elif how == "an agent has left":
        roster.write_bytes(roster.read_bytes().splitlines(keepends=True)[0])
    else:
        stat = mailbox.stat()
        with mailbox.open("r+b") as file:
            file.write(held.replace(b'"m7"', b'"n7"') + (held[:0] if how == "rewritten" else line({"id": "x"}) + b"\n"))
        os.utime(mailbox, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert answers(folded(data), NOW) == answers(scanned(data), NOW)
    assert building == ["user", "user"]


@pytest.mark.parametrize("damaged", [b"", b"x", b"signalbox folded mailbox\n", None])
def test_what_is_kept_and_damaged_is_made_anew(data: Path, building: list[str], damaged: bytes | None) -> None:
    folded(data)
    with HaakStore.open(data) as store:
        path = kept_at(store, "user")
    path.write_bytes(path.read_bytes()[:-3] if damaged is None else damaged)
    assert answers(folded(data), NOW) == answers(scanned(data), NOW)
    assert building == ["user", "user"]


def test_a_cache_that_cannot_be_written_is_done_without(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert answers(folded(data), NOW) == answers(scanned(data), NOW)


@pytest.mark.parametrize("helper", [sys.executable, "/bin/false"])
def test_two_processes_read_at_once(data: Path, monkeypatch: pytest.MonkeyPatch, helper: str) -> None:
    """What the other one fails to do is done here."""
    monkeypatch.setattr("mailstore.haak.bulk.parallel_read.MANY", 0)
    monkeypatch.setattr(sys, "executable", helper)
    seen = [{"message_id": f"m{at % 60}", "reader_session_id": AGENTS[1], "timestamp": STAMPS[0]} for at in range(90)]
    write(data, "agent-mailbox-reads.jsonl", [line(one) for one in seen])
    write(data, "agent-mailbox.jsonl", [b'{"id": "half'], ending=b"")
    assert answers(folded(data), NOW) == answers(scanned(data), NOW)


def test_ids_with_one_key_are_told_apart(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailstore.bulk.keys.FACTOR", np.uint64(0))
    assert answers(folded(data), NOW) == answers(scanned(data), NOW)


@pytest.mark.parametrize(
    "name",
    [
        "data",
        pytest.param(
            "not unicode \udcff",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode"),
            id="not unicode",
        ),
    ],
)
def test_another_process_folds_for_this_one(data: Path, cache: Path, name: str) -> None:
    data = data.rename(data.with_name(name))
    argv = [sys.executable, "-m", "mailstore.folding", f"haak:{data}", "user"]
    done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": str(cache)})
    assert (done.returncode, done.stderr) == (0, "")
    with HaakStore.open(data) as store:
        mailbox = kept(store, "user", NOW)
        assert mailbox is not None
        store.confirm()
        assert answers(mailbox, NOW) == answers(scanned(data), NOW)


def test_of_two_with_one_id_the_one_that_counts_is_folded_first(data: Path) -> None:
    """One is left to the fold because it answers itself, the other because its id comes again."""
    one = {"id": "m", "sender": AGENTS[0], "recipient": AGENTS[1], "timestamp": STAMPS[0], "content": "Hello."}
    write(data, "agent-mailbox.jsonl", [line({**one, "thread": "m"})])
    write(data / "agent-mailbox-archive", "2026-11.jsonl", [line({**one, "read_by": [AGENTS[2]]})])
    assert answers(folded(data), NOW) == answers(scanned(data), NOW)
