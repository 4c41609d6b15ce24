"""An id belongs to the first living session that claims it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from console.hooks.events import END, TOOL
from console.hooks.run import export, known_mailbox
from console.hooks.sessions.claims import claim_path
from console.hooks.sessions.cleanup import KEPT_SECONDS, clean
from console.hooks.sessions.mailbox_choice import mailbox_of, store_option
from console.hooks.sessions.processes import SILENT_SECONDS, process_name
from console.hooks.sessions.session_state import opened
from console.hooks.state_folder import hooks_folder
from tests.hooks.fleet import Fleet, needs_processes
from tests.mailboxes import MailFiles

ONE = "11111111-1111-4111-8111-aaaaaaaaaaaa"
TWO = "22222222-2222-4222-8222-bbbbbbbbbbbb"


def test_a_program_started_by_an_agent_is_another_agent_and_is_told(fleet: Fleet) -> None:
    fleet.env["SIGNALBOX_AGENT"] = "architect-7"
    assert fleet.start(ONE) == "architect-7"
    arrival = fleet.event(TWO, tool="opencode")
    assert arrival is not None
    assert arrival.agent_id == "opencode-bbbbbbbb"
    assert (
        arrival.note == "$SIGNALBOX_AGENT names architect-7, which another session has: use opencode-bbbbbbbb instead."
    )
    assert fleet.start(ONE, "resume") == "architect-7"
    arrival = fleet.event(TWO, source="resume", tool="opencode")
    assert arrival is not None
    assert arrival.agent_id == "opencode-bbbbbbbb"
    assert arrival.note == (
        "$SIGNALBOX_AGENT names architect-7, but this session has the id opencode-bbbbbbbb: use that one."
    )


def test_a_cleared_session_is_the_agent_that_the_variable_names_again(fleet: Fleet) -> None:
    fleet.env["SIGNALBOX_AGENT"] = "architect-7"
    fleet.start(ONE)
    fleet.event(ONE, END, "clear")
    assert fleet.start(TWO, "clear") == "architect-7"
    assert [line["status"] for line in fleet.lines()] == ["living", "frozen", "living"]


def test_an_id_is_free_again_when_its_session_has_ended(fleet: Fleet) -> None:
    fleet.env["SIGNALBOX_AGENT"] = "architect-7"
    fleet.start(ONE)
    fleet.now += 2
    fleet.event(ONE, END)
    assert fleet.start(TWO) == "architect-7"
    assert fleet.entry("architect-7")["status"] == "living"
    # the first one is resumed while the second one runs
    assert fleet.start(ONE, "resume") == "claude-aaaaaaaa"


@needs_processes
def test_a_killed_session_keeps_no_id_where_its_process_can_be_asked_for(fleet: Fleet) -> None:
    fleet.env["SIGNALBOX_AGENT"] = "architect-7"
    killed = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    own, fleet.process = fleet.process, process_name(killed.pid)
    fleet.start(ONE)
    fleet.process = own
    assert fleet.start(TWO) == "claude-bbbbbbbb"
    killed.kill()
    killed.communicate()
    assert fleet.start("33333333-cccccccc") == "architect-7"


@needs_processes
def test_a_session_that_goes_on_without_its_process_is_judged_by_its_silence(fleet: Fleet) -> None:
    fleet.env["SIGNALBOX_AGENT"] = "architect-7"
    number, _, rest = fleet.process.partition(" ")
    fleet.process = f"{number} 1 {rest.partition(' ')[2]}"  # a helper that has ended
    fleet.start(ONE)
    fleet.event(ONE, TOOL)
    assert fleet.state(ONE).extra["process"] == fleet.process  # a hook may outlive its program
    fleet.event(ONE, TOOL)
    assert fleet.start(TWO) == "claude-bbbbbbbb"
    assert fleet.start(ONE, "compact") == "architect-7"
    assert fleet.state(ONE).extra["process"] == ""


def test_a_silent_session_keeps_its_id_for_a_day_elsewhere(fleet: Fleet) -> None:
    fleet.process = ""
    fleet.env["SIGNALBOX_AGENT"] = "architect-7"
    fleet.start(ONE)
    fleet.now += SILENT_SECONDS - 1
    assert fleet.start(TWO) == "claude-bbbbbbbb"
    fleet.now += 1
    assert fleet.start("33333333-cccccccc") == "architect-7"


def test_an_id_that_a_session_made_of_its_own_is_never_given_away(fleet: Fleet) -> None:
    fleet.start(ONE)
    fleet.event(ONE, END)
    fleet.env["SIGNALBOX_AGENT"] = "claude-aaaaaaaa"  # what a shell of that session still exports
    assert fleet.start(TWO) == "claude-bbbbbbbb"
    assert fleet.start(ONE, "resume") == "claude-aaaaaaaa"


def test_a_dead_agent_s_id_is_not_used_again(fleet: Fleet) -> None:
    fleet.env["SIGNALBOX_AGENT"] = "v1.2"
    fleet.start(ONE)
    fleet.event(ONE, END, at_end="bury")
    arrival = fleet.event(TWO)
    assert arrival is not None
    assert arrival.agent_id == "v1.2.2"
    assert arrival.note == "$SIGNALBOX_AGENT names v1.2, which is dead: use v1.2.2 instead."
    assert fleet.entry("v1.2")["status"] == "dead"


@pytest.mark.parametrize("given", ["../../x", "all", "a b", "$(touch x)", "x" * 65, "user", "project:ink"])
def test_a_variable_that_holds_no_id_is_not_used(fleet: Fleet, given: str) -> None:
    fleet.env["SIGNALBOX_AGENT"] = given
    arrival = fleet.event(ONE)
    assert arrival is not None
    assert (arrival.agent_id, arrival.note) == (
        "claude-aaaaaaaa",
        "$SIGNALBOX_AGENT does not hold a valid id and was not used.",
    )


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"{}\n", b'{"tool":"x","session":"../../y","since":"z","own":true}\n']
)
def test_a_damaged_claim_is_nobody_s(fleet: Fleet, content: bytes) -> None:
    fleet.env["SIGNALBOX_AGENT"] = "architect-7"
    path = Path(claim_path(hooks_folder(fleet.mailbox), "architect-7"))
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert fleet.start(ONE) == "architect-7"


def test_a_claim_that_can_t_be_had_is_another_s(fleet: Fleet) -> None:
    path = Path(claim_path(hooks_folder(fleet.mailbox), "architect-7"))
    path.parent.mkdir(parents=True)
    path.symlink_to(fleet.roster)
    fleet.env["SIGNALBOX_AGENT"] = "architect-7"
    assert fleet.start(ONE) == "claude-aaaaaaaa"
    assert len(fleet.lines()) == 1


def test_the_same_session_in_two_mailboxes_has_one_id(fleet: Fleet, tmp_path: Path) -> None:
    MailFiles(tmp_path / "mill")
    assert fleet.start(ONE) == fleet.start(ONE, cwd=tmp_path / "mill") == "claude-aaaaaaaa"


def test_what_is_remembered_of_sessions_goes_after_30_days(fleet: Fleet) -> None:
    fleet.start(ONE)
    fleet.start(TWO)
    folder = Path(hooks_folder(fleet.mailbox))
    for each in ("bell-claude-code-" + ONE, "bell-claude-code-" + TWO):
        (folder / each).touch()
    for path in folder.rglob("*"):
        os.utime(path, (fleet.now - KEPT_SECONDS, fleet.now - KEPT_SECONDS))
    fleet.event(TWO, TOOL)
    os.utime(folder / f"claude-code-{TWO}", (fleet.now, fleet.now))
    clean(fleet.now)
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
        f"bell-claude-code-{TWO}", "claude-bbbbbbbb", f"claude-code-{TWO}",
    ]  # fmt: skip
    os.utime(folder / f"claude-code-{TWO}", (fleet.now - KEPT_SECONDS, fleet.now - KEPT_SECONDS))
    clean(fleet.now + 3600)
    assert (folder / f"claude-code-{TWO}").exists()  # once a day
    clean(fleet.now + 24 * 3600)
    assert not folder.exists()


def test_a_mailbox_on_a_server_is_chosen_anew_because_its_secrets_are_not_kept(fleet: Fleet) -> None:
    for place, known in (("haak:/x/agent-mailbox.jsonl", True), ("relay://host/team", False)):
        with opened(hooks_folder(fleet.mailbox), "codex", ONE) as held:
            held.state.mailbox, held.state.options, held.state.cwd_token = place, "--wake", "/x"
            held.save()
        assert known_mailbox("codex", ONE, "--wake", "/x") == (place if known else None)
        assert known_mailbox("codex", ONE, "", "/x") is None


def test_the_shells_of_an_agent_are_told_who_it_is_once(tmp_path: Path) -> None:
    path = tmp_path / "hook-0.sh"
    path.write_text("export OTHER=1", encoding="utf-8")
    env = {"CLAUDE_ENV_FILE": str(path)}
    for _ in range(2):
        export(env, "claude-aaaaaaaa", "haak:/a b/$(id)'x/agent-mailbox.jsonl")
    assert path.read_text(encoding="utf-8") == (
        "export OTHER=1\n"
        "export SIGNALBOX_AGENT='claude-aaaaaaaa'\n"
        "export SIGNALBOX_STORE='haak:/a b/$(id)'\\''x/agent-mailbox.jsonl'\n"
    )
    export(env, "claude-bbbbbbbb", "")
    assert path.read_text(encoding="utf-8").endswith("export SIGNALBOX_AGENT='claude-bbbbbbbb'\n")


def test_no_other_file_is_written_for_shells(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    export({}, "claude-aaaaaaaa", "")
    export({"CLAUDE_ENV_FILE": "relative.sh"}, "claude-aaaaaaaa", "")
    export({"CLAUDE_ENV_FILE": str(tmp_path / "new.sh")}, "", "haak:/a\nb")
    for name, why in (("link", "links are not"), ("pipe", "not a regular file"), ("no/such.sh", "such.sh")):
        with pytest.raises(OSError, match=why):
            export({"CLAUDE_ENV_FILE": str(tmp_path / name)}, "claude-aaaaaaaa", "")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "pipe"]


def test_the_mailbox_is_that_of_every_other_command(fleet: Fleet, tmp_path: Path) -> None:
    here, folder = fleet.mailbox, str(fleet.folder)
    mill = MailFiles(tmp_path / "mill")
    there = f"haak:{mill.mailbox}"
    assert mailbox_of(folder, "", fleet.env) == here
    assert mailbox_of(str(tmp_path), "", fleet.env) is None
    assert mailbox_of("relative", "", fleet.env) is None
    settings = Path(fleet.env["XDG_CONFIG_HOME"]) / "signalbox" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('store = "~/mill"\n', encoding="utf-8")
    assert mailbox_of(folder, "", fleet.env) == there
    assert store_option(here, folder, fleet.env) == here
    fleet.env["SIGNALBOX_STORE"] = "haak:data"
    assert mailbox_of(folder, "", fleet.env) == here
    assert store_option(here, folder, fleet.env) == ""
    assert mailbox_of(folder, "../mill/data", fleet.env) == there
    assert mailbox_of(folder, f"haak:{tmp_path}/none", fleet.env) is None
    assert mailbox_of(folder, "nonsense:x", fleet.env) is None
    (tmp_path / "link").symlink_to(tmp_path / "mill")
    assert mailbox_of(folder, str(tmp_path / "link"), fleet.env) == there
