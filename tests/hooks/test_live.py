"""Which agents have a live hook, and in which mailboxes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from console.hooks.sessions.live import live_hooks
from console.hooks.sessions.processes import SILENT_SECONDS, is_gone, program_process
from console.hooks.sessions.session_state import WORKING, opened
from console.hooks.state_folder import hooks_folder
from mailstore.records.scope import url_of

NOW = 1_800_000_000.0


@pytest.fixture(autouse=True)
def own_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def session(url: str, session_id: str, agent_id: str, last_run: float, process: str = "", mailbox: str = "") -> None:
    with opened(hooks_folder(url), "codex", session_id) as held:
        held.state.agent_id = agent_id
        held.state.mailbox = mailbox or url
        held.state.last_run = last_run
        held.state.do(WORKING, NOW - 5)
        held.state.extra["process"] = process
        held.save()


def url(tmp_path: Path, name: str = "lab") -> str:
    return f"haak:{tmp_path}/{name}/agent-mailbox.jsonl"


def test_a_session_that_runs_is_listed_with_what_it_does(tmp_path: Path) -> None:
    session(url(tmp_path), "one", "codex-1", NOW - 3)
    session(url(tmp_path, "other"), "two", "codex-2", NOW)
    assert list(live_hooks(url(tmp_path), NOW)) == ["codex-1"]
    found = live_hooks(url(tmp_path), NOW)["codex-1"]
    assert (found.tool, found.session_id, found.doing, found.since, found.last_run, found.can_wake) == (
        "codex", "one", "working", NOW - 5, NOW - 3, False,
    )  # fmt: skip
    assert found.folder == hooks_folder(url(tmp_path))


def test_a_session_that_ended_or_has_been_silent_for_a_day_is_not(tmp_path: Path) -> None:
    session(url(tmp_path), "silent", "codex-1", NOW - SILENT_SECONDS)
    session(url(tmp_path), "ended", "codex-2", NOW)
    with opened(hooks_folder(url(tmp_path)), "codex", "ended") as held:
        held.state.is_ended = True
        held.save()
    assert not live_hooks(url(tmp_path), NOW)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only Linux tells what processes run")  # noqa: PTH110
def test_a_session_whose_process_was_killed_is_not(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from console.hooks.sessions.processes import program_process as p"
    )
    code += "; print(p(), flush=True)"
    root = str(Path(__file__).parents[2])
    # the program is this one: its child asks whose hook it is
    told = subprocess.run([sys.executable, "-c", code, root], capture_output=True, text=True, check=True)
    own = told.stdout.strip()
    assert own.startswith(f"{os.getpid()} ")
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with open(f"/proc/{child.pid}/stat", encoding="utf-8") as file:
        started = file.read().rpartition(")")[2].split()[19]
    process = f"{child.pid} {started} {own.split(' ', 2)[2]}"
    assert not is_gone(own)
    assert not is_gone(process)
    session(url(tmp_path), "one", "codex-1", NOW - 10 * SILENT_SECONDS, own)
    session(url(tmp_path), "two", "codex-2", NOW, process)
    assert set(live_hooks(url(tmp_path), NOW)) == {"codex-1", "codex-2"}
    child.kill()
    child.wait()
    child.stdin.close()  # type: ignore[union-attr]
    assert is_gone(process)
    assert set(live_hooks(url(tmp_path), NOW)) == {"codex-1"}


def test_what_names_no_process_of_this_machine_is_not_taken_for_gone() -> None:
    for process in ("", "no number", "1", "999999999 12 another-machine", f"{2**80} 1 x"):
        assert not is_gone(process)
    assert not is_gone(program_process())


def test_after_a_restart_of_the_system_a_silent_session_is_not_live_for_ever(tmp_path: Path) -> None:
    for ago, is_live in ((60.0, True), (SILENT_SECONDS, False)):
        session(url(tmp_path), "one", "codex-1", NOW - ago, f"{os.getpid()} 1234 before-1")
        assert bool(live_hooks(url(tmp_path), NOW)) == is_live


def test_of_two_sessions_under_one_id_the_last_one_counts(tmp_path: Path) -> None:
    session(url(tmp_path), "old", "architect-7", NOW - 60)
    session(url(tmp_path), "new", "architect-7", NOW - 30)
    assert live_hooks(url(tmp_path), NOW)["architect-7"].session_id == "new"


def test_several_mailboxes_side_by_side_name_agents_with_their_labels(tmp_path: Path) -> None:
    lab, mill = url(tmp_path), url(tmp_path, "mill")
    both = url_of({"lab": lab, "mill": mill})
    session(lab, "one", "codex-1", NOW)
    session(mill, "two", "codex-2", NOW)
    session(both, "three", "mill/codex-3", NOW)
    assert set(live_hooks(both, NOW)) == {"lab/codex-1", "mill/codex-2", "mill/codex-3"}
    assert set(live_hooks(mill, NOW)) == {"codex-2", "codex-3"}
    other = url_of({"m": mill})
    assert set(live_hooks(other, NOW)) == {"m/codex-2", "m/codex-3"}


def test_a_state_that_changed_is_read_again_and_one_that_went_is_forgotten(tmp_path: Path) -> None:
    for since in (NOW - 60, NOW - 30):
        session(url(tmp_path), "one", "codex-1", since)
        assert live_hooks(url(tmp_path), NOW)["codex-1"].last_run == since
        assert live_hooks(url(tmp_path), NOW)["codex-1"].last_run == since
    (Path(hooks_folder(url(tmp_path))) / "codex-one").unlink()
    assert not live_hooks(url(tmp_path), NOW)


def test_damaged_and_foreign_files_in_the_state_folder_are_passed_over(tmp_path: Path) -> None:
    session(url(tmp_path), "one", "codex-1", NOW)
    folder = Path(hooks_folder(url(tmp_path)))
    (folder / "names").mkdir()
    (folder / "codex-cut").write_bytes(b'0\n{"tool":"codex","session_id":"c')
    (folder / "bell-codex-one").write_bytes(b"")
    (folder / "codex-odd").write_bytes(b'0\n{"tool":1,"session_id":[],"agent_id":2,"extra":[],"last_run":"x"}\n')
    (folder / "hooks.log").write_bytes(b"\xff\xfe" * 100)
    assert list(live_hooks(url(tmp_path), NOW)) == ["codex-1"]
    assert not live_hooks(f"haak:{tmp_path}/none.jsonl", NOW)
