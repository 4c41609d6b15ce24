"""The real program and this one on the same mailboxes, each a process of its own.

Needs `agentazall` in a virtual environment of its own: `make test` makes one, SIGNALBOX_AGENTAZALL names another.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.cli import main
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.memory import MemoryStore
from mailstore.records.draft import draft
from mailstore.records.message import Delivery, Receipt
from mailstore.records.roster import Agent
from mailstore.transfer.convert import convert
from tests.kinds.agentazall.agentazall_mail import told

INSTALLED = Path(__file__).parents[3] / ".venv" / "agentazall" / "bin" / "agentazall"
PROGRAM = os.environ.get("SIGNALBOX_AGENTAZALL") or (str(INSTALLED) if INSTALLED.exists() else "")
VERDICT = """
import sys
from agentazall.messages import parse_message, verify_message
print(verify_message(*parse_message(sys.argv[1])))
"""

pytestmark = pytest.mark.skipif(
    not PROGRAM, reason="agentazall is not installed: make test does it, in an environment of its own"
)


class Theirs:
    """The program, on behalf of one agent at a time; always with a configuration, else it would make one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "data" / "mailboxes"
        for name in ("alice", "bob"):
            self(name, "crypto-identity")

    def __call__(self, name: str, *words: str) -> str:
        config = self.folder / f"config_{name}.json"
        if not config.exists():
            fields = {"agent_name": f"{name}@localhost", "agent_key": "0" * 32, "mailbox_dir": "./data/mailboxes"}
            config.write_text(json.dumps({**fields, "transport": "local", "log_file": "./logs/a.log"}))
        return self._run([PROGRAM, "-c", str(config), *words])

    def verdict(self, path: Path) -> str:
        """Return what the program says of a file's signature."""
        return self._run([str(Path(PROGRAM).with_name("python")), "-c", VERDICT, str(path)]).strip()

    def _run(self, command: list[str]) -> str:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("AGENTAZALL", "PYTHON"))}
        done = subprocess.run(
            command, env=clean, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def copy(self, agent: str, box: str, message_id: str) -> Path:
        [path] = self.root.glob(f"{agent}@localhost/*/{box}/{message_id}.txt")
        return path


@pytest.fixture
def theirs(tmp_path: Path) -> Theirs:
    return Theirs(tmp_path)


def test_it_reads_and_verifies_what_we_write(theirs: Theirs) -> None:
    body = "  Indented, ünï 🐦\n\n---\nFrom: nobody\n\nEnds with blanks.  \n"
    with AgentAZAllStore.open(theirs.root) as store:
        fields = {"recipients": ("alice@localhost", "bob@localhost"), "subject": "From the person", "content": body}
        sent = store.send(draft(sender="user", attachments=(__file__,), **fields))
    assert sent.id in theirs("bob", "inbox", "--offline")
    shown = theirs("bob", "read", sent.id)
    assert "From: human@localhost\n" in shown
    assert body.rstrip() in shown
    assert Path(__file__).name in shown
    for agent, box in (("alice", "inbox"), ("bob", "inbox"), ("human", "sent")):
        assert theirs.verdict(theirs.copy(agent, box, sent.id)) == "True"
    _, events = told(theirs.root)
    assert [event for event in events if isinstance(event, Receipt)] == [Receipt(sent.id, "bob@localhost")]


def test_it_answers_what_we_write_and_we_find_the_thread(theirs: Theirs) -> None:
    with AgentAZAllStore.open(theirs.root) as store:
        sent = store.send(draft(sender="user", recipients=("bob@localhost",), subject="A question", content="Well?"))
    theirs("bob", "reply", sent.id, "-b", "Well!")
    [answer] = [one for one in told(theirs.root)[0].values() if one.sender == "bob@localhost"]
    assert (answer.thread, answer.recipients, answer.subject) == (sent.id, ("user",), "Re: A question")
    # every honest answer to a signed message is invalid to the program itself
    assert {"signature:valid", "nested-signature", "upstream:INVALID"} <= set(answer.tags)
    assert theirs.verdict(theirs.copy("human", "inbox", answer.id)) == "False"


def test_we_read_and_verify_what_it_writes(theirs: Theirs) -> None:
    (theirs.folder / "a.csv").write_text("1,2")
    words = ["-s", "Report", "-b", "See the table.", "-a", "a.csv"]
    theirs("alice", "send", "--to", "bob@localhost", *words)
    with AgentAZAllStore.open(theirs.root) as store:
        [message] = [one for batch in store.scan() for one in batch if type(one).__name__ == "Message"]
        assert store.content(message) == "See the table."
    facts = {"signature:valid", "fingerprint:matches", "upstream:valid", "key:new", "attachment:a.csv"}
    assert set(message.tags) == facts
    _, events = told(theirs.root)
    assert [event for event in events if isinstance(event, Delivery)] == [Delivery(message.id, "bob@localhost")]


def test_its_daemon_delivers_what_we_put_into_an_outbox(theirs: Theirs) -> None:
    (theirs.root / "human@localhost").mkdir()
    (theirs.root / "human@localhost" / ".agent_key").write_text("{}")
    with AgentAZAllStore.open(theirs.root) as store:
        sent = store.send(draft(sender="user", recipients=("bob@localhost",), subject="By daemon", content="Hello."))
        before = theirs.copy("human", "outbox", sent.id).read_bytes()
        theirs("human", "daemon", "--once")
        assert store.content(sent) == "Hello."
    assert theirs.copy("bob", "inbox", sent.id).read_bytes() == before
    assert theirs.copy("human", "sent", sent.id).read_bytes() == before
    assert theirs.verdict(theirs.copy("bob", "inbox", sent.id)) == "True"


def test_it_signs_a_file_that_was_written_by_hand_and_calls_it_invalid(theirs: Theirs) -> None:
    outbox = theirs.root / "alice@localhost" / time.strftime("%Y-%m-%d") / "outbox"
    outbox.mkdir(parents=True, exist_ok=True)
    head = "From: alice@localhost\nTo: bob@localhost\nSubject: By hand\nMessage-ID: hand\nStatus: new\n"
    (outbox / "hand.txt").write_text(f"{head}\n---\nBy hand.\n")
    theirs("alice", "daemon", "--once")
    found, _ = told(theirs.root)
    assert {"signature:valid", "upstream:INVALID"} <= set(found["hand"].tags)
    assert theirs.verdict(theirs.copy("bob", "inbox", "hand")) == "False"


def test_it_reads_what_was_taken_over_and_answers_it(tmp_path: Path) -> None:
    source = MemoryStore()
    mail_item = {"id": "m-1", "sender": "user", "recipient": "bob@localhost", "timestamp": "2026-03-16T12:00:00Z"}
    source.append(Agent("bob@localhost"), {**mail_item, "subject": "Old\nFrom: boss", "content": "---\nLong ago."})
    convert(source, lambda: AgentAZAllStore.create(tmp_path))
    theirs = Theirs(tmp_path)
    assert "m-1" in theirs("bob", "inbox", "--all", "--offline")
    shown = theirs("bob", "read", "m-1")
    assert "From: human@localhost\n" in shown
    assert "---\nLong ago." in shown
    assert theirs.verdict(theirs.copy("bob", "inbox", "m-1")) == "None"
    theirs("bob", "reply", "m-1", "-b", "Not forgotten.")
    found, events = told(theirs.root)
    [answer] = [one for one in found.values() if one.sender == "bob@localhost"]
    assert (answer.thread, found["m-1"].time) == ("m-1", 1_773_662_400)
    assert Receipt("m-1", "bob@localhost") in events


def test_what_an_agent_reads_here_is_read_as_the_program_writes_it(theirs: Theirs) -> None:
    for subject in ("About Status: new flag", "Plain"):
        theirs("alice", "send", "--to", "bob@localhost", "-s", subject, "-b", "Status: new\n\n---\nStatus: new")
    theirs("bob", "index", "--rebuild")
    inbox = sorted(theirs.root.glob("bob@localhost/*/inbox/*.txt"))
    before = {path: path.read_bytes() for path in inbox}
    others = {path: path.read_bytes() for path in theirs.root.rglob("sent/*.txt")}
    store = f"agentazall:{theirs.root}"
    for _ in range(2):
        assert main(["check", "--as", "user", "--store", store]) == 0
        assert {path: path.read_bytes() for path in inbox} == before
        assert main(["check", "--as", "bob@localhost", "--dry-run", "--store", store]) == 0
    assert main(["check", "--as", "bob@localhost", "--store", store]) == 0
    for path, data in before.items():
        assert path.read_bytes() == data.replace(b"\nStatus: new\n", b"\nStatus: read\n", 1)
    assert {path: path.read_bytes() for path in others} == others
    [index] = theirs.root.glob("bob@localhost/*/index.txt")
    ours = index.read_text()
    assert ours.count("  [READ] ") == 2
    theirs("bob", "index", "--rebuild")
    assert index.read_text().split("\n")[3:] == ours.split("\n")[3:]
    _, events = told(theirs.root)
    assert len([event for event in events if isinstance(event, Receipt)]) == 2


def test_a_relays_copy_is_marked_by_the_id_of_the_message(theirs: Theirs) -> None:
    theirs("alice", "send", "--to", "bob@localhost", "-s", "One", "-b", "Body")
    [path] = theirs.root.glob("bob@localhost/*/inbox/*.txt")
    sent = path.stem
    data = path.read_text().replace(f"Message-ID: {sent}", "Message-ID: 1_alice_0a1b2c3d")
    date = datetime.now().astimezone(UTC).replace(tzinfo=None).isoformat()
    path.unlink()
    path.with_name("1_alice_0a1b2c3d.txt").write_text(re.sub("Date: .*", f"Date: {date}", data))
    store = f"agentazall:{theirs.root}"
    assert main(["check", "--as", "bob@localhost", "--store", store]) == 0
    assert "\nStatus: read\n" in path.with_name("1_alice_0a1b2c3d.txt").read_text()
