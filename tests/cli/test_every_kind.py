"""An agent's mail in a mailbox of any kind: printed once, waited for, and a reason to wake it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from console.cli import wake
from console.hooks import clock
from console.hooks import run as hooks
from console.hooks.events import Answer
from mailstore.conformance import Harness
from mailstore.records.scope import url_of
from tests.cli.conftest import Run
from tests.kinds.agent_mail.agent_mail_harness import AgentMailHarness
from tests.kinds.agentazall.agentazall_harness import AgentAZAllHarness
from tests.kinds.agenties.agenties_harness import AgentiesHarness
from tests.kinds.beads.beads_harness import BeadsHarness
from tests.kinds.channels.channels_harness import ChannelsHarness
from tests.kinds.claude_teams.claude_teams_harness import ClaudeTeamsHarness
from tests.kinds.hcom.hcom_harness import HcomHarness
from tests.kinds.mapped.mapped_harness import MappedLinesHarness, MappedRowsHarness
from tests.kinds.neo.neo_harness import NeoHarness
from tests.kinds.omo.omo_harness import OmoHarness
from tests.mailboxes import iso
from tests.mailstore.haak_harness import HaakHarness
from tests.patience import PATIENCE

KINDS: dict[str, Callable[[Path, pytest.MonkeyPatch], Harness]] = {
    "haak": lambda folder, patch: HaakHarness(folder, "table", patch),
    "amendment": lambda folder, patch: HaakHarness(folder, "amendment", patch),
    "channels": lambda folder, patch: ChannelsHarness(folder),
    "claude-teams": ClaudeTeamsHarness,
    "agenties": lambda folder, patch: AgentiesHarness(folder),
    "agentazall": lambda folder, patch: AgentAZAllHarness(folder),
    "agent-mail": AgentMailHarness,
    "neo": NeoHarness,
    "beads": lambda folder, patch: BeadsHarness(folder),
    "hcom": HcomHarness,
    "omo": OmoHarness,
    "mapped-lines": lambda folder, patch: MappedLinesHarness(folder),
    "mapped-rows": lambda folder, patch: MappedRowsHarness(folder),
}
BOB = "bob-00000001"
SHELL = 'echo "$SIGNALBOX_IDS" >> "$1"'


class Box:
    """A mailbox of one kind with two agents, as `--store` takes it."""

    def __init__(self, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder.mkdir()
        self._harness = harness = KINDS[kind](folder, monkeypatch)
        self.url = f"{'haak' if kind == 'amendment' else kind.removesuffix('-lines').removesuffix('-rows')}:"
        self.url += harness.location
        self.reader = f"{'@' * (kind == 'neo')}{BOB}"
        self._count = 0
        harness.make()
        for name in ("ann-00000001", BOB) if kind != "claude-teams" else ():
            times = {"started_at": iso(time.time() - 3600)} if isinstance(harness, HaakHarness) else {}
            harness.agent({"session_id": name, "role": "", "tags": [], "status": "living", **times})

    def send(self, text: str, to: str = BOB) -> None:
        self._count += 1
        moment = iso(time.time() - 100 + self._count)
        record = {"id": f"m{self._count}", "sender": "ann-00000001", "recipient": to, "timestamp": moment}
        self._harness.message({**record, "content": text})

    def close(self) -> None:
        if isinstance(self._harness, (AgentMailHarness, HcomHarness, NeoHarness)):
            self._harness.close()


def check(run: Run, url: str, reader: str) -> list[str]:
    done = run("check", "--as", reader, "--json", "--store", url)
    assert (done.status, done.err) == (0, "")
    return [row["content"].strip() for row in done.document]


@pytest.fixture
def wakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let any mail wake any agent, at once: not every kind has types of mail, or agents that sleep."""
    monkeypatch.setattr(wake, "COALESCE_SECONDS", 0.0)
    monkeypatch.setattr(wake, "is_dormant", lambda agent, now, stale: True)
    monkeypatch.setattr(wake, "waking_mail", lambda mail, types: list(mail))


@pytest.mark.usefixtures("wakes")
@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_gets_its_mail_once_in_each_way(
    run: Run, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = Box(kind, tmp_path / "mail", monkeypatch)
    words = ("--as", box.reader, "--store", box.url)
    mention = f"Would @{BOB} look?"
    box.send("First.")
    box.send("Second.")
    assert check(run, box.url, box.reader) == ["First.", "Second."]
    assert check(run, box.url, box.reader) == []
    timer = threading.Timer(0.05, box.send, (mention, "ann-00000001"))
    timer.start()
    [waited] = run("wait", "--timeout", PATIENCE, "--json", *words).document
    timer.join()
    assert waited["content"].strip() == mention
    log, out = tmp_path / "log", tmp_path / "out"
    assert run("wake", "--once", "--log", log, *words, "--", "sh", "-c", SHELL, "sh", out).status == 0
    assert json.loads(out.read_text()) == [waited["id"]]
    assert check(run, box.url, box.reader) == [mention]
    assert check(run, box.url, box.reader) == []
    box.close()


@pytest.mark.usefixtures("wakes")
def test_an_agent_gets_its_mail_once_among_mailboxes_of_several_kinds(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes = {kind.replace("-", ""): Box(kind, tmp_path / kind, monkeypatch) for kind in ("haak", "channels", "neo")}
    url = url_of({label: box.url for label, box in boxes.items()})
    for label, box in boxes.items():
        reader = f"{label}/{box.reader}"
        box.send("First.")
        assert check(run, url, reader) == ["First."]
        assert check(run, url, reader) == []
        timer = threading.Timer(0.05, box.send, (f"Would @{BOB} look?", "ann-00000001"))
        timer.start()
        [waited] = run("wait", "--timeout", PATIENCE, "--json", "--as", reader, "--store", url).document
        timer.join()
        out = tmp_path / f"{label}-out"
        command = ("--", "sh", "-c", SHELL, "sh", out)
        assert run("wake", "--once", "--log", tmp_path / "log", "--as", reader, "--store", url, *command).status == 0
        assert json.loads(out.read_text()) == [waited["id"]]
        assert check(run, url, reader) == [f"Would @{BOB} look?"]
        assert check(run, box.url, box.reader) == [], "what was read among several is read alone"
        box.close()


def test_a_name_without_a_label_is_the_agent_of_the_mailbox_that_has_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes = {kind: Box(kind, tmp_path / kind, monkeypatch) for kind in ("haak", "neo", "channels")}
    boxes["haak"].send("For bob.")
    boxes["neo"].send("For the other bob.")
    some = url_of({label: boxes[label].url for label in ("haak", "neo")})
    assert check(run, some, BOB) == ["For bob."]
    assert check(run, some, f"@{BOB}") == ["For the other bob."]
    boxes["neo"].close()
    both = url_of({label: boxes[label].url for label in ("haak", "channels")})
    done = run("check", "--as", BOB, "--store", both)
    assert (done.status, done.out) == (1, "")
    assert f'"{BOB}" is an agent of 2 mailboxes: write channels/{BOB} or haak/{BOB}' in done.err


class Hooked:
    """A session of Claude Code whose agent is the one of a box, as far as its hooks can tell."""

    def __init__(self, url: str, reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._words = ["claude-code", "--store", url]
        self._answers: list[Answer] = []
        monkeypatch.setattr(hooks, "_print", self._answers.append)
        monkeypatch.setattr(clock, "start", lambda *_: None)
        monkeypatch.setenv("SIGNALBOX_AGENT", reader)

    def told(self, name: str, **more: str) -> str:
        """Return what the session's model is told at an event."""
        given = {"session_id": "5d1c9f10-3b7e-77d05c1e0b42", "cwd": str(Path.cwd()), "hook_event_name": name, **more}
        assert hooks.run(self._words, json.dumps(given).encode()) == 0
        out = self._answers.pop().out if self._answers else ""
        return str(json.loads(out)["hookSpecificOutput"]["additionalContext"]) if out else ""


@pytest.mark.parametrize("kind", KINDS)
def test_hooks_tell_an_agent_of_its_mail_once(
    run: Run, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = Box(kind, tmp_path / "mail", monkeypatch)
    session = Hooked(box.url, box.reader, monkeypatch)
    box.send("First.")
    told = session.told("SessionStart", source="startup")
    assert told.startswith(f"Signalbox: you are {box.reader}")
    assert "1 unread message from " in told
    assert session.told("PostToolBatch") == ""
    box.send(f"Would @{BOB} look?", "ann-00000001")
    assert f"Signalbox: 1 new message for {box.reader}, from " in session.told("PostToolBatch")
    assert session.told("PostToolBatch") == ""
    assert f"Signalbox: 2 messages for {box.reader} are unread" in session.told("Stop")
    assert check(run, box.url, box.reader) == ["First.", f"Would @{BOB} look?"]
    assert session.told("Stop") == ""
    assert session.told("SessionStart", source="compact").count(" No unread messages. ") == 1
    box.close()


def test_hooks_tell_an_agent_of_its_mail_in_the_mailbox_of_several_that_has_a_roster(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes = {kind: Box(kind, tmp_path / kind, monkeypatch) for kind in ("agenties", "haak")}
    url = url_of({label: box.url for label, box in boxes.items()})
    session = Hooked(url, "ada-7", monkeypatch)
    assert session.told("SessionStart", source="startup").startswith("Signalbox: you are haak/ada-7 (tags project:")
    boxes["haak"].send("First.", "ada-7")
    assert "1 new message for haak/ada-7, from haak/ann-00000001. " in session.told("PostToolBatch")
    assert check(run, url, "ada-7") == ["First."]
    assert session.told("Stop") == ""


def test_a_session_is_registered_in_a_channel_folder_and_reports_its_presence_there(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = Box("channels", tmp_path / "mail", monkeypatch)
    session = Hooked(box.url, "ada-7", monkeypatch)
    assert session.told("SessionStart", source="startup").startswith("Signalbox: you are ada-7 (tags project:")
    [root] = [path.parents[1] for path in tmp_path.rglob("registry/agents")]
    entry = json.loads((root / "registry/agents/ada-7.json").read_bytes())
    assert (entry["id"], entry["status"]) == ("ada-7", "available")

    def presence() -> tuple[str, str]:
        record = json.loads((root / "signals/presence/ada-7.json").read_bytes())
        return record["state"], record["writer"]

    assert presence() == ("AWAKE", "signalbox")
    session.told("SessionEnd")
    assert presence() == ("OFFLINE", "signalbox")
    [row] = [row for row in run("roster", "--json", "--store", box.url).document if row["session_id"] == "ada-7"]
    assert row["status"] == "frozen"
    assert not (root / "sessions/work.json").exists(), "a project that is no channel here gets no list of members"
