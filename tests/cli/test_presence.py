"""An agent's life as it tells it itself: registered, heard of, frozen, resumed, buried; and who is there."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from console.render.timestamps import iso_time
from tests.cli.conftest import Run
from tests.hooked import ended_process, hooked
from tests.mailboxes import DIALECTS, Dialect, MailFiles, iso

ANN, BOB, DED = "ann-00000001", "bob-00000001", "ded-00000001"


@pytest.fixture(params=DIALECTS)
def mail(request: pytest.FixtureRequest, tmp_path: Path) -> MailFiles:
    dialect: Dialect = request.param
    mail = MailFiles(tmp_path, now=time.time(), dialect=dialect)
    mail.agent(BOB, role="architect", last_seen=iso(time.time() - 7200))
    mail.agent(DED, "dead", ended_at=iso(time.time() - 60))
    return mail


def who(run: Run, mail: MailFiles, *words: str) -> dict[str, dict[str, object]]:
    return {row["session_id"]: row for row in run("who", "--json", "--store", mail.url, *words).document}


def test_an_agent_lives_freezes_comes_back_and_dies(run: Run, mail: MailFiles) -> None:
    def roster(*words: str) -> str:
        done = run("roster", *words, "--store", mail.url)
        assert (done.status, done.err) == (0, "")
        return done.out

    assert roster("register", "--session-id", ANN, "--role", "clerk") == f"{ANN} living clerk\n"
    assert roster("freeze", ANN) == f"{ANN} frozen clerk\n"
    assert roster("resume", "ann-0000") == f"{ANN} living clerk\n"
    mail.message("m", BOB, ANN, ago=0)
    done = run("roster", "bury", ANN, "--store", mail.url)
    assert done.out == f"{ANN} dead clerk\n"
    assert f"1 message to {ANN} will not be read" in done.err
    [row] = run("dead-letters", "--json", "--store", mail.url).document
    assert (row["message_id"], row["state"]) == ("m", "dead")


def test_a_heartbeat_says_what_is_done_and_an_old_one_is_stale(run: Run, mail: MailFiles) -> None:
    assert who(run, mail).keys() == {BOB}
    assert who(run, mail, "--all").keys() == {BOB, DED}
    assert who(run, mail)[BOB]["stale"] is True
    done = run("presence", "--as", BOB, "--state", "working", "--substate", "leaf  12", "--store", mail.url)
    assert (done.status, done.out, done.err) == (0, "", "")
    found = who(run, mail)[BOB]
    assert (found["state"], found["substate"], found["stale"]) == ("working", "leaf 12", False)
    text = run("who", "--store", mail.url).out
    assert "working" in text
    assert "leaf 12" in text
    before = mail.roster.read_bytes()
    run("presence", "--as", BOB, "--state", "working", "--substate", "leaf 12", "--store", mail.url)
    assert mail.roster.read_bytes() == before
    run("presence", "--as", BOB, "--state", "offline", "--store", mail.url)
    assert who(run, mail)[BOB]["status"] == "frozen"


def test_what_an_agent_does_is_shown_with_the_time_since_when(run: Run, mail: MailFiles) -> None:
    now = mail.now

    def line(activity: str, ago: float, **more: object) -> None:
        mail.agent(ANN, activity=activity, updated=iso(now - ago), last_seen=iso(now - ago), **more)

    line("working: leaf 1", 7200)
    assert who(run, mail)[ANN]["since"] is None  # the only line may be the latest of many heartbeats
    line("idle", 3600)
    line("waiting: Bash", 600)
    line("waiting: Bash", 300)
    row = who(run, mail)[ANN]
    assert (row["state"], row["substate"], row["since"], row["stale"]) == (
        "waiting",
        "Bash",
        iso_time(now - 600),
        False,
    )
    shown = run("who", "--store", mail.url).out
    assert re.search(rf"{ANN} +waiting for a permission +10m +Bash +5m", shown)
    assert re.search(rf"! +{ANN} +waiting for a permission +10m +5m", run("agents", "--store", mail.url).out)
    line("working: leaf 2", 2400)
    row = who(run, mail)[ANN]
    assert (row["state"], row["stale"]) == ("working", True)
    assert re.search(rf"{ANN} +stale +40m +was working: leaf 2 +40m", run("who", "--store", mail.url).out)
    assert re.search(rf"◌ +{ANN} +stale +40m", run("agents", "--store", mail.url).out)


def test_an_agent_with_a_hook_is_shown_as_its_program_knows_it(run: Run, mail: MailFiles) -> None:
    now = mail.now
    for name, activity in ((ANN, "idle"), ("cat-00000001", "working")):
        mail.agent(name, activity=activity, last_seen=iso(now - 4000))
    hooked(mail.url, ANN, tool="codex", doing="waiting", since=now - 90, last_run=now - 90, can_wake=True)
    hooked(mail.url, "cat-00000001", doing="working", since=now - 60, last_run=now - 60, extra=ended_process())
    rows = who(run, mail)
    ann, cat = rows[ANN], rows["cat-00000001"]
    assert (ann["state"], ann["since"], ann["hook"], ann["can_wake"]) == ("waiting", iso_time(now - 90), "codex", True)
    assert (ann["stale"], cat["stale"], cat["gone"], cat["hook"]) == (False, True, True, None)
    shown = run("who", "--store", mail.url).out
    assert re.search(rf"{ANN} +waiting for a permission +1m .*codex, can be woken", shown)
    assert re.search(r"cat-00000001 +gone .*was working", shown)
    assert re.search(rf"! +{ANN} .*codex, can be woken", run("agents", "--store", mail.url).out)
    assert "hook" not in run("who", "--store", mail.url, "--at", iso(now)).out


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["roster", "register", BOB], 1, f"{BOB} is already registered (living)"),
        (["roster", "resume", BOB], 1, f"{BOB} is already living"),
        (["roster", "resume", DED], 1, f"{DED} is dead: register a new session"),
        (["roster", "freeze", "bobby-0000"], 1, '"bobby-0000" is not registered'),
        (["roster", "freeze", BOB, "--role", "x"], 2, "--role can't be used with freeze"),
        (["roster", "freeze", BOB, "--session-id", BOB], 2, "both ID and --session-id are given"),
        (["roster", "bury"], 2, "no agent is given: name it with --session-id ID"),
        (["presence", "--as", "bob-0000001", "--state", "idle"], 1, f"did you mean {BOB}?"),
        (["presence", "--as", DED, "--state", "idle"], 1, f"{DED} is dead"),
        (["presence", "--as", BOB, "--state", "asleep"], 2, '--state can\'t be "asleep"'),
        (
            ["presence", "--as", BOB, "--state", "idle", "--substate", "a\x1bb"],
            1,
            "--substate is too long or not printable",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(
    words: list[str], status: int, said: str, run: Run, mail: MailFiles
) -> None:
    before = mail.roster.read_bytes()
    done = run(*words, "--store", mail.url)
    assert done.status == status
    assert said in done.err
    assert mail.roster.read_bytes() == before


def test_a_session_with_the_name_of_a_role_is_warned_of(run: Run, mail: MailFiles) -> None:
    done = run("roster", "register", "architect", "--store", mail.url)
    assert done.status == 0
    assert '"architect" is also a role' in done.err
