"""What `bd` is asked for, and that nothing it does reaches the mailbox; a script stands for it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mailstore.conformance.following import of, scanned
from mailstore.errors import ContentGone
from mailstore.files.database import Unreadable
from mailstore.kinds.beads import asking, program
from mailstore.kinds.beads.asking import BEHIND
from mailstore.kinds.beads.places import find
from mailstore.kinds.beads.store import BeadsStore
from mailstore.records.events import Gone
from mailstore.records.message import Message, Problem
from tests.kinds.beads.beads_town import Town

RELEASE = "1.3.0"
BD = """#!{python} -IS
import json, os, sys
folder = os.environ["BEADS_DIR"]
with open({log!r}, "a") as log:
    log.write(json.dumps({{"words": sys.argv[1:], "env": dict(os.environ)}}) + "\\n")
if sys.argv[1:] == ["version"]:
    print("bd version {release} (test)")
    sys.exit()
for name in ("issues.jsonl", "export-state.json", ".local_version", "backup"):
    open(os.path.join(folder, name), "w").write("written by bd")
noms = os.path.join(folder, "embeddeddolt/hq/.dolt/noms")
state = os.path.join(folder, "embeddeddolt/hq/.dolt/repo_state.json")
if os.path.exists(state):
    assert json.load(open(state))["remotes"] == {{}}
{more}
print(open(os.path.join(noms, "journal")).read())
open(os.path.join(noms, "journal"), "w").write("written by bd")
"""
Install = Callable[..., Path]


@pytest.fixture
def town(tmp_path: Path) -> Town:
    """A town whose database is in Dolt, as far as anything but `bd` can tell."""
    town = Town(tmp_path / "gt")
    town.make()
    town.mail("hq-1", "mayor/", "deacon/", "Exported.", title="One")
    (town.folder / "metadata.json").write_text(json.dumps({"backend": "dolt", "dolt_database": "hq"}))
    (town.folder / ".local_version").write_text(f"{RELEASE}\n")
    noms = town.folder / "embeddeddolt/hq/.dolt/noms"
    noms.mkdir(parents=True)
    (noms / "LOCK").touch()
    (noms.parent / "repo_state.json").write_text('{"head": "main", "remotes": {"origin": {"url": "http://x"}}}')
    store(town, [json.loads(line) for line in town.lines()])
    return town


def store(town: Town, value: Any) -> None:
    """Put what `bd list` is to print into the database."""
    text = value if isinstance(value, str) else json.dumps(value)
    (town.folder / "embeddeddolt/hq/.dolt/noms/journal").write_text(text)


def mail(name: str, body: str = "Live.") -> dict[str, Any]:
    return {
        "id": name,
        "title": name,
        "description": body,
        "status": "open",
        "priority": 2,
        "assignee": "deacon/",
        "created_at": "2026-03-16T12:00:05Z",
        "labels": ["gt:message", "from:mayor/"],
        "ephemeral": True,
    }


@pytest.fixture
def bd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a program in place of `bd`; its log has what it was asked."""

    def install(more: str = "", release: str = RELEASE, text: str = BD) -> Path:
        path, log = tmp_path / "bin/bd", tmp_path / "bd.log"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(python=sys.executable, log=str(log), release=release, more=more))
        path.chmod(0o755)
        monkeypatch.setenv(program.SETTING, str(path))
        return log

    monkeypatch.setattr(asking, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(asking, "SHARE", 0)
    return install


def look(town: Town) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        for path in (town.root, *town.root.rglob("*"))
    }


def shown(town: Town) -> tuple[set[str], list[str], str]:
    """Return the ids of the messages, the problems and the notice of a mailbox."""
    with BeadsStore.open(town.root) as opened:
        events = scanned(opened)
        return {each.id for each in of(Message, events)}, [each.reason for each in of(Problem, events)], opened.notice


def test_bd_reads_a_copy_and_the_mailbox_stays_as_it_was(town: Town, bd: Install, tmp_path: Path) -> None:
    log = bd()
    store(town, [mail("hq-1"), mail("hq-wisp-2"), {"id": "gt-9", "title": "Work"}])
    before = look(town)
    ids, problems, notice = shown(town)
    assert (ids, problems) == ({"hq-1", "hq-wisp-2"}, [])
    assert notice == f"read by {tmp_path / 'bin/bd'}, release {RELEASE}, from a private copy"
    assert look(town) == before
    version, question = map(json.loads, log.read_text().splitlines())
    assert version["words"] == ["version"]
    assert question["words"][:4] == ["--readonly", "--sandbox", "list", "--json"]
    environment = question["env"]
    assert environment["BEADS_DOLT_AUTO_START"] == "0"
    assert str(town.root) not in str(environment)
    assert not Path(environment["BEADS_DIR"]).exists()
    with BeadsStore.open(town.root) as opened:
        [wisp] = [each for each in of(Message, scanned(opened)) if each.id == "hq-wisp-2"]
        assert opened.content(wisp) == "Live."
        store(town, [mail("hq-1")])
        assert opened.raw(wisp)
        assert list(opened.news())
        with pytest.raises(ContentGone, match="no longer lists"):
            opened.content(wisp)


@pytest.mark.parametrize(
    ("printed", "ids"),
    [
        ("[]", set()),
        ("null", set()),
        ("No issues found.", set()),
        (json.dumps({"schema_version": 1, "items": [mail("hq-1")]}), {"hq-1"}),
        (json.dumps({"schema_version": 2, "data": [mail("hq-1")]}), {"hq-1"}),
        ("warning: something\n" + json.dumps([mail("hq-1"), 7, {}]), {"hq-1"}),
    ],
)
def test_what_any_release_prints_is_understood(town: Town, bd: Install, printed: str, ids: set[str]) -> None:
    bd()
    store(town, printed)
    found, problems, notice = shown(town)
    assert found == ids
    assert set(problems) <= {"an issue without an id"}
    assert "private copy" in notice


@pytest.mark.parametrize(
    ("more", "release", "reason"),
    [
        ("sys.exit('it is locked')", RELEASE, "it is locked"),
        ("sys.exit(3)", RELEASE, "bd ended with status 3"),
        ("print('[' * 999); sys.exit()", RELEASE, "bd printed invalid JSON"),
        ("print('{}'); sys.exit()", RELEASE, "bd printed no list of issues"),
        ("print('hello'); sys.exit()", RELEASE, "bd printed no JSON"),
        ("", "1.4.0", "is release 1.4.0, but release 1.3.0 used it last"),
        ("", "of nothing", "does not say which release it is"),
    ],
)
def test_where_bd_can_not_be_asked_the_export_is_shown_and_why(
    town: Town, bd: Install, more: str, release: str, reason: str
) -> None:
    bd(more, release)
    before = look(town)
    ids, [problem], notice = shown(town)
    assert (ids, notice) == ({"hq-1"}, BEHIND)
    assert reason in problem
    assert look(town) == before


def test_a_program_that_does_not_end_is_ended(town: Town, bd: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "SECONDS", 0.3)
    bd("import threading; threading.Event().wait()")
    assert "bd did not answer within 0.3 seconds" in shown(town)[1][0]


def test_a_program_that_prints_without_end_is_ended(town: Town, bd: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "LARGEST", 1 << 20)
    bd("while True: print('x' * 65536)")
    assert "bd printed more than 1 MiB" in shown(town)[1][0]


def test_options_that_an_older_release_does_not_know_are_left_out(town: Town, bd: Install) -> None:
    log = bd("""if "--flat" in sys.argv: sys.exit("Error: unknown flag: --flat")""")
    assert shown(town)[0] == {"hq-1"}
    *_, last = map(json.loads, log.read_text().splitlines())
    assert "--flat" not in last["words"]
    assert "--include-infra" in last["words"]
    bd("""if "--readonly" in sys.argv: sys.exit("Error: unknown flag: --readonly")""")
    assert "unknown flag: --readonly" in shown(town)[1][0]


def test_a_database_on_another_machine_is_not_asked(town: Town, bd: Install) -> None:
    log = bd()
    served = {"backend": "dolt", "dolt_mode": "server", "dolt_server_host": "203.0.113.9"}
    (town.folder / "metadata.json").write_text(json.dumps(served))
    assert shown(town)[1] == ["the database's export is shown instead: its database is on another machine"]
    assert [json.loads(line)["words"] for line in log.read_text().splitlines()] == [["version"]]


def test_a_server_on_this_machine_is_asked_by_its_port_alone(town: Town, bd: Install) -> None:
    served = {"backend": "dolt", "dolt_mode": "server", "dolt_database": "hq", "hooks": "x", "dolt_server_host": ""}
    (town.folder / "metadata.json").write_text(json.dumps(served))
    (town.folder / "dolt-server.port").write_text("3307\n")
    text = json.dumps([mail("hq-7")])
    bd(
        "there = sorted(os.listdir(folder))\n"
        "told = json.load(open(os.path.join(folder, 'metadata.json')))\n"
        "assert told['dolt_server_host'] == '127.0.0.1' and 'hooks' not in told\n"
        "assert 'dolt-server.port' in there and 'embeddeddolt' not in there, there\n"
        f"print({text!r}); sys.exit()"
    )
    assert shown(town)[0] == {"hq-7"}


def test_a_server_whose_files_are_elsewhere_is_asked_now_and_then(
    town: Town, bd: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "LARGEST", 1)
    monkeypatch.setattr(asking, "SERVED_SECONDS", 1e-6)
    (town.folder / "metadata.json").write_text(json.dumps({"backend": "dolt", "dolt_mode": "server"}))
    bd(f"print({json.dumps([mail('hq-7')])!r}); sys.exit()")
    with BeadsStore.open(town.root) as opened:
        scanned(opened)
        bd(f"print({json.dumps([mail('hq-7'), mail('hq-8')])!r}); sys.exit()")
        found = [event for batch in opened.news() for event in batch]
        assert [each.id for each in of(Message, found)] == ["hq-8"]


def test_a_database_that_is_too_large_is_not_copied(town: Town, bd: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "LARGEST", 10)
    bd()
    assert "its database is larger than" in shown(town)[1][0]


def test_no_program_is_run_where_the_setting_is_empty(town: Town, bd: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    log = bd()
    monkeypatch.setenv(program.SETTING, "")
    assert shown(town) == ({"hq-1"}, [BEHIND], BEHIND)
    assert not log.exists()


def test_a_link_in_a_database_is_not_followed(town: Town, bd: Install) -> None:
    bd("assert not os.path.lexists(os.path.join(noms, 'link'))")
    (town.folder / "embeddeddolt/hq/.dolt/noms/link").symlink_to("/etc/passwd")
    assert shown(town)[:2] == ({"hq-1"}, [])


def test_what_was_read_stays_while_bd_can_not_be_asked(town: Town, bd: Install) -> None:
    bd()
    with BeadsStore.open(town.root) as opened:
        scanned(opened)
        bd("sys.exit('it is locked')")
        store(town, [mail("hq-1"), mail("hq-2")])
        [[gone]] = list(opened.news())
        assert gone == Gone("bd can't be read: it is locked")
        bd()
        back = [event for batch in opened.news() for event in batch]
        assert {each.id for each in of(Message, back)} == {"hq-1", "hq-2"}


def test_issues_without_an_id_are_counted_and_those_with_one_id_are_two(town: Town, bd: Install) -> None:
    bd()
    store(town, [mail("hq-1", "A."), {"title": "x"}, mail("hq-1", "B."), {"title": "y"}, mail("hq-2")])
    with BeadsStore.open(town.root) as opened:
        events = scanned(opened)
        assert {opened.content(each) for each in of(Message, events) if each.id == "hq-1"} == {"A.", "B."}
        assert sorted(each.line for each in of(Problem, events)) == [2, 4]


def test_a_database_of_too_many_files_is_said_to_be_that(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "MOST_FILES", 1)
    places = find(town.root)
    assert places is not None
    assert places.dolt is not None
    with pytest.raises(Unreadable, match="more than 1 files"):
        asking.state_of(places.dolt)
