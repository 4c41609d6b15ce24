"""The original program on one machine and our sync on another, with its own relay and FTP server between them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from console.cli import main
from mailstore.kinds.agentazall.message_file import parse
from tests.kinds.agentazall.agentazall_mail import told
from tests.kinds.agentazall.sync.rig import DAY, Machine
from tests.servers.agentazall_programs import AgentRelay, agentazall_python
from tests.servers.ftp_servers import FtpPlace

ANN, BOB = "inga.agenttalk", "ivor.agenttalk"


def config_for(folder: Path, name: str, relay: AgentRelay, ftp: FtpPlace) -> Path:
    """Write a config.json that both programs understand, with a relay and an FTP server."""
    server = {"host": "127.0.0.1", "port": ftp.port, "user": ftp.username, "password": ftp.password}
    fields: dict[str, Any] = {
        "agent_name": name,
        "agent_key": "0" * 32,
        "mailbox_dir": "./data/mailboxes",
        "transport": "ftp",
        "ftp": server,
        "ftp_servers": [server],
        "relays": [{"server": relay.url, "token": relay.token(name.partition(".")[0]), "address": name}],
        "log_file": "./log.txt",
    }
    path = folder / "config.json"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(fields))
    path.chmod(0o600)
    return path


def original(config: Path, *words: str) -> str:
    """Run the original program."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("AGENTAZALL", "PYTHON"))}
    command = [str(agentazall_python()), "-m", "agentazall", "-c", str(config), *words]
    done = subprocess.run(
        command, env=env, cwd=config.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def inbox_of(root: Path, name: str) -> list[Path]:
    return sorted(root.glob(f"{name}/*/inbox/*.txt"))


def test_messages_go_both_ways_by_relay_and_ftp_at_once_and_are_shown_once(
    tmp_path: Path, agentazall_relay: AgentRelay, original_ftp: FtpPlace, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = config_for(tmp_path / "theirs", ANN, agentazall_relay, original_ftp)
    ours = Machine(tmp_path / "ours", BOB)
    ours.identify(BOB, 7)
    config = config_for(tmp_path / "ours", BOB, agentazall_relay, original_ftp)
    Machine(tmp_path / "theirs", ANN).identify(ANN, 8)
    data = bytes(range(256)) * 30
    (tmp_path / "blob.bin").write_bytes(data)
    original(theirs, "send", "--to", BOB, "-s", "Grüße", "-b", "By two ways ✓", "-a", str(tmp_path / "blob.bin"))

    assert main(["sync", str(config), "--once"]) == 0
    [came] = inbox_of(ours.root, BOB)
    mail_item = parse(came.read_bytes())
    assert (mail_item.get("From"), mail_item.get("Subject")) == (ANN, "Grüße")
    assert "By two ways ✓" in mail_item.body
    assert (came.with_suffix("") / "blob.bin").read_bytes() == data
    [message] = [each for each in told(ours.root)[0].values() if each.sender == ANN]
    assert "signature:valid" in message.tags
    assert main(["sync", str(config), "--once"]) == 0
    assert inbox_of(ours.root, BOB) == [came]

    answer = ours.write(BOB, ANN, "Our answer ✓")
    ours.attach(answer, "a.txt", b"attached")
    assert main(["sync", str(config), "--once"]) == 0
    assert list(answer.parent.glob("*.txt")) == []
    original(theirs, "daemon", "--once")
    root = tmp_path / "theirs" / "data" / "mailboxes"
    copies = inbox_of(root, ANN)
    # the original program itself does not recognise the second copy
    assert len(copies) == 2
    bodies = {parse(each.read_bytes()).body for each in copies}
    assert len(bodies) == 1
    assert "Our answer ✓" in bodies.pop()
    assert [(each.with_suffix("") / "a.txt").read_bytes() for each in copies] == [b"attached"] * 2
    # it has verified our signature: only then it notes the key
    [key] = json.loads((root / ANN / ".keyring.json").read_text()).values()
    assert key["addresses"] == [BOB]


def test_the_lists_of_days_are_those_of_the_original_program(tmp_path: Path) -> None:
    machine = Machine(tmp_path, BOB, ANN)
    config = tmp_path / "config.json"
    fields = {"agent_name": BOB, "agent_key": "0" * 32, "mailbox_dir": "./data/mailboxes", "transport": "local"}
    config.write_text(json.dumps({**fields, "log_file": "./log.txt"}))
    config.chmod(0o600)
    for number, date in enumerate(("2026-11-20T20:49:16.845840", "Fri, 20 Nov 2026 20:49:59 +0000", "yesterday", "")):
        machine.write(BOB, ANN, Date=date, Status="read" if number % 2 else "new")
    machine.write(BOB, "nowhere.agenttalk", Subject="", Attachments="a.txt", name="held")
    machine.write(ANN, BOB, "One", Subject="Ünï", Attachments="a.txt", name="with")
    machine.attach(machine.root / ANN / DAY / "outbox" / "with.txt", "a.txt", b"1")
    home = machine.root / BOB / DAY
    for file, text in (
        ("notes/plan.txt", "12345"),
        ("remember/long.txt", f"\n {'w' * 300}\nmore"),
        ("remember/none.txt", ""),
        ("who_am_i/identity.txt", ""),
        ("what_am_i_doing/tasks.txt", "x"),
        ("inbox/odd.txt", "From: a\nsubject: small\nFrom: b\n\n---\nFrom: c\n"),
        ("inbox/none.txt", "no header"),
    ):
        (home / file).parent.mkdir(exist_ok=True)
        (home / file).write_text(text)
    assert main(["sync", str(machine.root), "--once"]) == 0

    def listed() -> list[str]:
        return [line for line in (home / "index.txt").read_text().split("\n") if not line.startswith("# Updated: ")]

    ours = listed()
    assert {"INBOX (2):", "SENT (4):", "OUTBOX (1):"} <= set(ours)
    original(config, "index", "--rebuild")
    assert listed() == ours


def test_a_list_is_written_when_its_day_has_changed_and_only_then(tmp_path: Path) -> None:
    machine = Machine(tmp_path, BOB, ANN)
    old = machine.root / BOB / "2026-01-02" / "inbox"
    old.mkdir(parents=True)
    machine.once()
    [index, other] = [machine.root / BOB / day / "index.txt" for day in (DAY, "2026-01-02")]
    before = [path.stat().st_ino for path in (index, other)]
    assert "INBOX (0):\n  (empty)\n" in index.read_text()
    machine.once()
    assert [path.stat().st_ino for path in (index, other)] == before
    machine.write(ANN, BOB)
    (old / "m.txt").write_bytes(b"From: x\nSubject: Old\n\n---\n")
    machine.once()
    assert "INBOX (1):\n  [NEW] " in index.read_text()
    assert "  [?] ??:?? | From: x | Subject: Old | inbox/m.txt\n" in other.read_text()
