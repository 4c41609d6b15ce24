"""Gas Town's mail: what labels, states and beads of agents mean."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mailstore.conformance.following import of, scanned
from mailstore.kinds.beads import feed, lines
from mailstore.kinds.beads.asking import BEHIND
from mailstore.kinds.beads.decode import address_of_agent, normal, recipient_of
from mailstore.kinds.beads.records import moment
from mailstore.kinds.beads.store import BeadsStore
from mailstore.records.events import PutAway
from mailstore.records.message import SOMEBODY, Message, Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.registry import discover, open_store
from tests.kinds.beads.beads_town import Form, Town, gas_town

FORMS: tuple[Form, ...] = ("export", "tables")


@pytest.fixture(params=FORMS)
def town(request: pytest.FixtureRequest, tmp_path: Path) -> Town:
    return gas_town(tmp_path / "gt", request.param)


def messages(town: Town) -> dict[str, Message]:
    with BeadsStore.open(town.root) as store:
        return {message.id: message for message in of(Message, scanned(store))}


def reads(town: Town) -> dict[str, set[tuple[str, bool]]]:
    found: dict[str, set[tuple[str, bool]]] = {}
    with BeadsStore.open(town.root) as store:
        for receipt in of(Receipt, scanned(store)):
            found.setdefault(receipt.message_id, set()).add((receipt.reader, receipt.time is not None))
    return found


def agents(town: Town) -> dict[str, Agent]:
    with BeadsStore.open(town.root) as store:
        return {agent.session_id: agent for agent in of(Agent, scanned(store))}


def test_labels_say_who_wrote_what_to_whom(town: Town) -> None:
    found = messages(town)
    answer = found["hq-a2"]
    assert (answer.sender, answer.recipients, answer.thread) == ("gastown/Toast", ("mayor/", "gastown/max"), "hq-a1")
    assert (answer.type, answer.subject, answer.mentions) == ("reply", "Re: Work", ("max",))
    assert answer.tags == (
        *("cc:gastown/max", "delivery-acked-at:2026-03-16T12:05:00Z", "delivery-acked-by:mayor/", "delivery:acked"),
    )
    assert found["hq-a1"].tags == ("priority:urgent", "delivery:pending")
    assert found["hq-a4"].recipients == ("overseer",)
    assert found["hq-a5"].recipients == ("role:queue:builds",)
    assert (found["hq-a7"].recipients, found["hq-a7"].is_tracked) == (("project:alerts",), False)
    assert (found["hq-old"].archived, found["hq-old"].subject) == (True, "Old")
    assert "gt-77" not in found


def test_a_message_is_read_when_its_issue_is_closed_or_labelled(town: Town) -> None:
    expected = {"hq-a1": {("gastown/Toast", True)}, "hq-a2": {("mayor/", False)}, "hq-a6": {("gastown/Toast", True)}}
    assert reads(town) == expected
    town.close("hq-a5")
    town.close("hq-a7")
    town.label("hq-a3", "gt:mail-closed")
    town.label("hq-a2", "cc-cleared:gastown/max")
    assert reads(town) == expected | {
        "hq-a2": {("mayor/", False), ("gastown/max", False)},
        "hq-a3": {("gastown/Nux", False)},
        "hq-a5": {(SOMEBODY, True)},
    }, "a channel that lets go of a message has not read it"


def test_only_a_database_has_wisps(tmp_path: Path) -> None:
    [export, tables] = [messages(gas_town(tmp_path / form, form)) for form in FORMS]
    assert tables.keys() - export.keys() == {"hq-a8"}
    assert tables["hq-a8"].tags == ("pinned", "wisp", "delivery:pending")
    assert (tables["hq-a8"].sender, tables["hq-a8"].recipients) == ("deacon/", ("mayor/",))


def test_the_roster_is_made_of_beads_and_of_whoever_takes_part(town: Town) -> None:
    found = agents(town)
    assert found["gastown/Toast"].tags == ("role:queue:builds",)
    assert (found["mayor/"].tags, found["mayor/"].role) == (("group:ops", "project:alerts"), "mayor")
    assert found["gastown/Nux"].status is Status.DEAD
    assert found["gastown/Nux"].ended_at == moment("2026-03-16T13:00:00Z")
    assert found["gastown/max"].activity == "working"
    town.mail("hq-b1", "daemon", "other/refinery", "Merge.")
    town.mail("hq-b2", "daemon", "nobody", "Lost.")
    new = agents(town).keys() - found.keys()
    assert new == {"daemon", "other/refinery"}, "a bare name that never wrote is unknown"


def test_a_claim_pattern_longer_than_any_name_claims_nothing_and_costs_nothing(tmp_path: Path) -> None:
    town = gas_town(tmp_path / "gt")
    town.told("hq-queue-endless", "gt:queue", name="endless", claim_pattern="[" * 1_000_000)  # `fnmatch` takes hours
    assert agents(town)["gastown/Toast"].tags == ("role:queue:builds",)


def test_the_agents_of_rigs_are_read_from_their_own_databases(tmp_path: Path, town: Town) -> None:
    rig = Town(town.root / "beads/mayor/rig")
    rig.make()
    rig.agent("bd-beads-crew-wolf", role="crew", rig="beads")
    rig.mail("bd-1", "x", "beads/wolf", "Mail is the town's.")
    outside = Town(tmp_path / "outside")
    outside.make()
    outside.agent("xx-rig-crew-spy", role="crew", rig="rig")
    routes = [{"prefix": "hq-", "path": "."}, {"prefix": "bd-", "path": "beads/mayor/rig"}, {"path": "../outside"}, 7]
    (town.folder / "routes.jsonl").write_text("".join(json.dumps(each) + "\n" for each in routes))
    found = agents(town)
    assert found["beads/wolf"].role == "crew"
    assert "rig/spy" not in found
    assert "bd-1" not in messages(town)


def test_a_thread_hangs_from_its_first_message_where_nothing_says_more(town: Town) -> None:
    town.mail("hq-c2", "mayor/", "deacon/", "Two.", "thread:t9", created_at="2026-03-16T14:02:00Z")
    town.mail("hq-c1", "mayor/", "deacon/", "One.", "thread:t9", created_at="2026-03-16T14:01:00Z")
    town.mail(
        "hq-c3", "deacon/", "mayor/", "Three.", "thread:t9", "reply-to:hq-gone", created_at="2026-03-16T14:03:00Z"
    )
    town.mail("hq-c4", "deacon/", "mayor/", "Alone.", "reply-to:hq-gone")
    town.mail("hq-c5", "deacon/", "mayor/", "Of an escalation.", "thread:hq-a4")
    town.mail("hq-c6", "deacon/", "mayor/", "Itself.", "reply-to:hq-c6")
    link = [{"issue_id": "hq-c7", "depends_on_id": "hq-a3", "type": "replies-to"}]
    town.mail("hq-c7", "deacon/", "mayor/", "By a dependency.", dependencies=link)
    found = messages(town)
    assert {name: found[f"hq-c{name}"].thread for name in range(1, 8)} == dict(
        enumerate([None, "hq-c1", "hq-c1", "hq-gone", "hq-a4", None, "hq-a3"], 1)
    )


def test_a_message_that_was_reopened_is_unread_again(town: Town) -> None:
    with BeadsStore.open(town.root) as store:
        scanned(store)
        town.issue("hq-a1", status="open", closed_at=None, labels=["gt:message", "from:mayor/"])
        events = [event for batch in store.news() for event in batch]
        assert not [each for each in of(Receipt, events) if each.message_id == "hq-a1"]
        assert "hq-a1" in {each.id for each in of(Message, events)}


def test_a_message_that_is_archived_and_still_there_is_the_live_one(town: Town) -> None:
    town.archive(id="hq-a1", to="gastown/Toast", subject="Work", body="Take gt-77.", **{"from": "mayor/"})
    with BeadsStore.open(town.root) as store:
        both = sorted((m for m in of(Message, scanned(store)) if m.id == "hq-a1"), key=lambda m: m.position)
        assert [message.archived for message in both] == [False, True]
        assert [store.content(message) for message in both] == ["Take gt-77."] * 2


def test_a_town_is_found_from_any_folder_in_it(town: Town) -> None:
    work = town.root / "gastown/crew/max"
    work.mkdir(parents=True)
    found = discover(work)
    assert found == f"beads:{town.root / 'mayor/town.json'}"
    with open_store(found) as store:
        assert (store.url, store.title) == (f"beads:{town.folder}", "gt")
    with open_store(str(town.root)) as store:
        assert store.kind == "beads"


def test_a_working_copy_refers_to_the_database_of_its_rig(town: Town, tmp_path: Path) -> None:
    copy = town.root / "gastown/crew/max/.beads"
    copy.mkdir(parents=True)
    (copy / "redirect").write_text("../../../.beads\n")
    with BeadsStore.open(copy.parent) as store:
        assert store.url == f"beads:{town.folder}"
    (copy / "redirect").write_text("/nowhere\0")
    assert not BeadsStore.recognise(copy.parent)


def test_what_is_in_dolt_is_shown_as_it_was_exported(town: Town) -> None:
    export = Town(town.root / "other")
    export.make()
    export.mail("hq-1", "mayor/", "deacon/", "Hello.")
    with BeadsStore.open(export.root) as store:
        assert store.notice == ""
    (export.folder / "metadata.json").write_text('{"backend": "dolt", "dolt_mode": "server", "dolt_database": "hq"}')
    with BeadsStore.open(export.root) as store:
        assert store.notice == BEHIND
        assert messages(export).keys() == {"hq-1"}


def test_a_line_without_an_id_is_shown_and_one_without_a_sender_is_told(town: Town) -> None:
    for fields in (
        {"id": "a"},
        {"id": "b"},
        {"from": "mayor/", "body": "Who?"},
        {"id": 7, "from": "mayor/", "body": "7?"},
    ):
        town.archive(**fields)
    with BeadsStore.open(town.root) as store:
        events = scanned(store)
        assert [(each.file, each.line) for each in of(Problem, events)] == [("archive.jsonl", 2), ("archive.jsonl", 3)]
        odd = [message for message in of(Message, events) if message.id.startswith("line:")]
        assert sorted(map(store.content, odd)) == ["7?", "Who?"]


def test_an_issue_whose_id_is_no_text_can_be_opened(tmp_path: Path) -> None:
    town = gas_town(tmp_path / "gt")
    town.junk.append(b'{"id": 7, "labels": ["gt:message", "from:mayor/"], "description": "Seven."}\n')
    town.flush()
    with BeadsStore.open(town.root) as store:
        [odd] = [message for message in of(Message, scanned(store)) if message.id.startswith("line:")]
        assert store.content(odd) == "Seven."


def test_damage_in_an_export_hides_nothing_else(tmp_path: Path) -> None:
    town = gas_town(tmp_path / "gt")
    known = messages(town).keys()
    town.junk += [b"<<<<<<< HEAD\n", b'{"id": "x", "lab', b"els\n", b"[1]\n", b'{"_type":"memory","key":"k"}\n', b"\n"]
    town.flush()
    with BeadsStore.open(town.root) as store:
        events = scanned(store)
    assert {message.id for message in of(Message, events)} == known
    assert len(of(Problem, events)) == 3
    assert not of(PutAway, events)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("mayor", "mayor/"),
        ("gastown/mayor", "mayor/"),
        ("gastown/polecats/Toast", "gastown/Toast"),
        ("gastown/crew/max/", "gastown/max"),
        ("deacon/dogs/alpha", "deacon/dogs/alpha"),
        ("overseer/", "overseer"),
        ("", ""),
    ],
)
def test_an_address_has_one_form(written: str, meant: str) -> None:
    assert normal(written) == meant


def test_an_address_of_nobody_in_particular_is_a_role_or_a_channel() -> None:
    assert [recipient_of(each) for each in ("queue:q", "channel:c", "announce:a", "list:l", "queue:")] == [
        *("role:queue:q", "project:c", "domain:a", "list:l", "queue:"),
    ]


@pytest.mark.parametrize(
    ("bead", "facts", "address"),
    [
        ("hq-mayor", {}, "mayor/"),
        ("gt-deacon", {}, "deacon/"),
        ("hq-dog-alpha", {}, "deacon/dogs/alpha"),
        ("gt-my-rig-polecat-Toast", {}, "my-rig/Toast"),
        ("ppf-py_rig-witness", {"role_type": "witness", "rig": "py_rig"}, "py_rig/witness"),
        ("bd-beads-crew-two-words", {"rig": "beads"}, "beads/two-words"),
        ("gt-gastown-witness-extra", {}, ""),
        ("hq-x", {"location": "deacon/dogs/rex"}, "deacon/dogs/rex"),
        ("x", {"role_type": "null", "rig": "null"}, ""),
    ],
)
def test_the_bead_of_an_agent_says_its_address(bead: str, facts: dict[str, str], address: str) -> None:
    assert address_of_agent(bead, facts) == address


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-16T12:00:05Z",
        "2026-03-16T13:00:05.000000000+01:00",
        "2026-03-16 12:00:05 +0000 UTC",
        "2026-03-16 13:00:05 +0100 CET m=+0.5",
        "2026-03-16 12:00:05",
    ],
)
def test_times_are_read_as_every_driver_writes_them(text: str) -> None:
    assert moment(text) == 1773662405.0


def test_no_time_is_no_time() -> None:
    assert [moment(text) for text in ("", "soon", "2026-99-99 12:00:05 +0000 UTC")] == [None] * 3


def problems(town: Town) -> set[tuple[str, int, str]]:
    with BeadsStore.open(town.root) as store:
        return {(each.file, each.line, each.reason) for each in of(Problem, scanned(store))}


def test_what_is_not_read_of_rigs_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    town = gas_town(tmp_path / "gt")
    rig = Town(town.root / "rig")
    rig.make()
    rig.agent("rg-rig-crew-wolf", role="crew", rig="rig")
    rig.mail("rg-1", "x", "rig/wolf", "One.")
    rig.junk.append(b"<<<<<<<\n")
    rig.flush()
    lines = [json.dumps({"path": f"nowhere-{number}"}) for number in range(201)] + [json.dumps({"path": "rig"})]
    (town.folder / "routes.jsonl").write_text("\n".join(lines))
    assert agents(town)["rig/wolf"].role == "crew", "after any number of others"
    told = {(file, reason.partition(":")[0]) for file, _, reason in problems(town)}
    assert told == {("rig", "a message in the rig's own database"), ("rig/issues.jsonl", "invalid JSON")}
    rig.file.unlink()
    rig.file.symlink_to(town.file)
    assert {file for file, _, _ in problems(town)} == {"rig/issues.jsonl"}
    (town.folder / "routes.jsonl").unlink()
    (town.folder / "routes.jsonl").mkdir()
    assert problems(town) == {("routes.jsonl", 1, "the rigs' agents are missing: not a regular file")}


def test_a_message_in_both_tables_is_told_twice_and_opened_as_each(tmp_path: Path) -> None:
    town = gas_town(tmp_path / "gt", "tables")
    with closing(sqlite3.connect(town.file)) as database, database:
        database.execute("INSERT INTO wisps (id, description) VALUES ('hq-a1', 'Another.')")
        database.execute("INSERT INTO wisp_labels VALUES ('hq-a1', 'gt:message')")
    with BeadsStore.open(town.root) as store:
        both = [message for message in of(Message, scanned(store)) if message.id == "hq-a1"]
        assert {store.content(message) for message in both} == {"Take gt-77.", "Another."}


def test_an_export_does_not_stand_for_a_database_that_can_not_be_read(tmp_path: Path) -> None:
    town = gas_town(tmp_path / "gt", "tables")
    (town.folder / "issues.jsonl").write_text('{"id": "hq-0", "labels": ["gt:message", "from:mayor/"]}\n')
    town.file.write_bytes(town.file.read_bytes()[:4096] + b"\xff" * 4096)
    with BeadsStore.open(town.root) as store:
        events = scanned(store)
    assert {each.file for each in of(Problem, events)} == {"beads.db"}
    assert not of(Message, events)


def test_the_newest_mail_of_a_large_export_comes_before_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = gas_town(tmp_path / "gt")
    with town.held():
        for number in range(40):
            at = f"2026-03-16T15:{number:02}:00Z"
            town.mail(f"hq-n{number:02}", "mayor/", "deacon/", "x", "thread:t", created_at=at)

    def found() -> tuple[list[set[str]], list[Message], list[Agent]]:
        with BeadsStore.open(town.root) as store:
            batches = [[*batch] for batch in store.scan()]
        events = [event for batch in batches for event in batch]
        last = {message.id: message for message in of(Message, events)}
        return (
            [{message.id for message in of(Message, batch)} for batch in batches if of(Message, batch)],
            [last[name] for name in sorted(last)],
            sorted({agent.session_id: agent for agent in of(Agent, events)}.values(), key=str),
        )

    whole = found()
    monkeypatch.setattr(lines, "LARGE", 0)
    monkeypatch.setattr(feed, "PAGE", 3)
    paged = found()
    assert paged[0][0] == {"hq-n37", "hq-n38", "hq-n39"}
    assert paged[1:] == whole[1:]
