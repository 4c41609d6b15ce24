"""Agents' unread mail in mailboxes that keep no reads: shown once, never skipped, kept beside the mailbox."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from console.state.personal_state import PersonalState
from mailstore.records.scope import url_of
from tests.cli.conftest import ROOT, Run
from tests.kinds.channels.channels_folder import SharedFolder
from tests.mailboxes import MailFiles

FIXTURES = ROOT / "tests" / "fixtures"
NOON = "2026-03-16T12:00:00Z"


@pytest.fixture
def shared(tmp_path: Path) -> SharedFolder:
    """Return a channel in which codex, registered at noon, and gemini, of whom that is not known, take part."""
    shared = SharedFolder(tmp_path)
    shared.record("sessions/ink.json", id="ink", agents=["codex", "gemini", "claude"])
    shared.record("registry/agents/codex.json", id="codex", registered=NOON)
    say(shared, 1, "For codex.")
    say(shared, 2, "For all.", to="all")
    return shared


def say(shared: SharedFolder, number: int, text: str, **more: object) -> None:
    fields = {"timestamp": f"2026-03-16T12:{number:02}:00.000Z", "content": {"text": text}, **more}
    shared.message(f"20260316-12{number:02}00-claude-{number:04x}", **fields)


def told(out: str) -> list[str]:
    return re.findall(r"^    (.*)$", out, re.MULTILINE)


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("kind", "reader", "number"),
    [("channels", "codex", 3), ("claude-teams/humble-chasing-goose", "docs-types", 1), ("agenties", "orchestrator", 2)],
)
def test_what_was_shown_to_an_agent_does_not_come_again(
    run: Run, tmp_path: Path, kind: str, reader: str, number: int
) -> None:
    shutil.copytree(FIXTURES / kind, tmp_path / "mail")
    before = files(tmp_path / "mail")
    words = ("--as", reader, "--store", tmp_path / "mail")
    assert len(run("read", "--unread", "--json", *words).document) == number
    first = run("check", *words)
    assert (first.status, first.err) == (0, "")
    assert f"Mail for {reader}: {number} unread message" in first.out
    assert run("check", *words).out == ""
    assert run("read", "--unread", "--json", *words).document == []
    assert run("wait", "--timeout", "0", *words).status == 1
    assert files(tmp_path / "mail") == before


def test_each_agent_has_a_mark_of_its_own(run: Run, shared: SharedFolder) -> None:
    assert told(run("check", "--as", "codex", "--store", shared.root).out) == ["For codex.", "For all."]
    assert told(run("check", "--as", "gemini", "--store", shared.root).out) == ["For all."]
    say(shared, 3, "Now, @gemini.")
    assert told(run("check", "--as", "gemini", "--store", shared.root).out) == ["Now, @gemini."]


def test_nothing_is_skipped_that_comes_late_with_an_older_time(run: Run, shared: SharedFolder) -> None:
    words = ("check", "--as", "codex", "--store", shared.root)
    assert len(told(run(*words).out)) == 2
    say(shared, 0, "Delayed.", timestamp="2026-03-16T12:00:30.000Z")
    say(shared, 4, "Long delayed, to all.", to="all", timestamp="2025-01-01T00:00:00.000Z")
    assert told(run(*words).out) == ["Long delayed, to all.", "Delayed."]
    assert run(*words).out == ""


def test_what_all_were_told_before_an_agent_was_registered_is_not_its_mail(run: Run, shared: SharedFolder) -> None:
    say(shared, 5, "Old talk.", to="all", timestamp="2026-03-15T12:00:00.000Z")
    say(shared, 6, "Old, for codex.", timestamp="2026-03-15T12:00:00.000Z")
    assert told(run("check", "--as", "codex", "--store", shared.root).out)[0] == "Old, for codex."
    assert "Old talk." in run("check", "--as", "gemini", "--store", shared.root).out
    shared.record("registry/agents/codex.json", id="codex", registered="2026-03-17T12:00:00Z")
    say(shared, 7, "While it was away.", to="all")
    out = told(run("check", "--as", "codex", "--store", shared.root).out)
    assert out == ["While it was away."], "once handed mail, an agent misses none when it is registered anew"


def test_what_is_left_out_and_what_only_looks_stays_unread(run: Run, shared: SharedFolder) -> None:
    words = ("--as", "codex", "--store", shared.root)
    assert len(told(run("check", "--dry-run", *words).out)) == 2
    assert len(told(run("wait", *words).out)) == 2
    state = Path(os.environ["XDG_STATE_HOME"])
    assert not list(state.rglob("*")), "whoever only looks leaves nothing behind"
    assert told(run("check", "--limit", "1", *words).out) == ["For codex."]
    assert told(run("check", "--at", "2026-03-16T13:00:00Z", *words).out) == ["For codex.", "For all."]
    assert told(run("check", *words).out) == ["For all."]


def test_mail_is_marked_by_name_and_all_at_once(run: Run, shared: SharedFolder) -> None:
    words = ("--as", "codex", "--store", shared.root)
    first = "msg-20260316-120100-claude-0001"
    done = run("mark-read", *words, first, "--json")
    assert done.document["messages"] == [first]
    assert "this kind of mailbox can't record reads" in done.err
    assert run("mark-read", *words, first, "--json").document["marked"] == 0
    assert [row["content"] for row in run("read", "--unread", "--json", "--mark", *words).document] == ["For all."]
    say(shared, 3, "More.")
    assert run("mark-read", "--all", *words, "--json").document["marked"] == 1
    assert run("check", *words).out == ""


def test_waiting_ends_with_what_names_the_agent(run: Run, shared: SharedFolder) -> None:
    words = ("--as", "gemini", "--store", shared.root)
    run("check", *words)
    timer = threading.Timer(0.2, lambda: (say(shared, 3, "For codex."), say(shared, 4, "You, @gemini?")))
    timer.start()
    out = run("wait", "--timeout", "20", *words).out
    timer.join()
    assert told(out) == ["You, @gemini?"]


def test_a_wake_is_not_repeated_by_the_next_run(run: Run, shared: SharedFolder, tmp_path: Path) -> None:
    shared.record("signals/presence/codex.json", agent_id="codex", state="OFFLINE", timestamp=NOON)
    out = tmp_path / "out"
    command = ("--", "sh", "-c", 'echo "$SIGNALBOX_IDS" >> "$1"', "sh", out)
    words = ("wake", "--as", "codex", "--once", "--on", "chat", "--log", tmp_path / "log", "--store", shared.root)
    assert run(*words, *command).status == 0
    timer = threading.Timer(0.3, say, (shared, 3, "More."))
    timer.start()
    assert run(*words, *command).status == 0
    timer.join()
    first, second = out.read_text().splitlines()
    assert (first.count("msg-"), second) == (2, '["msg-20260316-120300-claude-0003"]')
    assert len(told(run("check", "--as", "codex", "--store", shared.root).out)) == 3, "a wake reads nothing"


def test_among_several_mailboxes_it_is_the_mark_of_each(run: Run, shared: SharedFolder, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path / "haak", now=1_773_662_400.0)
    mail.agent("ann-00000001")
    mail.message("one", "bob-00000001", "ann-00000001", "For ann.", ttl_hours=999_999)
    url = url_of({"lab": mail.url, "talk": f"channels:{shared.root}"})
    assert told(run("check", "--as", "talk/codex", "--store", url).out) == ["For codex.", "For all."]
    assert run("check", "--as", "codex", "--store", shared.root).out == ""
    assert told(run("check", "--as", "gemini", "--store", shared.root).out) == ["For all."]
    assert run("check", "--as", "talk/gemini", "--store", url).out == ""
    assert told(run("check", "--as", "lab/ann-00000001", "--store", url).out) == ["For ann."]
    assert run("check", "--as", "ann-00000001", "--store", mail.url).out == ""
    assert b"ann-00000001" in mail.reads.read_bytes()


def test_a_message_that_lies_in_several_roots_is_shown_once(run: Run, tmp_path: Path) -> None:
    roots = Path(shutil.copytree(FIXTURES / "agentazall-roots" / "relay", tmp_path / "roots"))
    url = url_of({root.name: f"agentazall:{root}" for root in sorted(roots.iterdir())})
    words = ("check", "--as", "ralf/ralf.agenttalk", "--store")
    assert "2 unread messages" in run(*words, url).out
    assert run(*words, url).out == ""
    assert run("check", "--as", "ralf.agenttalk", "--store", f"agentazall:{roots / 'ralf'}").out == ""
    assert "1 unread message" in run("check", "--as", "rita.agenttalk", "--store", f"agentazall:{roots / 'rita'}").out
    assert run("check", "--as", "rita/rita.agenttalk", "--store", url).out == ""


def test_how_much_an_agent_has_not_read_is_not_claimed_where_nobody_records_it(
    run: Run, shared: SharedFolder, tmp_path: Path
) -> None:
    run("check", "--as", "codex", "--store", shared.root)
    for command in ("agents", "who"):
        assert {row["unread"] for row in run(command, "--json", "--store", shared.root).document} == {None}
        assert re.search(r"^.*codex .* \?", run(command, "--store", shared.root).out, re.MULTILINE)
    mail = MailFiles(tmp_path / "haak")
    mail.agent("ann-00000001")
    assert [row["unread"] for row in run("agents", "--json", "--store", mail.url).document] == [0]
    say(shared, 3, "More.")
    [thread] = [
        row for row in run("threads", "--as", "codex", "--json", "--store", shared.root).document if row["unread"]
    ]
    assert thread["subject"] == "More."


def test_hooks_of_several_agents_at_once_lose_nothing(
    shell: Callable[..., subprocess.Popen[bytes]], shared: SharedFolder
) -> None:
    def check(reader: str) -> str:
        out, err = shell("check", "--as", reader, "--store", shared.root).communicate(timeout=60)
        assert err == b""
        return out.decode()

    with ThreadPoolExecutor() as pool:
        assert [len(told(out)) for out in pool.map(check, ["codex", "gemini"])] == [2, 1]
        assert list(pool.map(check, ["codex", "gemini"])) == ["", ""]


def test_a_sudden_end_keeps_all_or_nothing_of_what_was_shown(tmp_path: Path) -> None:
    program = (
        "import os, signal, sqlite3, sys; from pathlib import Path\n"
        "from console.state.personal_state import PersonalState\n"
        "state = PersonalState(Path(sys.argv[1]))\n"
        "ids = (str(number) if number < 500 else os.kill(os.getpid(), signal.SIGKILL) for number in range(501))\n"
        "state.mark_shown('channels:/x', 'codex', 'read', ['first'], 1.0)\n"
        "state.mark_shown('channels:/x', 'codex', 'read', ids, 2.0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "state.db"], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    state = PersonalState(tmp_path / "state.db")
    assert state.shown("channels:/x", "codex", "read").ids == {"first"}
    assert not state.shown("channels:/x", "codex", "wake").begun
    state.close()


def test_a_state_that_can_not_be_written_is_told_and_the_mail_is_printed(run: Run, shared: SharedFolder) -> None:
    state = Path(os.environ["XDG_STATE_HOME"]) / "signalbox"
    state.write_text("a file where the folder should be")
    done = run("check", "--as", "codex", "--store", shared.root)
    assert len(told(done.out)) == 2
    assert done.status == 1
    assert "mail shown now will be shown again" in done.err
