"""Kinds that are not on files, secrets in URLs, and the commands that no kind replaces."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mailstore import registry
from mailstore.conformance.following import Follower, following, ids, of, scanned
from mailstore.conformance.samples import message_record
from mailstore.errors import StoreError, UnknownStore, Unsupported
from mailstore.installed_kinds import LAYER, StoreKind
from mailstore.location import path_in, path_of, secrets_in, without_secrets
from mailstore.memory import MemoryStore
from mailstore.records.draft import draft
from mailstore.records.events import Back, Gone, Reset
from mailstore.records.scope import parts_of, url_of
from mailstore.registry import complete_url, create_store, is_there, open_store
from mailstore.several.store import named_together
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability
from tests.mailstore.loop_store import PASSWORD, LoopStore, Server

SECRET = f"loop://ann:{PASSWORD}@hub/box"
SHOWN = "loop://hub/box"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server with a mailbox, and a process that was given no secrets yet."""
    monkeypatch.setitem(LAYER, "loop", StoreKind("tests.mailstore.loop_store:LoopStore"))
    monkeypatch.setattr(registry, "_complete", {})
    server = Server.running["hub"] = Server()
    server.make("box", message_record("m0"))
    yield server
    del Server.running["hub"]


# Secrets


@pytest.mark.parametrize(
    ("url", "shown", "secrets"),
    [
        ("nats://host/box", "nats://host/box", []),
        ("nats://user:pass@host:4222/box", "nats://host:4222/box", ["user:pass", "pass"]),
        ("nats://token@one,u:p@two/box", "nats://one,two/box", ["token", "u:p", "p"]),
        ("nats://u:p%20q@host/box", "nats://host/box", ["u:p%20q", "p%20q", "u:p q", "p q"]),
        ("nats://u:p/q@host/box", "nats://host/box", ["u:p/q", "p/q"]),
        ("nats://u:p,q@host/box", "nats://host/box", ["u:p,q", "p,q"]),
        ("nats://u:p?q#r@host/box", "nats://host/box", ["u:p?q#r", "p?q#r"]),
        ("nats://host/box@2", "nats://host/box@2", []),
        ("nats://[::1]:4222/box", "nats://[::1]:4222/box", []),
        ("nats+tls://host/box?token=abc&durable=x#f", "nats+tls://host/box?durable=x#f", ["abc"]),
        ("nats://host/box?password=abc", "nats://host/box", ["abc"]),
        ("NATS://u:pass@host", "NATS://host", ["u:pass", "pass"]),
        ("haak:/srv/ann@work/a?token=b", "haak:/srv/ann@work/a?token=b", []),
        ("/srv/ann@work", "/srv/ann@work", []),
        ("several:a=x%3A%2F%2Fu%3Apw%40host%2F&b=%2Fsrv", "several:a=x%3A%2F%2Fhost%2F&b=%2Fsrv", ["u:pw", "pw"]),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, shown: str, secrets: list[str]) -> None:
    assert without_secrets(url) == shown
    assert without_secrets(shown) == shown
    assert sorted(secrets_in(url)) == sorted(secrets)


def test_a_url_without_its_secrets_opens_what_the_process_was_given_them_for(server: Server) -> None:
    with pytest.raises(StoreError):
        open_store(SHOWN)
    with open_store(SECRET) as store, open_store(store.url) as again:
        assert (store.url, again.url, store.title) == (SHOWN, SHOWN, "box on hub")
        assert ids(scanned(again)) == {"m0": 1}
    assert complete_url(SHOWN) == SECRET
    with create_store("loop", f"//ann:{PASSWORD}@hub/new") as made, open_store("loop://hub/new") as again:
        assert made.url == again.url


@pytest.mark.parametrize("user", ["ann:wrong word", "wrong-token", "ann:wrong/word"])
def test_no_error_of_opening_shows_a_secret(server: Server, user: str) -> None:
    with pytest.raises(StoreError, match="authentication failed") as caught:
        open_store(f"loop://{user}@hub/box")
    assert "wrong" not in f"{caught.value} {caught.value.problem} {caught.value.remedy} {caught.value.args}"
    assert caught.value.__cause__ is None
    with pytest.raises(StoreError, match="authentication failed") as caught:
        create_store("loop", f"//{user}@hub/new")
    assert "wrong" not in str(caught.value)
    with pytest.raises(UnknownStore) as unknown:
        open_store(f"lop://{user}@hub/box")
    with pytest.raises(StoreError) as no_kind:
        open_store(f"LOOP://{user}@hub/box")
    assert "wrong" not in f"{unknown.value} {no_kind.value}"


def test_a_failure_that_no_store_should_raise_shows_no_secret(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(location: str, **options: Any) -> LoopStore:
        raise ValueError(f"bad port in {location}")

    monkeypatch.setattr(LoopStore, "open", fails)
    with pytest.raises(StoreError, match=f"{SHOWN} can't be opened: ValueError: bad port") as caught:
        open_store(SECRET)
    assert PASSWORD not in str(caught.value)
    with pytest.raises(ValueError, match="bad port"):
        open_store(SHOWN)


def test_several_mailboxes_show_no_secret_of_theirs(server: Server, tmp_path: Path) -> None:
    server.make("other")
    lost = f"loop://ann:{PASSWORD}@away/x?token=sesame"
    labels = list(parts_of(named_together([SECRET, SECRET.replace("/box", "/other"), lost, lost])))
    assert labels == ["loop", "other-on-hub", "x", "away"]
    url = url_of({"hub": SECRET, "away": lost})
    with open_store(url) as store, open_store(store.url) as again:
        shown = [store.url, store.title, *map(str, scanned(store)), str(store.capabilities_for("away/m").missing)]
        assert ids(scanned(again)) == {"hub/m0": 1}
    assert not [text for text in shown if "sesame" in text]


def test_a_process_that_folds_is_given_the_secrets_aside(tmp_path: Path) -> None:
    program = "import os, sys; print(sys.argv[1:], os.environ['SIGNALBOX_COMPLETE_URL'])"

    async def told(monkeypatch: pytest.MonkeyPatch) -> str:
        from console import feed

        monkeypatch.setattr(registry, "_complete", {SHOWN: SECRET})
        spawned: list[Any] = []
        spawn = asyncio.create_subprocess_exec

        async def spy(*words: str, **options: Any) -> Any:
            assert words[1:] == ("-m", "mailstore.folding", SHOWN, "user")
            piped = {**options, "stdout": subprocess.PIPE}
            spawned.append(await spawn(sys.executable, "-c", program, *words[3:], **piped))
            return spawned[0]

        monkeypatch.setattr(asyncio, "create_subprocess_exec", spy)
        await feed._fold_elsewhere(SHOWN, "user")
        return (await spawned[0].stdout.read()).decode()

    with pytest.MonkeyPatch.context() as patch:
        assert asyncio.run(told(patch)) == f"['{SHOWN}', 'user'] {SECRET}\n"


# Locations


def test_a_location_is_a_path_only_for_kinds_on_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert path_of("~/data") == tmp_path / "data"
    assert path_of("//srv/data") == Path("/srv/data")
    assert path_in("haak:/srv/data") == Path("/srv/data")
    assert path_in(SHOWN) is path_in("several:a=%2Fsrv") is None
    for wrong in ("x" * 5000, "~nobody-of-that-name/x"):
        with pytest.raises(StoreError):
            path_of(wrong)


def test_whether_there_is_a_mailbox_is_asked_of_its_kind(server: Server, tmp_path: Path) -> None:
    assert is_there(LoopStore, SECRET.removeprefix("loop:"))
    assert not is_there(LoopStore, SECRET.removeprefix("loop:") + "2")
    assert not is_there(LoopStore, str(tmp_path))


def test_a_kind_that_is_not_on_files_hides_no_mailbox_at_a_path(server: Server, tmp_path: Path) -> None:
    with pytest.raises(UnknownStore):
        open_store(tmp_path)


# A connection that comes and goes


def test_one_of_several_that_is_back_takes_its_problem_with_it(server: Server) -> None:
    Server.running["far"] = far = Server()
    far.make("box", message_record("far0"))
    mailbox = Mailbox()

    async def story(came: Follower) -> None:
        server.is_up = False
        server.wake()
        await came.until(lambda events: bool(of(Gone, events)))
        server.is_up = True
        server.publish("box", message_record("m1", 5))
        await came.until_message("near/m1")

    with open_store(url_of({"near": SECRET, "far": SECRET.replace("hub", "far")})) as store:

        async def run() -> list[list[Any]]:
            async with following(store) as came:
                await came.until_message("near/m0", "far/far0")
                await story(came)
                return came.batches

        batches = asyncio.run(run())
    for batch in batches:
        mailbox.fold(batch, 1_773_662_500.0)
    events = [event for batch in batches for event in batch]
    assert not of(Reset, events), "nothing is read again"
    assert [gone.mailbox for gone in of(Gone, events)] == [back.mailbox for back in of(Back, events)] == ["near"]
    assert not mailbox.cut_off()
    assert {message.id for message in mailbox.messages()} == {"near/m0", "near/m1", "far/far0"}
    assert not mailbox.problems
    del Server.running["far"]


def test_a_mailbox_that_is_back_is_no_longer_gone(server: Server) -> None:
    mailbox = Mailbox()

    async def run() -> None:
        with open_store(SECRET) as store:
            async with following(store) as came:
                await came.until_message("m0")
                server.is_up = False
                server.wake()
                mailbox.fold(await came.until(lambda events: bool(of(Gone, events))), 1_773_662_500.0)
                assert mailbox.gone
                server.is_up = True
                server.publish("box", message_record("m1", 5))
                mailbox.fold((await came.until_message("m1"))[2:], 1_773_662_500.0)

    asyncio.run(run())
    assert not mailbox.gone
    assert {message.id for message in mailbox.messages()} == {"m0", "m1"}


# Commands


@pytest.mark.parametrize("command", ["send", "mark_read", "update_agent", "record", "archive", "adopt"])
def test_a_kind_can_not_replace_a_command_and_lose_its_checks(command: str) -> None:
    with pytest.raises(TypeError, match=f"{command} replaces a final method: implement write_"):
        type("Mine", (MemoryStore,), {command: lambda *words: None})


def test_a_hook_is_called_only_after_the_checks() -> None:
    class Strict(MemoryStore):
        declared = MemoryStore.declared.without("it has no types", Capability.TYPE)

        def write_message(self, draft: Any) -> Any:
            raise AssertionError("called")

    with pytest.raises(Unsupported, match="can't give a type: it has no types"):
        Strict().send(draft(sender="user", recipients=("ann",), content="Hello.", type="question"))
    with pytest.raises(AssertionError, match="called"):
        Strict().send(draft(sender="user", recipients=("ann",), content="Hello."))
