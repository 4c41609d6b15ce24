"""The command `signalbox sync`, with the settings of a person and those of the original program."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

from console.cli import main
from console.errors import UsedWrongly
from console.settings.server_tables import use_config_file
from mailstore.kinds.agentazall.rules import Filter
from mailstore.kinds.agentazall.spools import is_at_work, sync_lock
from mailstore.kinds.agentazall.sync.chosen_plan import plan_for
from mailstore.kinds.agentazall.sync.engine import SyncEngine
from mailstore.kinds.agentazall.sync.their_config import plan_in
from mailstore.kinds.agentazall.transports.transport import IncomingMessage
from tests.kinds.agentazall.sync.rig import Machine, Office
from tests.schemas import faults_in

ALICE, BOB = "alice@localhost", "bob@localhost"


def settings(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "home" / "config" / "signalbox" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def their_config(machine: Machine, **more: object) -> Path:
    path = machine.root.parent.parent / "config.json"
    config = {"agent_name": ALICE, "mailbox_dir": "./data/mailboxes", "transport": "local", **more}
    path.write_text(json.dumps(config))
    path.chmod(0o600)
    return path


def test_once_delivers_between_agents_and_says_what_was_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    machine.write(ALICE, BOB, "By hand")
    assert main(["sync", str(machine.root), "--once"]) == 0
    assert capsys.readouterr().out == "1 sent, 0 received\n"
    assert machine.bodies(BOB) == ["By hand"]
    assert main(["sync", f"agentazall:{machine.root}", "--once", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert not faults_in("sync", told)
    assert told == {"sent": 0, "received": 0, "waiting": 0, "refused": 0, "troubles": []}


@pytest.mark.parametrize("command", ["checkpoint", "bye"])
def test_what_an_agent_wrote_is_sent_before_its_session_ends_or_at_a_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    machine.write(ALICE, BOB, "By hand")
    machine.write(BOB, ALICE, "Not hers to send")
    words = [command, "--as", ALICE, "--store", f"agentazall:{machine.root}"]
    with sync_lock(machine.root / ALICE):
        main(words)
    assert machine.bodies(BOB) == []
    wrong = settings(tmp_path, "[transports]\nevery_seconds = 0\n")
    capsys.readouterr()
    assert main(words) == 1
    assert "every_seconds must be a number above 0" in capsys.readouterr().err
    wrong.unlink()
    assert main(words) == 1, "Bob's message is unread"
    assert (machine.bodies(BOB), machine.bodies(ALICE)) == (["By hand"], [])


def test_the_original_programs_config_says_whose_mail_is_carried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    machine.write(ALICE, BOB)
    machine.write(BOB, ALICE)
    assert main(["sync", str(their_config(machine)), "--once"]) == 0
    assert capsys.readouterr().out == "1 sent, 0 received\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[transports]\nevery_seconds = 0\n", "config.toml, every_seconds must be a number above 0"),
        ('[[transports.relay]]\nagent = "a"\n', "relay[0] misses server"),
        ('[[transports.ftp]]\nagent = "a"\nserver = "h"\nport = "x"\n', "ftp[0].port must be a whole number"),
        ('[[transports.ftp]]\nagent = "a"\nserver = "h"\nsecret = "x"\n', 'ftp[0] has an unknown field "secret"'),
        (
            '[[transports.relay]]\nagent = "a"\nserver = "h:1"\nsecret_env = "X"\n',
            "server of [[transports.relay]] number 1",
        ),
        ('[[transports.relay]]\nagent = "a"\nserver = "https://h"\n', "[[transports.relay]] number 1 in"),
        (
            '[[transports.smtp]]\nagent = "a"\nserver = "h"\nusername = "u"\n',
            "has a username and no password",
        ),
        ('[[transports.ftp]]\nagent = "../x"\nserver = "h"\n', 'is "../x", not the address of an agent'),
        ("[transports\n", "invalid TOML"),
    ],
)
def test_a_wrong_setting_is_named_with_its_file_and_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    machine = Machine(tmp_path, ALICE)
    settings(tmp_path, text)
    assert main(["sync", str(machine.root), "--once"]) in (1, 2)
    said = capsys.readouterr().err
    assert words in said
    assert "config.toml" in said


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"transport": 3}, "must be text"),
        ({"transport": "ftp", "ftp": {"host": "h", "port": "21"}}, "must be a port"),
        ({"relays": {}}, "must be a list"),
        ({"relays": [3]}, "must be an object"),
        ({"sync_interval": "5"}, "sync_interval in"),
        ({"agent_name": "../x"}, "agent_name in"),
        ({"mailbox_dir": ""}, "mailbox_dir in"),
    ],
)
def test_a_wrong_value_in_their_config_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: dict[str, object], words: str
) -> None:
    machine = Machine(tmp_path, ALICE)
    assert main(["sync", str(their_config(machine, **more)), "--once"]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert "config.json" in said


def test_a_config_beside_the_mailboxes_that_is_of_no_use_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = Machine(tmp_path, ALICE)
    path = their_config(machine, agent_name="nina@localhost")
    (path.parent / "config-2.json").write_text("{torn")
    assert main(["sync", str(machine.root), "--once"]) == 0
    said = capsys.readouterr().err
    assert f"nina@localhost was left aside: it has no folder in {machine.root}" in said
    assert f"{path.parent / 'config-2.json'} was left aside: it is not JSON" in said


def test_a_config_with_passwords_that_others_can_read_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = Machine(tmp_path, ALICE)
    # a closed port of this machine
    ftp = {"host": "127.0.0.1", "port": 1, "user": "u", "password": "s3cret"}
    path = their_config(machine, transport="ftp", ftp=ftp)
    path.chmod(0o644)
    assert main(["sync", str(path), "--once"]) == 1
    said = capsys.readouterr()
    assert f"{path} holds passwords, and others can read it: chmod 600 {path}" in said.err
    assert "s3cret" not in said.err + said.out


def test_another_kind_of_mailbox_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sync", f"haak:{tmp_path}", "--once"]) == 1
    assert "name a mailbox of AgentAZAll" in capsys.readouterr().err


def test_the_status_says_what_is_cut_off_and_what_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    office, away = Office("office"), Office("away")
    away.down = f"post {ALICE}@away refuses connections: start the server"
    office.refuses = {BOB}
    machine = Machine(tmp_path, ALICE, offices=(office, away))
    assert main(["sync", "status", str(machine.root)]) == 0
    assert "No sync has carried the mail of" in capsys.readouterr().out
    machine.write(ALICE, BOB, name="a" * 12)
    office.put(ALICE, IncomingMessage("k", "eve@x.org", (ALICE,), "S", "", "\x1b[31mBody"))
    machine.filter = Filter("blacklist", ("eve@*",))
    machine.once()
    before = {path: path.stat().st_mtime_ns for path in machine.root.rglob("*")}
    assert main(["sync", "status", str(machine.root)]) == 1
    said = capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in machine.root.rglob("*")} == before
    assert f"{ALICE}: no sync is at work, last look 2" in said
    assert f"  post {ALICE}@office: works\n" in said
    assert f"  post {ALICE}@away: cut off since 2" in said
    assert "(refuses connections: start the server)" in said
    assert f"{'a' * 12} from {ALICE} to {BOB} by post {ALICE}@office: refused, 1 try (office knows no {BOB})" in said
    assert "from eve@x.org: the address filter blocks eve@x.org" in said
    assert main(["sync", "status", str(machine.root), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not faults_in("sync", found)
    assert [(each["transport"], each["is_up"]) for each in found["accounts"]] == [
        (f"post {ALICE}@away", False),
        (f"post {ALICE}@office", True),
    ]
    assert {each["state"] for each in found["letters"]} == {"waiting", "refused"}


def test_a_sync_begins_while_somebody_asks_whether_one_is_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sync_lock(tmp_path):
        pass
    with (tmp_path / ".signalbox" / "lock").open("rb") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        monkeypatch.setattr("mailstore.files.process_lock.time.sleep", lambda _: fcntl.flock(looking, fcntl.LOCK_UN))
        with sync_lock(tmp_path):
            assert is_at_work(tmp_path)


def test_a_second_sync_says_who_is_at_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    machine = Machine(tmp_path, ALICE)
    with SyncEngine(machine.plan(), machine.tell):
        assert main(["sync", str(machine.root), "--once"]) == 1
    assert f"another sync (process {os.getpid()}) carries the mail of {ALICE}" in capsys.readouterr().err


def test_secrets_are_in_no_plan(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALICE)
    relay = {"server": "https://relay.example.org", "token": "s3cret"}
    path = their_config(machine, relays=[relay], email={"password": "s3cret"})
    plan = plan_in(path)
    assert len(plan.agents[0].accounts) == 1
    assert "s3cret" not in repr(plan)
    assert "s3cret" not in repr(plan.agents[0].accounts[0].open())


def test_a_folder_with_a_tree_for_each_transport_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("relay", "ftp"):
        Machine(tmp_path / "all" / name, ALICE)
    assert main(["sync", str(tmp_path / "all"), "--once"]) == 1
    assert "holds several trees (relay/data/mailboxes, ftp/data/mailboxes): name one of them" in capsys.readouterr().err


def test_the_settings_say_whose_mail_is_taken_in(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    use_config_file()
    settings(tmp_path, '[transports.filter]\nmode = "whitelist"\nwhitelist = ["*@example.org"]\n')
    plan = plan_for(str(machine.root), str)
    assert {agent.filter for agent in plan.agents} == {Filter("whitelist", (), ("*@example.org",))}
    (tmp_path / "home" / "config" / "signalbox" / "config.toml").write_text('[transports.filter]\nmode = "both"\n')
    with pytest.raises(UsedWrongly, match=r"filter\.mode can't contain"):
        plan_for(str(machine.root), str)


def test_an_account_of_the_settings_is_opened_with_its_fields(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    folder = tmp_path / "home" / "config" / "signalbox"
    use_config_file()
    settings(
        tmp_path,
        f'[transports]\nmailbox = "{machine.root}"\nevery_seconds = 3\n'
        f'[[transports.ftp]]\nagent = "{ALICE}"\nserver = "ftp.example.org"\nusername = "u"\nsecret_file = "s"\n'
        f'[[transports.imap]]\nagent = "{ALICE}"\nserver = "imap.example.org"\nsecurity = "starttls"\n',
    )
    (folder / "s").write_text("pw")
    plan = plan_for("", str)
    assert (plan.root, plan.every_seconds, [agent.name for agent in plan.agents]) == (machine.root, 3, [ALICE])
    labels = [account.open().label for account in plan.agents[0].accounts]
    assert labels == [f"imap {ALICE} at imap.example.org:143", f"ftp {ALICE} at ftp.example.org:21"]
