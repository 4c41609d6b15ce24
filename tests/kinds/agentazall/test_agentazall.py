"""AgentAZAll mailboxes as their own program leaves them: copies, threads, dates, headers, agents."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from mailstore.errors import ContentGone, MailboxMissing
from mailstore.kinds.agentazall.message_file import moment
from mailstore.kinds.agentazall.names import addresses, name_of
from mailstore.kinds.agentazall.rules import Filter, filter_of, is_blocked
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.records.message import Delivery, Problem, Receipt
from mailstore.records.roster import Agent
from mailstore.registry import discover, open_store
from tests.kinds.agentazall.agentazall_mail import DAY, FIXTURE, ROOT, AgentAZAllMail, told


@pytest.fixture
def mail(tmp_path: Path) -> AgentAZAllMail:
    """Return mailboxes with two agents."""
    mail = AgentAZAllMail(tmp_path)
    mail.agent("ann@localhost")
    mail.agent("bob@localhost")
    return mail


def warnings(events: list[object]) -> list[str]:
    return [event.reason for event in events if isinstance(event, Problem) and not event.fatal]


def test_the_copies_of_a_message_are_one() -> None:
    listed = json.loads((FIXTURE / "MANIFEST.json").read_text())
    found, events = told(ROOT)
    assert len(listed) == 47
    assert sorted(found) == sorted({copy["message_id"] for copy in listed})
    assert len([event for event in events if type(event).__name__ == "Message"]) == 23
    assert not [event for event in events if isinstance(event, Problem)]
    for copy in listed:
        assert found[copy["message_id"]].subject == copy["subject"]
        assert found[copy["message_id"]].timestamp == copy["date"]


def test_a_copy_in_an_inbox_is_a_delivery_and_a_read_one_a_receipt() -> None:
    listed = [copy for copy in json.loads((FIXTURE / "MANIFEST.json").read_text()) if "/inbox/" in copy["path"]]
    _, events = told(ROOT)
    deliveries = {(event.message_id, event.recipient) for event in events if isinstance(event, Delivery)}
    assert deliveries == {(copy["message_id"], copy["path"].split("/")[2]) for copy in listed}
    reads = {(event.message_id, event.reader, event.time) for event in events if isinstance(event, Receipt)}
    assert reads == {(c["message_id"], c["path"].split("/")[2], None) for c in listed if c["status"] == "read"}
    assert len(reads) > 3


def test_sent_is_not_delivered() -> None:
    found, events = told(ROOT)
    [lost] = [one for one in found.values() if one.subject == "To a mailbox that does not exist"]
    assert lost.recipients == ("nobody@localhost",)
    assert not [event for event in events if isinstance(event, Delivery) and event.message_id == lost.id]
    assert "nobody@localhost" not in {event.session_id for event in events if isinstance(event, Agent)}


def test_an_answer_is_found_by_what_it_quotes() -> None:
    found, _ = told(ROOT)
    subjects = {found[one.thread].subject for one in found.values() if one.thread}
    assert len([one for one in found.values() if one.thread]) == 7
    assert {"Sprint 4 kickoff", "Urgent: build broken", "Report attached", "Docs chapter 1"} <= subjects
    # no quotation: by its subject, and who wrote to whom
    assert found["207d4831566d"].thread == "ce98dd57dd2c"


def test_agents_are_folders_and_say_what_they_do() -> None:
    _, events = told(ROOT)
    agents = {event.session_id: event.activity for event in events if isinstance(event, Agent)}
    assert agents == {"alice@localhost": "CURRENT: planning sprint 4", "bob@localhost": "", "carol@localhost": ""}


def test_attachments_are_those_in_the_folder_beside() -> None:
    found, _ = told(ROOT)
    assert [tag for tag in found["639f15837132"].tags if tag.startswith("attachment")] == [
        "attachment:att_blob.bin",
        "attachment:att_report.csv",
    ]


def test_every_way_to_name_the_mailboxes_gives_the_same(tmp_path: Path) -> None:
    mail = AgentAZAllMail.real(tmp_path)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"agent_name": "alice@localhost", "mailbox_dir": "./data/mailboxes"}))
    for path in (mail.root, mail.root.parent, tmp_path, config, mail.root / "bob@localhost"):
        assert AgentAZAllStore.recognise(path), path
        with open_store(path) as store:
            assert (store.kind, store.url) == ("agentazall", f"agentazall:{mail.root}")
    assert discover(mail.root / "bob@localhost") == f"agentazall:{mail.root}"


def test_what_is_no_mailbox_is_not_recognised(tmp_path: Path) -> None:
    (tmp_path / "a" / "2026-11-20").mkdir(parents=True)
    (tmp_path / "config.json").write_text('{"agent_name": 3, "mailbox_dir": ["x"]}')
    (tmp_path / "other.json").write_text("[" * 100_000)
    for path in (tmp_path, tmp_path / "config.json", tmp_path / "other.json", tmp_path / "none", Path("a\0b")):
        assert not AgentAZAllStore.recognise(path)
    with pytest.raises(MailboxMissing):
        AgentAZAllStore.open(tmp_path)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-11-20 20:46:47", datetime(2026, 11, 20, 20, 46, 47).timestamp()),
        ("Fri, 20 Nov 2026 20:49:59 +0000", 1795207799.0),
        ("2026-11-20T20:49:16.845840", 1795207756.84584),
        ("2026-11-20T21:49:16+01:00", 1795207756.0),
        ("yesterday", None),
        ("", None),
        ("99999999999999", None),
        ("0001-01-01 00:00:00 garbage", None),
    ],
)
def test_dates_have_three_grammars(text: str, seconds: float | None) -> None:
    assert moment(text) == seconds


def test_without_a_date_the_time_of_the_file_stands_in(mail: AgentAZAllMail) -> None:
    path = mail.message("ann@localhost/inbox", "m", Date="")
    found = told(mail.root)[0]["m"]
    assert (found.timed, found.timestamp) == (False, "")
    assert found.time == pytest.approx(path.stat().st_mtime)


def test_an_id_may_stand_in_brackets_and_a_file_may_have_any_name(mail: AgentAZAllMail) -> None:
    mail.message("ann@localhost/inbox", "17_bob_9f", Message_ID="<a1b2c3d4e5f6>")
    mail.message("ann@localhost/inbox", "no id", Message_ID="")
    assert set(told(mail.root)[0]) == {"a1b2c3d4e5f6", "no id"}


def test_the_last_of_two_headers_counts_and_is_warned_of(mail: AgentAZAllMail) -> None:
    mail.message("ann@localhost/inbox", "m", Subject="hello\nFrom: boss@localhost")
    found, events = told(mail.root)
    assert found["m"].sender == "boss@localhost"
    assert warnings(events) == ["the header From occurs more than once; the last one counts"]


def test_another_spelling_of_a_header_counts_only_where_the_right_one_is_missing(mail: AgentAZAllMail) -> None:
    mail.message("ann@localhost/inbox", "m", **{"from": "boss@localhost", "Subject": "", "subject": "Small"})
    found, events = told(mail.root)
    assert (found["m"].sender, found["m"].subject) == ("bob@localhost", "Small")
    assert len(warnings(events)) == 2


def test_a_byte_order_mark_is_warned_of(mail: AgentAZAllMail) -> None:
    data = mail.message("ann@localhost/inbox", "m").read_bytes()
    mail.put(f"ann@localhost/{DAY}/inbox/m.txt", b"\xef\xbb\xbf" + data)
    found, events = told(mail.root)
    assert found["m"].sender == "bob@localhost"
    assert len(warnings(events)) == 1


def test_in_reply_to_names_what_is_answered(mail: AgentAZAllMail) -> None:
    mail.message("ann@localhost/inbox", "m1")
    mail.message("ann@localhost/inbox", "m2", In_Reply_To="<m1>")
    assert told(mail.root)[0]["m2"].thread == "m1"


def test_an_answer_to_nothing_that_is_there_stands_alone(mail: AgentAZAllMail) -> None:
    mail.message(
        "ann@localhost/inbox", "m", "Yes.\n\n--- Original from x (2026-01-01 00:00:00) ---\nNo.", Subject="Re: X"
    )
    assert told(mail.root)[0]["m"].thread is None


def test_one_id_on_two_messages_keeps_both_and_warns(mail: AgentAZAllMail) -> None:
    mail.message("bob@localhost/sent", "m", "The true one.")
    mail.message("ann@localhost/inbox", "m", "A false one.")
    with AgentAZAllStore.open(mail.root) as store:
        found = {one.id: one for batch in store.scan() for one in batch if type(one).__name__ == "Message"}
        assert len(found) == 2
        [derived] = set(found) - {"m"}
        assert derived.startswith("m~")
        assert {store.content(one) for one in found.values()} == {"The true one.", "A false one."}
    _, events = told(mail.root)
    assert warnings(events) == [f"another message has the id m: this one is shown as {derived}"]


def test_content_is_found_in_any_copy_that_is_left(mail: AgentAZAllMail) -> None:
    mail.message("bob@localhost/sent", "m")
    mail.message("ann@localhost/inbox", "m")
    with AgentAZAllStore.open(mail.root) as store:
        [message] = [one for batch in store.scan() for one in batch if type(one).__name__ == "Message"]
        shutil.rmtree(mail.root / "bob@localhost")
        assert store.content(message) == "A body."
        assert store.raw(message).startswith(b"From: bob@localhost\n")
        shutil.rmtree(mail.root / "ann@localhost" / DAY)
        with pytest.raises(ContentGone):
            store.content(message)


def test_the_person_is_user_and_no_address_means_something_else_here() -> None:
    assert name_of("human@localhost") == "user"
    assert name_of("ann@localhost") == "ann@localhost"
    for address in ("user", "human", "all", "project:ink", "role:x", "lab/all", ""):
        assert name_of(address).startswith("agentazall:")


@pytest.mark.parametrize(
    ("field", "found"),
    [
        ("ann@localhost,bob@localhost", ("ann@localhost", "bob@localhost")),
        ("ann@localhost, ann@localhost, ", ("ann@localhost",)),
        ('"Doe, Ann" <ann@example.com>, bob', ("ann@example.com", "bob")),
        ("<", ("<",)),
        ("", ()),
    ],
)
def test_addresses_are_parted_by_commas(field: str, found: tuple[str, ...]) -> None:
    assert addresses(field) == found


def test_whoever_is_elsewhere_has_no_read_state_here(mail: AgentAZAllMail) -> None:
    mail.message("bob@localhost/sent", "away", To="rita.agenttalk, eve@example.com")
    mail.message("bob@localhost/sent", "here", To="ann@localhost, typo@localhost")
    found, events = told(mail.root)
    assert (found["away"].is_tracked, found["here"].is_tracked) == (False, True)
    agents = {event.session_id for event in events if isinstance(event, Agent)}
    assert agents == {"ann@localhost", "bob@localhost", "rita.agenttalk", "eve@example.com"}


def test_the_filter_is_the_program_s_own() -> None:
    for vector in json.loads((FIXTURE / "vectors" / "address_filter_vectors.json").read_text()):
        rules = filter_of({"address_filter": vector}) if "mode" in vector else filter_of({})
        assert is_blocked(rules, vector.get("sender", "a@x")) is not vector["accept"], vector


def test_mail_that_a_filter_would_reject_is_marked(mail: AgentAZAllMail) -> None:
    rules = {"mode": "blacklist", "blacklist": ["bob@*"]}
    config = {"agent_name": "ann@localhost", "mailbox_dir": "./data/mailboxes", "address_filter": rules}
    (mail.folder / "config_ann.json").write_text(json.dumps(config))
    mail.message("ann@localhost/inbox", "m")
    mail.message("bob@localhost/inbox", "other", From="ann@localhost", To="bob@localhost")
    found, _ = told(mail.root)
    assert ("!blocked" in found["m"].tags, "!blocked" in found["other"].tags) == (True, False)
    assert filter_of(config) == Filter("blacklist", ("bob@*",), ())
