"""What is known of an agent of AgentAZAll: whose key it has, what it says of itself, whose messages it accepts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mailstore.delegating import ReadOnly
from mailstore.kinds.agentazall.signature import fingerprint_of
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.kinds.agentazall.sync.ledger_writer import LedgerWriter
from mailstore.queries.notes import found_notes
from mailstore.queries.query import parse
from mailstore.records.scope import url_of
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from mailstore.steps import at_once
from tests.kinds.agentazall.agentazall_mail import DAY, ROOT, AgentAZAllMail, identity

ANN = "ann@localhost"
NOW = 1_795_300_000.0


def facts(root: Path, name: str) -> dict[str, str]:
    with AgentAZAllStore.open(root) as store:
        list(store.scan())
        return {fact.name: fact.value for fact in store.describe_agent(name)}


def key_file(number: int, **more: object) -> bytes:
    own = identity(number)
    return json.dumps({"private_key_hex": own.seed.hex(), "public_key_hex": own.public.hex(), **more}).encode()


def test_an_agent_of_the_program_is_described_and_no_key_is_shown() -> None:
    with AgentAZAllStore.open(ROOT) as store:
        list(store.scan())
        for agent in ("alice@localhost", "bob@localhost", "carol@localhost"):
            found = store.describe_agent(agent)
            text = "\n".join(fact.value for fact in found)
            for file in (".identity_key", ".agent_key"):
                path = ROOT / agent / file
                held = json.loads(path.read_bytes()) if path.is_file() else {}
                assert held.get("fingerprint", "") in text
                assert not any(held.get(name, "no such key") in text for name in ("private_key_hex", "key"))


def test_its_identity_is_told_with_what_is_wrong_with_it(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.agent(ANN)
    assert facts(mail.root, ANN)["identity"] == "none: its messages are not signed"
    path = mail.put(f"{ANN}/.identity_key", key_file(1, created="2026-11-20T10:00:00", fingerprint="ffff"))
    path.chmod(0o600)
    found = facts(mail.root, ANN)
    assert found["fingerprint"] == fingerprint_of(identity(1).public)
    assert found["identity"] == "its program signs its messages, made 2026-11-20T10:00:00"
    assert found["key"] == ".identity_key claims the fingerprint ffff"
    mail.put(f"{ANN}/.identity_key", key_file(1)).chmod(0o644)
    assert "mode 0644" in facts(mail.root, ANN)["key"]
    for damaged in (b"", b"[]", b'{"private_key_hex": 5}', b"\xff", b'{"a":' + b"[" * 5000):
        mail.put(f"{ANN}/.identity_key", damaged)
        assert ".identity_key" in facts(mail.root, ANN)["identity"]


def test_a_key_that_is_not_the_one_of_its_messages_is_a_warning(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.message(f"{ANN}/sent", "m", identity(1).signed("Signed."), From=ANN, To="bob@localhost")
    mail.put(f"{ANN}/.identity_key", key_file(2)).chmod(0o600)
    assert fingerprint_of(identity(1).public) in facts(mail.root, ANN)["key"]


def test_what_it_remembers_and_the_list_of_its_newest_day_are_shown(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.agent(ANN)
    mail.put(f"{ANN}/2026-11-18/remember/lamps.txt", b"There are 40.")
    mail.put(f"{ANN}/2026-11-19/remember/lamps.txt", b"There are 41.\nOne is broken.")
    mail.put(f"{ANN}/2026-11-18/remember/keys.txt", b"In the drawer.")
    mail.put(f"{ANN}/2026-11-18/remember/none.txt", b" ")
    mail.put(f"{ANN}/2026-11-18/index.txt", b"# old")
    mail.put(f"{ANN}/2026-11-19/index.txt", b"# AgentAZAll Index: ann\n\nINBOX (0):\n  (empty)\n")
    (mail.root / ANN / "2026-11-19" / "remember" / "link.txt").symlink_to("/etc/passwd")
    with AgentAZAllStore.open(mail.root) as store:
        found = store.describe_agent(ANN)
    assert [(fact.value, fact.source) for fact in found if fact.name == "memory"] == [
        ("lamps (2026-11-19): There are 41.\nOne is broken.", f"{ANN}/2026-11-19/remember/lamps.txt"),
        ("keys (2026-11-18): In the drawer.", f"{ANN}/2026-11-18/remember/keys.txt"),
    ]
    [index] = [fact for fact in found if fact.name == "index"]
    assert (index.value[:11], index.source) == ("# AgentAZAl", f"{ANN}/2026-11-19/index.txt")


def test_what_it_says_of_itself_is_the_newest_that_is_not_empty(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.agent(ANN)
    mail.put(f"{ANN}/2026-11-18/who_am_i/identity.txt", b"I am the clerk.\nI keep the books.\n")
    mail.put(f"{ANN}/2026-11-19/who_am_i/identity.txt", b"")
    mail.put(f"{ANN}/2026-11-19/what_am_i_doing/tasks.txt", b"Counting \x1b[31m lamps")
    mail.put(f"{ANN}/2026-11-18/notes/ledger.txt", b"old")
    mail.put(f"{ANN}/2026-11-19/notes/ledger.txt", b"new")
    mail.put(f"{ANN}/2026-11-19/notes/empty.txt", b"")
    mail.put(f"{ANN}/2026-11-18/notes/lamps.txt", b"x" * 100)
    mail.put(f"{ANN}/{DAY}/who_am_i/identity.txt.synced", b"now")
    found = facts(mail.root, ANN)
    assert found["who am I"] == "I am the clerk.\nI keep the books."
    assert found["doing"] == "Counting \x1b[31m lamps", "it is made visible where it is shown"
    assert found["notes"] == "ledger (2026-11-19)\nlamps (2026-11-18)"
    mail.put(f"{ANN}/{DAY}/who_am_i/identity.txt", b"long " * 100_000)
    assert len(facts(mail.root, ANN)["who am I"]) < 9000


def test_whose_messages_its_program_accepts_is_in_its_configuration(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.agent(ANN)
    assert "no config.json" in facts(mail.root, ANN)["filter"]

    def configure(**rules: object) -> str:
        config = {"agent_name": ANN, "mailbox_dir": "data/mailboxes", "address_filter": rules}
        (tmp_path / "config.json").write_text(json.dumps(config))
        return facts(mail.root, ANN)["filter"]

    assert configure(mode="off", blacklist=["*"]) == "off: messages of everybody are accepted"
    assert configure(mode="blacklist", blacklist=["spam@*", "x"]) == "messages from spam@*, x are rejected"
    assert configure(mode="whitelist", whitelist=["bob@*"]) == "only messages from bob@* are accepted"
    assert configure(mode="whitelist") == "messages of everybody are accepted"
    both = configure(mode="whitelist", whitelist=["b"], blacklist=["c"])
    assert both == "only messages from b are accepted, and messages from c are rejected"


def test_who_has_no_folder_is_only_an_address_and_nothing_outside_is_read(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.agent(ANN)
    outside = tmp_path / "outside"
    (outside / DAY / "who_am_i").mkdir(parents=True)
    (outside / DAY / "who_am_i" / "identity.txt").write_text("secret")
    (mail.root / "eve@localhost").symlink_to(outside)
    assert facts(mail.root, "eve@localhost").keys() == {"address", "folder"}
    assert facts(mail.root, "zoe.agenttalk").keys() == {"address", "folder"}
    for name in ("../../outside", "..", "", "/etc", "a\0b", ".identity_key"):
        assert "secret" not in str(facts(mail.root, name))


def test_which_of_its_accounts_are_cut_off_since_when(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.agent(ANN)
    ledger = LedgerWriter(mail.root.resolve())
    for row in ((ANN, "relay a", 0, 1e9, 1e9, "no answer", 1e9 + 60), (ANN, "imap b", 1, 1e9, 1e9, "", None)):
        ledger._db.execute("INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    ledger._db.execute("INSERT INTO accounts VALUES ('bob@localhost', 'ftp c', 0, 1, 1, 'x', 2)")
    ledger.close()
    with AgentAZAllStore.open(mail.root) as store:
        accounts = [(fact.value, fact.is_warning) for fact in store.describe_agent(ANN) if fact.name == "account"]
    (up, is_up_warned), (down, is_down_warned) = accounts
    assert up.startswith("imap b: reachable since 2001-09-")
    assert down.startswith("relay a: cut off since 2001-09-")
    assert "(no answer); next try" in down
    assert (is_up_warned, is_down_warned) == (False, True)


def test_stores_that_stand_for_others_pass_it_on(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.agent(ANN)
    with open_store(url_of({"lab": f"agentazall:{mail.root}", "memory": "memory:"})) as store:
        for asked in (store, ReadOnly(store, "read-only")):
            assert asked.describe_agent(f"lab/{ANN}")[0].value == ANN
            assert not asked.describe_agent("memory/x")
            assert not asked.describe_agent("nowhere/x")


@pytest.fixture
def noted(tmp_path: Path) -> AgentAZAllMail:
    """Return a mailbox whose agents keep texts beside their mail, and links that lead out of it."""
    mail = AgentAZAllMail(tmp_path)
    mail.message(f"{ANN}/inbox", "m", "A message about lamps.")
    mail.put(f"{ANN}/2026-11-18/remember/lamps.txt", b"There are 40\nred LAMPS.")
    mail.put(f"{ANN}/2026-11-19/notes/oil.txt", b"Oil for the lamps.")
    mail.put(f"{ANN}/2026-11-19/index.txt", b"INBOX (1):\n  Subject: lamps")
    mail.put("bob@localhost/2026-11-18/what_am_i_doing/tasks.txt", b"Counting lamps.")
    mail.put("bob@localhost/2026-11-18/who_am_i/identity.txt", b" ")
    mail.put("bob@localhost/2026-11-18/remember/lamps.tmp", b"lamps, half written")
    (tmp_path / "elsewhere.txt").write_text("lamps of somebody else")
    (mail.root / ANN / "2026-11-19" / "notes" / "link.txt").symlink_to(tmp_path / "elsewhere.txt")
    (mail.root / "bob@localhost" / "2026-11-19").symlink_to(mail.root / ANN / "2026-11-19")
    return mail


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("lamps", "memory note index task"),
        ("red", "memory"),
        ('"40 red"', "memory"),
        ("lamps -red from:ann@localhost", "note index"),
        ("type:memory", "memory"),
        ("lamps after:2026-11-19", "note index"),
        ("lamps to:ann@localhost", ""),
        ("lamps is:unread", ""),
        ("lamps -is:unread type:task", "task"),
        ("letter", ""),
    ],
)
def test_what_agents_keep_beside_their_mail_is_searched(query: str, found: str, noted: AgentAZAllMail) -> None:
    with AgentAZAllStore.open(noted.root) as store:
        mailbox = Mailbox()
        for batch in store.scan():
            mailbox.fold(batch, NOW)
        batches = list(at_once(found_notes(parse(query, NOW), store.agent_notes, mailbox, NOW)))
    assert {note.kind for batch in batches for note in batch} == set(found.split())


def test_stores_that_stand_for_others_pass_on_what_agents_keep(noted: AgentAZAllMail) -> None:
    with open_store(url_of({"lab": f"agentazall:{noted.root}", "memory": "memory:"})) as store:
        for asked in (store, ReadOnly(store, "read-only")):
            [task] = [note for note in asked.agent_notes() if note.kind == "task"]
            assert (task.agent, task.title, task.day) == ("lab/bob@localhost", "tasks", "2026-11-18")
            assert task.source == "lab/bob@localhost/2026-11-18/what_am_i_doing/tasks.txt"
