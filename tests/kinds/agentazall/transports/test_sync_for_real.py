"""`signalbox sync` with AgentAZAll's own servers, and its own daemon on the other side."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from console.cli import main
from mailstore.kinds.agentazall.ledger import SendState, arrivals_of, ways_of
from mailstore.kinds.agentazall.names import plain_of
from tests.kinds.agentazall.agentazall_mail import told
from tests.servers.agentazall_programs import AgentRelay, agentazall_python, free_port
from tests.servers.mail_servers import PASSWORD, AgentMailServer

DAY = time.strftime("%Y-%m-%d")
CSV = b"1,2\r\n\x00\xff"


class Person:
    """An agent on a machine of its own, with an account on a relay and one on an e-mail server."""

    def __init__(self, folder: Path, name: str, relay: AgentRelay, mail: AgentMailServer) -> None:
        self.name = name
        self.root = folder / name / "data" / "mailboxes"
        self.home = self.root / f"{name}@localhost"
        for box in ("inbox", "outbox", "sent"):
            (self.home / DAY / box).mkdir(parents=True)
        self.config = folder / name / "config.json"
        mail.account(self.address)
        self.settings = {
            "agent_name": self.address,
            "agent_key": "0" * 32,
            "mailbox_dir": "./data/mailboxes",
            "transport": "email",
            "relays": [{"server": relay.url, "token": relay.token(name), "address": name}],
            "email_accounts": [
                {
                    "smtp_server": "127.0.0.1", "smtp_port": mail.smtp, "smtp_ssl": False, "smtp_starttls": False,
                    "imap_server": "127.0.0.1", "imap_port": mail.imap, "imap_ssl": False, "imap_folder": "INBOX",
                    "use_pop3": False, "username": self.address, "password": PASSWORD, "sync_special_folders": False,
                }
            ],
            "ftp_servers": [],
        }  # fmt: skip
        self.write_config()

    @property
    def address(self) -> str:
        return f"{self.name}@localhost"

    def write_config(self) -> None:
        self.config.write_text(json.dumps(self.settings))
        self.config.chmod(0o600)

    def write(self, to: str, body: str, name: str, file: bytes = b"") -> None:
        head = f"From: {self.address}\nTo: {to}\nSubject: About {name}\nDate: {DAY} 12:00:00\nMessage-ID: {name}\n"
        outbox = self.home / DAY / "outbox"
        if file:
            (outbox / name).mkdir()
            (outbox / name / "r.csv").write_bytes(file)
        path = outbox / f"{name}.txt"
        path.write_text(f"{head}Status: new\n{'Attachments: r.csv' if file else 'X: y'}\n\n---\n{body}")
        os.utime(path, (time.time() - 60, time.time() - 60))

    def identify(self, number: int) -> None:
        (self.home / ".identity_key").write_text(json.dumps({"private_key_hex": f"{number:02x}" * 32}))

    def sync(self) -> int:
        return main(["sync", str(self.config), "--once"])

    def daemon(self, *words: str) -> None:
        """Run the original program."""
        command = [str(agentazall_python()), "-m", "agentazall", "-c", str(self.config), *words]
        env = {"PATH": os.environ["PATH"], "HOME": str(self.root)}
        subprocess.run(command, env=env, cwd=self.root, check=True, capture_output=True, timeout=60)

    def inbox(self) -> list[Path]:
        return sorted(self.home.glob("*/inbox/*.txt"))


@pytest.fixture
def people(
    tmp_path: Path, agentazall_relay: AgentRelay, agentazall_mail: AgentMailServer, new_name: Callable[[str], str]
) -> tuple[Person, Person]:
    ann, ben = (Person(tmp_path, new_name(name), agentazall_relay, agentazall_mail) for name in ("ann", "ben"))
    return ann, ben


def test_a_message_by_relay_and_e_mail_is_kept_once_with_its_attachment(people: tuple[Person, Person]) -> None:
    ann, ben = people
    ann.identify(1)
    ann.write(ben.address, "Both ways\n--- Original from x ---", "a1b2c3d4e5f6", CSV)
    assert ann.sync() == 0
    assert [way.state for way in ways_of(ann.root, "a1b2c3d4e5f6")] == [SendState.DELIVERED] * 2
    assert ben.sync() == 0
    (path,) = ben.inbox()
    assert path.stem == "a1b2c3d4e5f6"
    assert (path.with_suffix("") / "r.csv").read_bytes() == CSV
    (message,) = told(ben.root)[0].values()
    assert {"signature:valid", "fingerprint:matches"} <= {*message.tags}
    assert plain_of(message.sender) == ann.name
    assert sorted(str(each.state) for each in arrivals_of(ben.root, message.id)) == ["duplicate", "kept"]


def test_with_one_server_away_mail_goes_by_the_other(
    people: tuple[Person, Person], capsys: pytest.CaptureFixture[str]
) -> None:
    ann, ben = people
    ann.settings["relays"] = [{"server": f"http://127.0.0.1:{free_port()}", "token": "t0ken", "address": ann.name}]
    ann.write_config()
    ann.write(ben.address, "By e-mail", "b1b2c3d4e5f6")
    assert ann.sync() == 1
    said = capsys.readouterr()
    assert "1 sent, 0 received, 1 account fails" in said.out
    assert "refuses connections" in said.err
    assert "t0ken" not in said.out + said.err
    assert not list((ann.home / DAY / "outbox").iterdir())
    assert ben.sync() == 0
    assert [path.read_text().partition("\n---\n")[2] for path in ben.inbox()] == ["By e-mail"]


def test_the_original_daemon_and_ours_understand_each_other(people: tuple[Person, Person]) -> None:
    ann, ben = people
    ann.identify(1)
    ben.identify(2)
    ann.daemon("send", "--to", ben.address, "-s", "From theirs", "-b", "By e-mail, without an id")
    assert ben.sync() == 0
    assert len(ben.inbox()) == 1
    assert "signature:valid" in next(iter(told(ben.root)[0].values())).tags
    ben.write(ann.address, "By both", "c1b2c3d4e5f6")
    assert ben.sync() == 0
    ann.daemon("inbox")
    # the original program gives each copy an id of its own; the console joins them
    copies = ann.inbox()
    assert len(copies) == 2
    assert {path.read_text().count("By both") for path in copies} == {1}
