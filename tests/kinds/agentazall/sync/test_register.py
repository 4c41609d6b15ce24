"""`signalbox sync register` with AgentAZAll's own relay."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from console.cli import main
from tests.kinds.agentazall.sync.rig import Machine
from tests.schemas import faults_in
from tests.servers.agentazall_programs import AgentRelay
from tests.servers.scripted import http, scripted_server


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "home" / "config" / "signalbox" / "config.toml"


def test_an_agent_is_registered_and_its_mail_goes_by_the_relay(
    agentazall_relay: AgentRelay, tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ann, bob = "ann.agenttalk", "bob.agenttalk"
    here, there = Machine(tmp_path / "here", ann), Machine(tmp_path / "there", bob)
    assert main(["sync", "register", agentazall_relay.url, ann]) == 0
    said = capsys.readouterr().out
    assert "Registered ann.agenttalk as ann.agenttalk. The token is in " in said
    assert f"The account was added to {config}" in said
    [secret] = (config.parent / "secrets").iterdir()
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert stat.S_IMODE(secret.parent.stat().st_mode) == 0o700
    token = secret.read_text().strip()
    assert token
    assert token not in said + config.read_text()
    here.write(ann, bob, "By the relay")
    assert main(["sync", str(here.root), "--once"]) == 0
    assert "1 refused" in capsys.readouterr().out  # nobody there is called so yet
    ours = config.read_text()
    config.unlink()
    assert main(["sync", "register", agentazall_relay.url, bob, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["address"] == bob
    assert not faults_in("sync", told)
    theirs = config.read_text()
    config.write_text(ours)
    assert main(["sync", str(here.root), "--once", "--again"]) == 0
    config.write_text(theirs)
    assert main(["sync", str(there.root), "--once"]) == 0
    assert there.bodies(bob) == ["By the relay"]


def test_settings_are_kept_as_they_are(
    agentazall_relay: AgentRelay, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config.parent.mkdir(parents=True)
    config.write_text("# mine\nbell = true")
    assert main(["sync", "register", agentazall_relay.url, "cyd@localhost"]) == 0
    text = config.read_text()
    assert text.startswith("# mine\nbell = true\n\n[[transports.relay]]\n")
    assert 'address = "cyd.agenttalk"' in text
    config.write_text("[transports]\nrelay = []\n")
    assert main(["sync", "register", agentazall_relay.url, "dee@localhost"]) == 0
    told = capsys.readouterr()
    assert config.read_text() == "[transports]\nrelay = []\n"
    assert "[[transports.relay]]" in told.out
    assert "can't take a table" in told.err


def test_a_token_is_never_overwritten_and_none_leaves_no_file(
    agentazall_relay: AgentRelay, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sync", "register", agentazall_relay.url, "fay"]) == 0
    [secret] = (config.parent / "secrets").iterdir()
    before = secret.read_bytes()
    assert main(["sync", "register", agentazall_relay.url, "fay"]) == 1
    assert "holds a token already" in capsys.readouterr().err
    assert secret.read_bytes() == before
    secret.unlink()
    assert main(["sync", "register", agentazall_relay.url, "fay"]) == 1
    assert "the name is taken on this relay" in capsys.readouterr().err
    with scripted_server(http(b'{"error": "later"}', "503 Unavailable")) as port:
        assert main(["sync", "register", f"http://127.0.0.1:{port}", "gus"]) == 1
    assert "the relay is not available" in capsys.readouterr().err
    assert list(secret.parent.iterdir()) == []
    secret.write_bytes(b"\n" * 100)  # what a run leaves that is killed before the answer
    assert main(["sync", "register", agentazall_relay.url, "../x"]) == 2
    assert main(["sync", "register", agentazall_relay.url]) == 2
    assert main(["sync", "register", "http://relay.example", "ann"]) == 1
    assert "without encryption" in capsys.readouterr().err
