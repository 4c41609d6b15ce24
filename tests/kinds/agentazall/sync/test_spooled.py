"""What a relay handed out, and so deleted, is listed until it is in an inbox, whatever the settings said meanwhile."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from console.cli import main
from mailstore.kinds.agentazall.sync.inbox import AccountInbox
from tests.kinds.agentazall.agentazall_mail import told
from tests.kinds.agentazall.sync.rig import Machine
from tests.kinds.agentazall.transports.test_relay_hostile import answer, message
from tests.servers.scripted import http, scripted_server

ANN, BOB = "ann.agenttalk", "bob.agenttalk"
NOTHING = http(answer())


def config(machine: Machine, agent: str, port: int, address: str, token: str = "t") -> None:
    path = machine.root.parent.parent / f"config-{agent}.json"
    relay = {"server": f"http://127.0.0.1:{port}", "token": token, "address": address}
    fields = {"agent_name": agent, "mailbox_dir": "./data/mailboxes", "transport": "local", "relays": [relay]}
    path.write_text(json.dumps(fields))
    path.chmod(0o600)


def spooled(machine: Machine) -> list[Path]:
    return sorted(machine.root.glob("*/.signalbox/spool-*/*.[ab]*"))


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_was_fetched_by_another_address_is_listed_and_comes_once_the_address_fits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_whole: bool
) -> None:
    machine = Machine(tmp_path, BOB)
    data = answer(message(1), message(2))
    first = http(data) if is_whole else http(data[:-40], claims=len(data))
    with scripted_server(first, NOTHING) as port:
        config(machine, BOB, port, "eve.agenttalk")
        assert main(["sync", str(machine.root), "--once"]) == 1
        [path] = spooled(machine)
        count = 2 if is_whole else 1
        assert f"({count} messages fetched with it are in {path})" in capsys.readouterr().err
        assert machine.files(BOB, "inbox") == {}
        store = f"agentazall:{machine.root}"
        main(["status", "--store", store])
        assert " · 1 unreadable\n" in capsys.readouterr().out
        assert main(["doctor", "--store", store]) == 1
        words = f"what a relay handed out for {BOB} is not in the inbox"
        assert f"{path.relative_to(machine.root)}:1: unreadable: {words}" in capsys.readouterr().out
        main(["sync", "status", str(machine.root)])
        assert f"{path}: {count} message{'s' * is_whole} for {BOB}" in capsys.readouterr().out
        main(["sync", "status", str(machine.root), "--json"])
        row = {"agent": BOB, "file": str(path), "relay_agent": BOB, "letters": count}
        assert json.loads(capsys.readouterr().out)["spooled"] == [row]

        config(machine, BOB, port, BOB)
        assert main(["sync", str(machine.root), "--once"]) == 0
    assert len(machine.files(BOB, "inbox")) == count
    assert spooled(machine) == []
    main(["doctor", "--store", store])
    assert "relay" not in capsys.readouterr().out


def test_what_was_fetched_by_anothers_token_comes_to_that_agent_and_stops_nobody_once_it_is_changed(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path, ANN, BOB)
    waiting = {"his": answer(message(1)), "hers": answer(message(5), agent=ANN)}

    def relay(connection: socket.socket) -> None:
        request = connection.recv(1 << 16)
        token = "his" if b"Bearer his" in request else "hers"
        agent = BOB if token == "his" else ANN
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + waiting.pop(token, answer(agent=agent)))

    with scripted_server(relay) as port:
        config(machine, ANN, port, ANN, token="his")
        assert main(["sync", str(machine.root), "--once"]) == 1
        waiting["his"] = answer(message(2))
        assert main(["sync", str(machine.root), "--once"]) == 1
        assert "his" in waiting  # nothing more is fetched with that token
        config(machine, ANN, port, ANN, token="hers")
        assert main(["sync", str(machine.root), "--once"]) == 0
        assert (machine.bodies(ANN), len(spooled(machine))) == (["text 5 ✓"], 1)
        config(machine, BOB, port, BOB, token="his")
        assert main(["sync", str(machine.root), "--once"]) == 0
    assert machine.bodies(BOB) == ["text 1 ✓", "text 2 ✓"]
    assert spooled(machine) == []
    assert not list(machine.root.rglob("*.token"))


def test_what_another_account_takes_in_meanwhile_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path, BOB)
    listed = AccountInbox.spooled

    def and_one_that_is_gone(inbox: AccountInbox) -> list[Path]:
        return [machine.root / BOB / ".signalbox" / "spool-0" / "000000000001.bytes", *listed(inbox)]

    monkeypatch.setattr(AccountInbox, "spooled", and_one_that_is_gone)
    with scripted_server(NOTHING) as port:
        config(machine, BOB, port, BOB)
        assert main(["sync", str(machine.root), "--once"]) == 0


def test_what_lies_in_a_spool_while_a_sync_works_on_it_is_no_problem(tmp_path: Path) -> None:
    from mailstore.kinds.agentazall.spools import sync_lock

    machine = Machine(tmp_path, BOB)
    path = machine.root / BOB / ".signalbox" / "spool-0" / "000000000001.bytes"
    with sync_lock(machine.root / BOB):
        path.parent.mkdir()
        path.write_bytes(answer(message(1)))
        assert not [each for each in told(machine.root)[1] if type(each).__name__ == "Problem"]
        os.utime(path, (1, 1))
        assert [each for each in told(machine.root)[1] if type(each).__name__ == "Problem"]
