"""The permissions that `signalbox nats permissions` prints: who has them can't write in another's name."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mailstore.errors import StoreError
from mailstore.kinds.nats.address import location_of
from mailstore.kinds.nats.credentials import credentials_for
from mailstore.kinds.nats.demo import one_node
from mailstore.kinds.nats.own_server import NatsServer
from mailstore.kinds.nats.subjects import mail_stream, presence_stream
from mailstore.records.draft import draft
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent
from mailstore.registry import open_store
from tests.cli.conftest import Run
from tests.patience import PATIENCE
from tests.servers.fixtures import need_nats

ANN, BOB = "ann-00000001", "bob-00000001"
STREAM, PRESENCE = mail_stream("fleet"), presence_stream("fleet")
MAIL = f"signalbox.fleet.mail.{BOB}"
FORGED = {
    "id": "f1",
    "sender": BOB,
    "recipient": ANN,
    "timestamp": "2026-03-16T14:30:00Z",
    "content": "By Bob, I swear.",
}

Log = Callable[[str], None]


@pytest.fixture(params=["keys", "passwords"])
def log_in(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Iterator[Log]:
    """Start a server with the permissions that are printed for a roster of two; return what logs a user in."""
    need_nats()
    server = NatsServer(one_node(tmp_path / "server"))
    keys = tmp_path / "keys"
    with server:
        url = f"nats://{server.address}/fleet"
        assert run("init", url).status == 0
        for name in (ANN, BOB):
            assert run("roster", "register", name, "--store", url).status == 0
        words = ("--keys", keys) if request.param == "keys" else ()
        printed = run("nats", "permissions", "--store", url, *words)
        assert (printed.status, printed.err) == (0, "")
    for name in re.findall(r"\$(PASSWORD_\w+)", printed.out):
        monkeypatch.setenv(name, f"secret-{name}")
    one_node(tmp_path / "server", printed.out)

    def log_in(user: str) -> None:
        if request.param == "keys":
            monkeypatch.setenv("SIGNALBOX_NATS_NKEY", str(keys / f"{user}.nk"))
        else:
            monkeypatch.setenv("SIGNALBOX_NATS_USER", user)
            variable = "PASSWORD_" + user.upper().replace("-", "_")
            monkeypatch.setenv("SIGNALBOX_NATS_PASSWORD", f"secret-{variable}")

    with server:
        monkeypatch.setenv("SIGNALBOX_STORE", f"nats://{server.address}/fleet")
        yield log_in


def as_client(url: str, work: Callable[[Any], Awaitable[None]], expected: int) -> list[str]:
    """Do something with a bare connection until so much was refused; return what the server refused."""
    from mailstore.kinds.nats.opening import ended, opened

    refused: list[str] = []
    told = asyncio.Event()

    async def note(error: Exception) -> None:
        refused.append(str(error))
        if len(refused) >= expected:
            told.set()

    async def main() -> None:
        address = location_of(url.partition(":")[2]).address
        client = await opened(address, credentials_for(address), callbacks={"error_cb": note})
        try:
            await work(client)
            await asyncio.wait_for(told.wait(), PATIENCE)
            await client.flush()
        finally:
            await ended(client)

    asyncio.run(main())
    return refused


def url_of_server() -> str:
    import os

    return os.environ["SIGNALBOX_STORE"]


def events(url: str) -> list[Any]:
    with open_store(url) as store:
        return [event for batch in store.scan() for event in batch]


def test_each_agent_writes_under_its_own_name(log_in: Log, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    url = url_of_server()
    for sender, other in ((ANN, BOB), (BOB, ANN)):
        log_in(sender)
        sent = run("send", "--from", sender, "--to", other, "--body", f"By {sender}.", "--json").document
        begun = time.monotonic()
        for words in (
            ("send", "--from", other, "--to", sender, "--body", "Forged."),
            ("mark-read", "--as", other, sent["id"]),
            ("roster", "update", other, "--role", "nobody"),
        ):
            refused = run(*words)
            assert refused.status == 1, words
            assert "does not let this user do that: log in as the one who writes" in refused.err, words
        assert time.monotonic() - begun < 14, "each was repeated for 15 s"
        assert run("presence", "--as", sender, "--state", "working", "--substate", "writing").status == 0
    assert [message["content"] for message in run("check", "--as", BOB, "--json").document] == [f"By {ANN}."]
    assert sorted(event.sender for event in events(url) if isinstance(event, Message)) == [ANN, BOB]
    log_in("user")
    assert run("send", "--from", "user", "--to", ANN, "--body", "By the person.").status == 0
    assert run("roster", "retire", BOB).status == 0


def test_no_way_to_publish_in_anothers_name_is_open(log_in: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    url = url_of_server()
    log_in(ANN)
    with open_store(url) as store:
        store.send(draft(sender=ANN, recipients=(BOB,), content="Before."))
        store.update_agent(Agent(ANN, activity="forging"))
    own = f"signalbox.fleet.mail.{ANN}"

    async def forge(client: Any) -> None:
        data = json.dumps(FORGED).encode()
        await client.publish(MAIL, data)
        for topic in ("read", "roster", "presence", "journal", "delivery"):
            await client.publish(f"signalbox.fleet.{topic}.{BOB}", data)
        kept = json.loads((await client.request(own, data, timeout=5)).data)["seq"]
        for name, ask in {
            f"DIRECT.GET.{STREAM}": {"seq": kept},
            f"STREAM.MSG.GET.{STREAM}": {"seq": kept},
            f"STREAM.INFO.{STREAM}": {},
        }.items():
            await client.publish(f"$JS.API.{name}", json.dumps(ask).encode(), reply=MAIL)
        await client.publish(own, b"not a record", reply=MAIL)
        for stream in (STREAM, PRESENCE):
            question = {
                "stream_name": stream,
                "config": {"name": f"x{stream}", "deliver_subject": MAIL, "ack_policy": "none"},
            }
            await client.request(
                f"$JS.API.CONSUMER.CREATE.{stream}.x{stream}", json.dumps(question).encode(), timeout=5
            )
        pulled = {"stream_name": STREAM, "config": {"name": "pulled", "ack_policy": "none"}}
        await client.request(f"$JS.API.CONSUMER.CREATE.{STREAM}.pulled", json.dumps(pulled).encode(), timeout=5)
        await client.publish(f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.pulled", b"5", reply=MAIL)

    refused = as_client(url, forge, 6)
    assert len(refused) == 6
    log_in(BOB)
    with open_store(url) as store:
        mine = store.send(draft(sender=BOB, recipients=(ANN,), content="Really by Bob."))
    found = events(url)
    forged = {event.offset: event.reason for event in found if isinstance(event, Problem)}
    by_bob = [event for event in found if isinstance(event, Message) and event.sender == BOB]
    unmarked = [event.id for event in by_bob if event.location is None or event.location.offset not in forged]
    assert unmarked == [mine.id]
    assert {reason for reason in forged.values() if reason.startswith("forged")} == {
        f"forged: {ANN} wrote it",
        f"forged: it was copied from {own}",
    }


def test_nothing_can_be_deleted_or_overheard(log_in: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    url = url_of_server()
    log_in(ANN)
    with open_store(url) as store:
        store.send(draft(sender=ANN, recipients=(BOB,), content="Kept."))

    async def destroy(client: Any) -> None:
        for name in ("STREAM.DELETE", "STREAM.PURGE", "STREAM.UPDATE", "STREAM.MSG.DELETE", "STREAM.SNAPSHOT"):
            await client.publish(f"$JS.API.{name}.{STREAM}", b"{}")
        await client.publish("$JS.API.STREAM.CREATE.other", b'{"name":"other"}')
        await client.subscribe("_INBOX.>")
        await client.subscribe(f"_INBOX.{BOB}.>")

    assert len(as_client(url, destroy, 8)) == 8
    assert any(isinstance(event, Message) for event in events(url))


def test_others_are_not_let_in(log_in: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNALBOX_NATS_USER", "carol")
    monkeypatch.setenv("SIGNALBOX_NATS_PASSWORD", "guessed")
    with pytest.raises(StoreError, match="refused the credentials"):
        open_store(url_of_server())


def test_keys_are_kept_and_only_for_their_owner(run: Run, nats_location: str, tmp_path: Path) -> None:
    url = f"nats:{nats_location}"
    assert run("init", url).status == 0
    assert run("roster", "register", "odd/ü", "--store", url).status == 0
    first = run("nats", "permissions", "--store", url, "--keys", tmp_path / "keys").out
    assert run("nats", "permissions", "--store", url, "--keys", tmp_path / "keys").out == first
    files = sorted(path.name for path in (tmp_path / "keys").iterdir())
    assert files == ["odd%2F%C3%BC.nk", "signalbox-admin.nk", "signalbox-mirror.nk", "user.nk"]
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in (tmp_path / "keys").iterdir())
    assert not any(path.read_text().strip() in first for path in (tmp_path / "keys").iterdir())


def test_an_agent_knows_its_users_mail_by_the_server(log_in: Log, run: Run) -> None:
    log_in("user")
    assert run("send", "--from", "user", "--to", ANN, "--body", "By the person.").status == 0
    assert "proof" not in run("check", "--as", ANN, "--dry-run").out, "this user may write so, and others perhaps too"
    before = len(events(url_of_server()))
    log_in(ANN)
    told = run("check", "--as", ANN, "--dry-run").out
    assert "proof: your user wrote this, according to the server, which lets nobody else write under this name" in told
    assert len(events(url_of_server())) == before, "asking wrote nothing"
    log_in(BOB)
    assert run("send", "--from", BOB, "--to", ANN, "--body", "As your user, I tell you.").status == 0
    log_in(ANN)
    assert run("check", "--as", ANN, "--dry-run").out.count("proof: ") == 1


def test_permissions_are_for_servers_alone(run: Run) -> None:
    assert run("init").status == 0
    refused = run("nats", "permissions")
    assert refused.status == 1
    assert "name one with --store nats://HOST/NAME" in refused.err
