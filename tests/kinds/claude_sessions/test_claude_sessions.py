"""Mail between Claude Code sessions: what real sessions left, and each state from the lines that prove it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
import sys
import time
from pathlib import Path

import pytest

from mailstore.conformance import following
from mailstore.conformance.following import ids, of, scanned
from mailstore.errors import ContentGone, MailboxMissing, Unsupported
from mailstore.kinds.claude_sessions.store import ClaudeSessionsStore
from mailstore.queries.timeline import timeline
from mailstore.records.draft import draft
from mailstore.records.events import Reset
from mailstore.records.message import Delivery, Message, Problem
from mailstore.records.roster import Agent, Status
from mailstore.registry import discover, mailbox_for, open_store
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from mailstore.state.past import mailbox_at
from tests.kinds.claude_sessions.transcripts import Home, session_id
from tests.mailboxes import NOW
from tests.refused import refused

REAL = Path(__file__).parents[2] / "fixtures" / "session-mail"
ALPHA, BETA = f"alpha@{session_id('alpha')[:4]}", f"beta@{session_id('beta')[:4]}"
REAL_STATES = {
    "delivered": [
        ("MARK-idle from alpha", "beta@bbbb", "read", ""),
        ("MARK-busy from alpha", "beta@bbbb", "read", ""),
        ("MARK-notify from alpha", "beta@bbbb", "read", ""),
        ("MARK-nobody", "nobody", "undelivered", "not sent: No agent named 'nobody' is reachable."),
    ],
    "refused": [
        ("MARK-refuse", "refuse@cd6a", "undelivered", "refused: it takes no messages of sessions"),
        ("MARK-bypass-approve", "bypass@5b4e", "undelivered", "denied by its user"),
        ("MARK-bypass-deny", "bypass@5b4e", "undelivered", "denied by its user"),
        ("MARK-gone", "gone", "undelivered", "not sent: No agent named 'gone' is reachable."),
        ("MARK-self", "alpha", "undelivered", "not sent: 'alpha' is this session itself"),
        ("MARK-printer", "printer@5510", "read", ""),
    ],
    "approved": [
        ("MARK-approve", "bypass@801f", "read", ""),
        ("MARK-expire", "bypass@801f", "undelivered", "expired before its user approved it"),
        ("MARK-from-print", "busy@edd5", "read", ""),
        ("MARK-leave", "bypass2@dde6", "undelivered", "expired before its user approved it"),
        ("MARK-dup", "busy@edd5", "read", ""),
        ("MARK-dup", "busy@edd5", "undelivered", "dropped at its inbox: it repeated your previous message"),
        ("MARK-dup", "busy@edd5", "dead", "recipient ended before reading"),
        ("MARK-dup", "busy@edd5", "dead", "recipient ended before reading"),
        ("MARK-busykill", "busy@edd5", "read", ""),
        ("MARK-from-sub", "bypass@801f", "undelivered", "lost: it ended while this was held"),
    ],
    "held": [("MARK-hold", "hold@7792", "undelivered", "lost: it ended while this was held")],
    "lost": [
        ("MARK-kill", "busy@bbbb", "undelivered", "lost: it ended with this in its inbox"),
        ("MARK-long", "busy@bbbb", "read", ""),
    ],
}


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / ".claude")
    found.begin("alpha")
    found.begin("beta")
    return found


def real(tmp_path: Path, story: str) -> Path:
    """Make a program's folder as real sessions left it, all of which have ended."""
    folder = tmp_path / ".claude"
    shutil.copytree(REAL / story, folder)
    (folder / "sessions").mkdir(exist_ok=True)
    return folder


def mailbox_of(store: ClaudeSessionsStore) -> Mailbox:
    mailbox = Mailbox()
    for batch in store.scan():
        mailbox.fold(batch, NOW)
    return mailbox


def seen(place: Path) -> list[tuple[str, str, str, str]]:
    """Return of each message its text, its recipient, the state, and why."""
    with ClaudeSessionsStore.open(place) as store:
        mailbox = mailbox_of(store)
        found = []
        for message in sorted(mailbox.newest(), key=lambda it: it.time):
            for name, standing in mailbox.states(message, NOW).items():
                found.append((store.content(message), name, standing.state.value, standing.reason))
        return found


def outcome(home: Home) -> tuple[str, str]:
    """Return the state and the reason of the one message that there is."""
    [(_, _, state, reason)] = seen(home.folder)
    return state, reason


@pytest.mark.parametrize("story", REAL_STATES)
def test_what_became_of_each_message_that_real_sessions_sent(tmp_path: Path, story: str) -> None:
    folder = real(tmp_path, story)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}
    found = [(text.split(" x")[0], to, state, reason[:70]) for text, to, state, reason in seen(folder)]
    expected = [(text, to, state, reason[:70]) for text, to, state, reason in REAL_STATES[story]]
    assert [each[:3] for each in found] == [each[:3] for each in expected]
    assert all(reason.startswith(wanted) for (*_, reason), (*_, wanted) in zip(found, expected, strict=True))
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}
    assert after == before


def test_the_dead_letters_of_which_the_sender_was_not_told_come_first(tmp_path: Path) -> None:
    with ClaudeSessionsStore.open(real(tmp_path, "approved")) as store:
        dead = mailbox_of(store).dead_letters(NOW)
    assert [it.is_told for it in dead] == [False] * 3 + [True] * 3


def test_the_timeline_has_every_step_and_the_past_its_own_state(tmp_path: Path) -> None:
    with ClaudeSessionsStore.open(real(tmp_path, "approved")) as store:
        mailbox = mailbox_of(store)
        [message] = [it for it in mailbox.newest() if store.content(it) == "MARK-approve"]
        steps = [(it.what, it.how) for it in timeline(mailbox, message, NOW)]
        assert steps[0][0] == "sent"
        assert steps[-3:] == [
            ("undelivered", "held for its user's approval, told to the sender"),
            ("read", ""),
            ("let through", ""),  # what the sender was told, when it was told
        ]
        held_at = next(it.time for it in mailbox.undelivered(message.id) if it.cause)
        assert held_at is not None
        past = mailbox_at(mailbox, held_at + 1)
        assert past.bare_states(message, held_at + 1) == {"bypass@801f": State.UNDELIVERED}


def test_sent_with_no_trace_of_it_at_its_recipient(home: Home) -> None:
    home.runs("beta")
    home.send("alpha", "beta", "hello", "m1")
    assert outcome(home) == ("unread", "")
    with ClaudeSessionsStore.open(home.folder) as store:
        [message] = of(Message, scanned(store))
        assert [(it.transport, it.reason) for it in store.ways(message)] == [
            ("sent", "sent; nothing shows that it arrived")
        ]


def test_sent_to_a_session_whose_transcript_is_not_here(home: Home) -> None:
    home.send("alpha", "gamma", "hello", "m1")
    assert seen(home.folder) == [("hello", "gamma", "unrecorded", "reads are not recorded")]


def test_in_the_inbox_of_a_session_that_runs(home: Home) -> None:
    home.runs("beta")
    home.send("alpha", "beta", "hello", "m1")
    home.arrive("beta", "alpha", "hello")
    assert outcome(home) == ("unread", "")
    with ClaudeSessionsStore.open(home.folder) as store:
        events = scanned(store)
        [message], [delivery] = of(Message, events), of(Delivery, events)
        assert delivery.recipient == BETA
        assert [it.reason for it in store.ways(message)] == ["in the recipient's inbox, not read yet"]


def test_lost_when_the_session_ended_with_it_in_its_inbox_also_if_it_was_resumed(home: Home) -> None:
    home.runs("alpha", at=-7200)
    home.send("alpha", "beta", "hello", "m1")
    home.arrive("beta", "alpha", "hello")
    lost = "undelivered", "lost: it ended with this in its inbox"
    assert outcome(home) == lost
    home.runs("beta", at=3600)
    assert outcome(home) == lost


def test_a_message_in_an_inbox_is_not_lost_where_the_program_does_not_say_what_runs(home: Home) -> None:
    home.processes.rmdir()
    home.send("alpha", "beta", "hello", "m1")
    home.arrive("beta", "alpha", "hello")
    assert outcome(home) == ("frozen", "frozen; the message is held")


def test_a_message_is_not_lost_where_what_runs_may_not_be_read_until_it_may(home: Home) -> None:
    home.send("alpha", "beta", "hello", "m1")
    home.arrive("beta", "alpha", "hello")
    mailbox = Mailbox()
    with ClaudeSessionsStore.open(home.folder) as store:
        with refused(home.processes):
            for batch in store.scan():
                mailbox.fold(batch, NOW)
        [message] = mailbox.messages()
        assert mailbox.bare_states(message, NOW) == {BETA: State.FROZEN}
        assert [problem.file for problem in mailbox.problems] == ["sessions"]
        for batch in store.news():
            mailbox.fold(batch, NOW)
    [message] = mailbox.messages()
    assert mailbox.bare_states(message, NOW) == {BETA: State.UNDELIVERED}
    assert not mailbox.problems


@pytest.mark.parametrize(
    ("outcomes", "state", "reason"),
    [
        (["held"], "undelivered", "held for its user's approval"),
        (["held", "released"], "unread", ""),
        (["held", "denied"], "undelivered", "denied by its user"),
        (["held", "expired"], "undelivered", "expired before its user approved it"),
        (["refused"], "undelivered", "refused: it takes no messages of sessions"),
        (["dropped"], "undelivered", "dropped at its inbox: it repeated your previous message"),
    ],
)
def test_what_the_sender_is_told(home: Home, outcomes: list[str], state: str, reason: str) -> None:
    home.runs("beta", pid=os.getpid())
    home.send("alpha", "beta", "hello", "m1")
    for number, each in enumerate(outcomes):
        home.notice("alpha", each, "m1", at=number + 1.0)
    found = [each for each in seen(home.folder) if each[0] == "hello"]
    assert [each[2:] for each in found] == [(state, reason)]


def test_read_after_it_was_held(home: Home) -> None:
    home.send("alpha", "beta", "hello", "m1")
    home.notice("alpha", "held", "m1", at=1)
    home.hold("beta", "alpha", "hello")
    home.read("beta", "m1", "hello", at=9)
    assert [each for each in seen(home.folder) if each[0] == "hello"] == [("hello", BETA, "read", "")]


def test_held_by_a_session_whose_sender_has_ended_and_was_not_told(home: Home) -> None:
    home.runs("beta")
    home.send("alpha", "beta", "hello there", "m1")
    home.hold("beta", "alpha", "hello")
    assert outcome(home) == ("undelivered", "held for its user's approval")
    with ClaudeSessionsStore.open(home.folder) as store:
        [dead] = mailbox_of(store).dead_letters(NOW)
    assert not dead.is_told


def test_held_for_a_sender_without_a_transcript_until_it_is_read(home: Home) -> None:
    home.hold("beta", "stranger", "hello")
    assert seen(home.folder) == [("hello", BETA, "undelivered", "held for its user's approval")]
    home.read("beta", "m1", "hello there", at=60, sender="stranger")
    assert seen(home.folder) == [("hello there", BETA, "read", "")]


def test_who_sent_a_message_is_a_claim_without_the_senders_transcript(home: Home) -> None:
    home.read("beta", "m1", "hello", sender="stranger", pid=4711)
    with ClaudeSessionsStore.open(home.folder) as store:
        [message] = of(Message, scanned(store))
        assert (message.sender, message.type) == ("stranger", "unverified")
        claim = "says that it is called stranger; the system verified process 4711"
        assert store.ways(message)[-1].reason == claim


def test_the_process_that_the_system_verified_tells_the_sender_whatever_it_is_called(home: Home) -> None:
    home.runs("alpha", pid=4711, procStart="5", name="renamed")
    home.read("beta", "m1", "hello", sender="somebody else", pid=4711)
    with ClaudeSessionsStore.open(home.folder) as store:
        [message] = of(Message, scanned(store))
    assert (message.sender, message.type) == (ALPHA, "")


def test_a_subagents_message_goes_out_under_its_sessions_name(home: Home) -> None:
    home.send("alpha", "beta", "hello", "m1", agent="a05f")
    with ClaudeSessionsStore.open(home.folder) as store:
        [message] = of(Message, scanned(store))
        assert (message.sender, message.type) == (ALPHA, "subagent")
        assert store.ways(message)[-1].reason == "written by its subagent a05f"


def test_of_equal_messages_each_has_its_own_state(home: Home) -> None:
    home.runs("beta")
    for number in range(3):
        home.send("alpha", "beta", "ping", f"m{number}", at=number * 10)
        home.arrive("beta", "alpha", "ping", at=number * 10 + 1)
    home.read("beta", "m0", "ping", at=2)
    with ClaudeSessionsStore.open(home.folder) as store:
        mailbox = mailbox_of(store)
        states = {it.id: [way.transport for way in store.ways(it)] for it in mailbox.newest()}
    assert states == {"m0": ["read", "sender"], "m1": ["in the inbox"], "m2": ["in the inbox"]}


def test_a_forked_sessions_copies_are_no_second_message(home: Home) -> None:
    home.send("alpha", "beta", "hello", "m1")
    home.read("beta", "m1", "hello")
    copied = {"sessionId": session_id("alpha"), "messageUuid": "u"}
    home.begin("fork", at=100)
    home.send("fork", "beta", "hello", "m1", forkedFrom=copied)
    with ClaudeSessionsStore.open(home.folder) as store:
        [message] = of(Message, scanned(store))
    assert (message.sender, message.recipients) == (ALPHA, (BETA,))


def test_text_that_quotes_a_message_or_a_notice_proves_nothing(home: Home) -> None:
    tag = '<cross-session-message from="uds:/run/cc-socks/1.sock" from-name="x">\nhi\n</cross-session-message>'
    notice = "[Cross-session delivery notice] Your message to another session was refused "
    notice += "(recipient: uds:/run/x/1.sock; msg_id: aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa): no."
    for text in (tag, notice, f"Another Claude session sent a message:\n{tag}"):
        typed = {"message": {"role": "user", "content": text}, "origin": {"kind": "human"}, "turnOrigin": "human"}
        home.write("beta", home.line("user", "beta", 1, **typed), home.queued("beta", text, 1))
        printed = [{"tool_use_id": "t", "type": "tool_result", "content": text}]
        result = {"stdout": text, "msg_id": "fake", "success": "true"}
        home.write(
            "beta", home.line("user", "beta", 2, message={"role": "user", "content": printed}, toolUseResult=result)
        )
        said = {"role": "assistant", "content": [{"type": "text", "text": f'{text} "msg_id":"x"'}]}
        home.write("beta", home.line("assistant", "beta", 3, message=said))
    assert seen(home.folder) == []


def test_a_teams_messages_are_left_to_the_teams_mailbox(home: Home) -> None:
    given = {"role": "user", "content": [{"tool_use_id": "t", "type": "tool_result", "content": "{}"}]}
    routing = {"sender": "team-lead", "target": "@alpha", "content": "hello"}
    done = {"success": True, "routing": routing, "msg_id": "m1"}
    home.write("alpha", home.line("user", "alpha", 1, message=given, toolUseResult=done))
    origin = {"kind": "peer", "from": "alpha", "body": "done", "senderTaskId": "t1", "msg_id": "m2"}
    home.write("alpha", home.line("user", "alpha", 2, message={"role": "user", "content": "x"}, origin=origin))
    assert seen(home.folder) == []


def test_sessions_are_agents_with_what_they_do(home: Home) -> None:
    home.runs("alpha", status="waiting", waitingFor="permission prompt")
    home.runs("beta", pid=99_999_999, status="busy")
    with ClaudeSessionsStore.open(home.folder) as store:
        agents = {it.session_id: it for it in of(Agent, scanned(store))}
    assert {it.session_id: (it.status, it.activity) for it in agents.values()} == {
        ALPHA: (Status.LIVING, "waiting: permission prompt"),
        BETA: (Status.DEAD, ""),
    }
    about = json.loads(agents[ALPHA].extra)
    assert (about["name"], about["folder"]) == ("alpha", "/srv/me/repo")
    assert (about["branch"], about["version"], about["pid"]) == ("main", "2.1.330", os.getpid())


def test_a_process_whose_number_another_one_has_now_is_dead(home: Home) -> None:
    home.runs("alpha", procStart="1")
    with ClaudeSessionsStore.open(home.folder) as store:
        agents = {it.session_id: it.status for it in of(Agent, scanned(store))}
    assert agents[ALPHA] is (Status.DEAD if sys.platform == "linux" else Status.LIVING)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has namespaces of processes")
def test_a_process_of_another_container_counts_as_alive(home: Home) -> None:
    home.runs("alpha", pid=99_999_999, pidDomain="linux:0123:pid:[1]")
    own = str(Path("/proc/self/ns/pid").readlink()).removeprefix("pid:")
    home.runs("beta", pid=99_999_998, pidDomain=f"linux:0123:pid:{own}")
    with ClaudeSessionsStore.open(home.folder) as store:
        agents = {it.session_id: it.status for it in of(Agent, scanned(store))}
    assert agents == {ALPHA: Status.LIVING, BETA: Status.DEAD}


def test_two_sessions_of_one_name_are_two_agents_and_mail_goes_to_the_one_that_ran(home: Home) -> None:
    other = home.projects / "-srv-me-other" / "bbbbbbbb-0000-4000-8000-000000000000.jsonl"
    other.parent.mkdir()
    named = {"type": "agent-name", "agentName": "beta", "sessionId": "bbbbbbbb-0000-4000-8000-000000000000"}
    other.write_text(json.dumps(named, separators=(",", ":")) + "\n")
    home.runs("beta", pid=78, at=-100)
    home.send("alpha", "beta", "hello", "m" * 36)
    home.notice("alpha", "refused", "a" * 36)
    home.notice("alpha", "held", "b" * 36)
    with ClaudeSessionsStore.open(home.folder) as store:
        events = scanned(store)
    assert {"beta@bbbb", BETA} <= {it.session_id for it in of(Agent, events)}
    assert {it.recipients for it in of(Message, events) if it.id[0] in "ab"} == {(BETA,)}


def test_a_renamed_session_is_one_agent_under_its_new_name(home: Home) -> None:
    home.send("alpha", "beta", "hello", "m1")

    async def story() -> None:
        with ClaudeSessionsStore.open(home.folder, poll=True) as store:
            scanned(store)
            async with following(store) as follow:
                home.write("alpha", {"type": "agent-name", "agentName": "omega", "sessionId": session_id("alpha")})
                events = await follow.until(lambda found: any(isinstance(it, Message) for it in found))
        assert of(Reset, events)
        assert {it.sender for it in of(Message, events)} == {f"omega@{session_id('alpha')[:4]}"}

    asyncio.run(story())


def test_a_session_that_gets_its_old_name_back_has_it(home: Home) -> None:
    for name in ("alpha", "omega", "omega", "alpha", "alpha"):
        home.write("alpha", {"type": "agent-name", "agentName": name, "sessionId": session_id("alpha")})
    for _ in range(2):  # from the transcript, then from what was kept
        with ClaudeSessionsStore.open(home.folder) as store:
            assert ALPHA in {it.session_id for it in of(Agent, scanned(store))}


def test_a_message_that_comes_while_the_console_is_open_and_its_read(home: Home) -> None:
    async def story() -> None:
        with ClaudeSessionsStore.open(home.folder, poll=True) as store:
            assert not ids(scanned(store))
            async with following(store) as follow:
                home.send("alpha", "beta", "hello", "m1")
                events = await follow.until(lambda found: "m1" in ids(found))
                [message] = of(Message, events)
                assert store.content(message) == "hello"
                home.read("beta", "m1", "hello", is_busy=True)
                await follow.until(lambda found: any(getattr(it, "reader", "") == BETA for it in found))

    asyncio.run(story())


def test_a_letter_of_a_deleted_transcript_stays(home: Home) -> None:
    home.send("alpha", "beta", "hello", "m1")
    home.read("beta", "m1", "hello")
    before = seen(home.folder)
    for name in ("alpha", "beta"):
        home.path(name).unlink()
    assert seen(home.folder) == before
    with ClaudeSessionsStore.open(home.folder) as store:
        events = scanned(store)
        assert b"hello" in store.raw(of(Message, events)[0])
        assert {it.activity for it in of(Agent, events)} == {"its transcript is gone"}


def test_what_was_read_is_kept_for_its_owner_alone_and_not_read_again(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.send("alpha", "beta", "hello", "m1")
    seen(home.folder)
    [kept] = (tmp_path / "state").rglob("transcripts.jsonl")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    read: list[object] = []
    monkeypatch.setattr("mailstore.kit.transcripts.transcript.Transcript.read", lambda self: read.append(self) or [])
    assert [each[0] for each in seen(home.folder)] == ["hello"]
    assert read == []


def test_a_damaged_line_is_reported_and_all_others_are_read(home: Home) -> None:
    with home.path("alpha").open("ab") as file:
        file.write(b'{"type":"user","msg_id":"{ broken\n')
    home.send("alpha", "beta", "hello", "m1")
    with ClaudeSessionsStore.open(home.folder) as store:
        events = scanned(store)
    assert list(ids(events)) == ["m1"]
    assert [it.line for it in of(Problem, events)] == [3]


def test_a_message_known_from_a_notice_alone_is_not_hidden(home: Home) -> None:
    home.notice("alpha", "refused", "a" * 36)
    with ClaudeSessionsStore.open(home.folder) as store:
        [message] = of(Message, scanned(store))
        assert message.subject == "(its text is in no transcript)"
        with pytest.raises(ContentGone):
            store.content(message)


def test_hostile_names_and_links(home: Home, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / f"{session_id('evil')}.jsonl").write_text("{}\n")
    (home.projects / "-link").symlink_to(secret)
    (home.projects / "-srv-me-repo" / "link.jsonl").symlink_to(home.path("alpha"))
    (home.processes / "1.json").write_text('{"pid":-1,"sessionId":"x"}')
    (home.processes / "2.json").write_text("[" * 100_000)
    os.mkfifo(home.processes / "3.json")
    os.mkfifo(home.projects / "-srv-me-repo" / "fifo.jsonl")
    home.write("beta", {"type": "agent-name", "agentName": "be\x1b[31mta/../@\n x", "sessionId": session_id("beta")})
    with ClaudeSessionsStore.open(home.folder) as store:
        names = {it.session_id for it in of(Agent, scanned(store))}
    assert names == {ALPHA, f"be-31mta-..-x@{session_id('beta')[:4]}"}


def test_it_is_read_only(home: Home) -> None:
    with ClaudeSessionsStore.open(home.folder) as store, pytest.raises(Unsupported, match="from process to process"):
        store.send(draft(sender="user", recipients=(ALPHA,), content="hello"))


def test_a_folder_of_projects_is_recognised_and_an_empty_one_of_the_program(home: Home, tmp_path: Path) -> None:
    with open_store(home.projects) as store:
        assert store.url == f"claude-sessions:{home.projects}"
    with open_store(f"claude-sessions:{home.folder}") as store:
        assert store.url == f"claude-sessions:{home.projects}"
    with open_store(home.folder) as store:
        assert store.kind == "several"
    empty = tmp_path / "other" / ".claude" / "projects"
    empty.mkdir(parents=True)
    assert ClaudeSessionsStore.recognise(empty)
    plain = tmp_path / "projects"
    plain.mkdir()
    assert not ClaudeSessionsStore.recognise(plain)


def test_the_turns_around_a_message_at_both_ends(tmp_path: Path) -> None:
    with ClaudeSessionsStore.open(real(tmp_path, "delivered")) as store:
        mailbox = mailbox_of(store)
        [message] = [it for it in mailbox.newest() if store.content(it) == "MARK-busy from alpha"]
        sent, read = store.transcripts(message)
        assert [(it.agent, it.did) for it in (sent, read)] == [("alpha@aaaa", "sent"), ("beta@bbbb", "read")]
        assert sent.resume == ("claude", "--resume", "aaaaaaaa-2222-4333-8444-5555abcdef12")
        assert sent.folder == "/srv/me/repo"
        turns = store.turns(sent)
        at = [turn.is_sought for turn in turns].index(True)
        assert [(it.speaker.value, it.text, it.tools) for it in turns[at - 1 : at + 2]] == [
            ("user", "tell beta while busy", ()),
            ("agent", "", ("SendMessage beta",)),
            ("agent", "sent 2", ()),
        ]
        [given] = [turn for turn in store.turns(read) if turn.is_sought]
        assert given.speaker.value == "another session"
        assert "MARK-busy from alpha" in given.text
        assert "user" in {turn.speaker.value for turn in store.turns(read)}


def test_a_transcript_that_went_away_says_so(home: Home) -> None:
    home.send("alpha", "beta", "hello", "m1")
    with ClaudeSessionsStore.open(home.folder) as store:
        [message] = of(Message, scanned(store))
        [place] = store.transcripts(message)
        home.path("alpha").unlink()
        with pytest.raises(ContentGone):
            store.turns(place)


def test_a_session_in_the_background_says_what_it_waits_for(home: Home) -> None:
    home.runs("alpha", kind="bg", status="waiting", waitingFor="permission prompt", jobId="dcf7fa15")
    home.write("alpha", home.line("assistant", "alpha", 0, message={}))
    state = home.folder / "jobs" / "dcf7fa15" / "state.json"

    def activity() -> str:
        with ClaudeSessionsStore.open(home.folder) as store:
            return next(it.activity for it in of(Agent, scanned(store)) if it.session_id == ALPHA)

    assert activity() == "waiting: permission prompt"
    state.parent.mkdir(parents=True)
    state.write_text(json.dumps({"state": "working", "tempo": "blocked", "needs": "approve Bash: touch bg.txt"}))
    assert activity() == "waiting: approve Bash: touch bg.txt"
    state.write_text("{")
    assert activity() == "waiting: permission prompt"
    home.runs("alpha", kind="bg", status="waiting", waitingFor="permission prompt", jobId="../dcf7fa15")
    assert activity() == "waiting: permission prompt"


def test_what_a_session_has_used(home: Home) -> None:
    home.runs("alpha", kind="interactive")
    usage = {"input_tokens": 10, "cache_read_input_tokens": 70_000, "output_tokens": 500}
    now = time.time() - NOW
    for number, ago in enumerate((200_000, 20, 10)):
        answer = {"id": f"msg_{number}", "model": "opus", "content": [], "usage": usage | {"input_tokens": number}}
        for _ in range(2):  # an answer is several lines
            home.write("alpha", home.line("assistant", "alpha", now - ago, message=answer))
    home.write("alpha", {"type": "cost-state", "totalCostUSD": 1.25, "sessionId": session_id("alpha")})
    with ClaudeSessionsStore.open(home.folder) as store:
        scanned(store)
        found = {it.name: it.value for it in store.describe_agent(ALPHA)}
        assert store.describe_agent("nobody") == []
        used = store.usage()[ALPHA]
    assert (used.model, used.context, used.window, used.cost) == ("opus", 70_002, None, 1.25)
    assert (used.given, used.written, used.hours[-1]) == (140_003, 1_000, 141_003)
    with ClaudeSessionsStore.open(home.folder) as store:  # as of a session whose hooks tell its id: nothing is read
        assert store.session_usage([session_id("alpha"), "other"]) == {session_id("alpha"): used}
    assert found == {
        "session": session_id("alpha"),
        "folder": "/srv/me/repo",
        "branch": "main",
        "version": "2.1.330",
        "process": f"{os.getpid()}, interactive",
        "resume": f"claude --resume {session_id('alpha')}",
    }


def test_where_a_folder_has_no_mailbox_those_of_the_home_folder_are_shown(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert mailbox_for(project) == f"claude-sessions:{home.projects}"
    with pytest.raises(MailboxMissing):
        discover(project)  # where hooks look
    inbox = tmp_path / ".claude" / "teams" / "ink" / "inboxes" / "ann.json"
    inbox.parent.mkdir(parents=True)
    inbox.write_text("[]")
    with open_store(mailbox_for(project)) as store:
        assert store.kind == "several"
        agents = {it.session_id for it in of(Agent, scanned(store))}
    assert {f"claude-sessions/{ALPHA}", "claude-teams/ann@ink"} <= agents
    (project / "data").mkdir()
    (project / "data" / "agent-mailbox.jsonl").write_text("")
    assert mailbox_for(project) == discover(project) == f"haak:{project}/data/agent-mailbox.jsonl"
