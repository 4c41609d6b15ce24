"""When a session is told of which messages: over any sequence of events, whatever comes and is read meanwhile."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.hooks.events import CHANGED, PROMPT, START, STOP, TOOL
from console.hooks.notices.announce import MOST_BLOCKS, MOST_REMINDERS, WAKE_SECONDS, settle
from console.hooks.notices.notice import NoticeWriter
from console.hooks.options import AT_START, EVERYWHERE, NOTICE
from console.hooks.sessions.session_state import SessionState, read_state
from mailstore.quick_answers import QuickMessage
from tests.hooks.session_mail import HeldMail, message

MOMENTS = [START, PROMPT, TOOL, STOP, CHANGED]


@dataclass
class Session:
    """A session whose agent may read messages by itself, and whose hooks are asked at each moment."""

    deliver: str = NOTICE
    state: SessionState = field(default_factory=lambda: SessionState("claude-code", "s"))
    mail: list[QuickMessage] = field(default_factory=list)
    now: float = 1000.0

    def __post_init__(self) -> None:
        self.state.agent_id = "claude-abcdef12"

    def at(self, moment: str, *, printed: bool = True) -> tuple[str, list[str], list[str], list[str]]:
        """Return the text, the messages that it tells of, those that it shows, and those recorded as read."""
        self.state = read_state(self.state.as_bytes(), "claude-code", "s")  # each event is a process of its own
        before = read_state(self.state.as_bytes(), "claude-code", "s")
        mail = HeldMail(self.mail)
        read, mail.messages = settle(self.state, mail.messages, moment)
        notice = NoticeWriter(self.state, "signalbox check --as claude-abcdef12", "", self.deliver).notice(
            mail, moment, self.now
        )
        if not printed:
            self.state = before
            return "", [], [], []
        self.mail = [each for each in self.mail if each.id not in read]
        notice.note(self.state, moment, self.now)
        return notice.text, [it.id for it in notice.messages], [it.id for it in notice.shown], read


STEPS = st.lists(
    st.one_of(
        st.sampled_from(MOMENTS),
        st.sampled_from(MOMENTS),
        st.just("letter"),
        st.just("check"),
        st.just("killed"),
        st.just("later"),
    ),
    max_size=60,
)


@given(STEPS)
def test_a_message_is_announced_once_between_tools_and_blocks_once(steps: list[str]) -> None:
    session = Session()
    told: set[str] = set()
    blocked: set[str] = set()
    reminded: Counter[str] = Counter()
    in_row = count = 0
    for step in steps:
        if step == "letter":
            count += 1
            session.mail.append(message(f"m{count}", sender=f"agent-{count % 3}"))
        elif step == "check":
            session.mail.clear()
        elif step == "later":
            session.now += WAKE_SECONDS
        elif step == "killed":
            session.at(TOOL, printed=False)
        else:
            unread = {each.id for each in session.mail}
            text, ids, shown, read = session.at(step)
            assert not shown
            assert not read
            assert set(ids) <= unread
            assert bool(text) == bool(ids) or step == START
            if step == START:
                assert set(ids) == unread
                told.clear()
            elif step in (TOOL, CHANGED):
                assert not set(ids) & told
                assert step == CHANGED or set(ids) == unread - told
            elif step == PROMPT:
                assert unread - told <= set(ids)
                reminded.update(set(ids) & told)
                assert not [name for name, times in reminded.items() if times > MOST_REMINDERS]
                in_row = 0
            elif ids:
                in_row += 1
                assert in_row <= MOST_BLOCKS
                assert set(ids) - blocked, "a block that no message is new to"
                blocked |= set(ids)
            else:
                assert unread <= blocked or in_row == MOST_BLOCKS
                in_row = 0
            told |= set(ids)


@given(STEPS, st.sampled_from([AT_START, EVERYWHERE]))
def test_what_was_shown_is_read_at_a_later_tool_or_turn_end(steps: list[str], deliver: str) -> None:
    session = Session(deliver)
    waiting: set[str] = set()
    count = 0
    for step in steps:
        if step == "letter":
            count += 1
            session.mail.append(message(f"m{count}", text="long " * 150))
        elif step == "killed":
            session.at(STOP, printed=False)
        elif step in MOMENTS:
            text, _, shown, read = session.at(step)
            assert set(read) == (waiting if step in (TOOL, STOP) else set())
            assert len(text) < 4600
            waiting = set() if step == START else waiting - set(read)
            assert not waiting & set(shown)
            waiting |= set(shown)
            assert all(f"id: {name}" in text for name in shown)


@given(st.lists(st.sampled_from([*MOMENTS, "own tool", "check"]), max_size=30))
def test_what_a_command_printed_is_read_at_the_next_event_that_can_prove_it(steps: list[str]) -> None:
    state = SessionState("claude-code", "s")
    unread, waiting, seen = [message(f"m{number}") for number in range(9)], set[str](), set[str]()
    for step in steps:
        state = read_state(state.as_bytes(), "claude-code", "s")
        if step == "check":
            new = [it.id for it in unread if it.id not in state.printed][:2]
            state.printed |= dict.fromkeys(new, 0)
            waiting |= set(new)
            continue
        moment = TOOL if step == "own tool" else step
        read, unread = settle(state, unread, moment, lambda _, step=step: step == "own tool")  # type: ignore[misc]
        due = {"own tool": seen, START: set(), CHANGED: set()}.get(step, waiting)
        assert set(read) == due
        waiting = set() if step == START else waiting - due
        seen = set(waiting) if step in ("own tool", START) else seen & waiting
        assert set(state.printed) == waiting


def test_messages_everywhere_come_whole_portion_by_portion() -> None:
    session = Session(EVERYWHERE, mail=[message(f"m{at}", text="word " * 300) for at in range(5)])
    seen = []
    for moment in (START, PROMPT, TOOL, TOOL, STOP, STOP):
        seen.append(session.at(moment)[2:])
    assert seen[0] == (["m0", "m1"], [])
    assert [name for shown, _ in seen for name in shown] == ["m0", "m1", "m2", "m3", "m4"]
    assert [name for _, read in seen for name in read] == ["m0", "m1", "m2", "m3", "m4"]


def test_a_message_that_is_too_long_is_shown_cut_once_and_stays_unread() -> None:
    session = Session(EVERYWHERE, mail=[message("m1", text="word " * 3000)])
    text, told, shown, _ = session.at(START)
    assert (told, shown) == (["m1"], [])
    assert "characters are left out, and it stays unread" in text
    assert session.at(TOOL) == ("", [], [], [])
    assert session.mail


def test_a_message_whose_text_can_not_be_read_is_told_of_once_and_stays_unread() -> None:
    session = Session(EVERYWHERE, mail=[message("m1", text="Fine."), message("m2", text=None)])
    text, told, shown, _ = session.at(START)
    assert (told, shown) == (["m1", "m2"], ["m1"])
    assert "1 more was left out and stays unread (1 can't be read now): run signalbox check --as claude-" in text
    assert "id: m2" not in text
    assert session.at(TOOL) == ("", [], [], ["m1"])
    session.mail.append(message("m3", text=None))
    text, told, shown, _ = session.at(TOOL)
    assert text == "The text of 1 unread message can't be read now: run signalbox check --as claude-abcdef12 later"
    assert (told, shown) == (["m3"], [])
    assert session.at(TOOL) == ("", [], [], [])
    assert [each.id for each in session.mail] == ["m2", "m3"]


def test_after_three_blocks_a_turn_ends() -> None:
    session = Session()
    blocks = []
    for at in range(5):
        session.mail.append(message(f"m{at}"))
        blocks.append(bool(session.at(STOP)[0]))
    assert blocks == [True, True, True, False, True]


@pytest.mark.parametrize("moment", [START, CHANGED])
def test_the_turn_after_an_announcement_does_not_repeat_it(moment: str) -> None:
    session = Session(mail=[message("m1")])
    assert session.at(moment)[0]
    assert not session.at(PROMPT)[0]
    assert session.at(STOP)[0]
    assert [bool(session.at(PROMPT)[0]) for _ in range(5)] == [True, True, True, False, False]


def test_a_sender_wakes_a_session_once_a_minute_and_the_person_always() -> None:
    session = Session(mail=[message("m1", "a")])
    assert session.at(CHANGED)[1] == ["m1"]
    session.mail.append(message("m2", "a"))
    assert session.at(CHANGED)[1] == []
    session.mail.append(message("m3", "user"))
    assert session.at(CHANGED)[1] == ["m2", "m3"]
    session.mail.append(message("m4", "a"))
    session.now += WAKE_SECONDS
    assert session.at(CHANGED)[1] == ["m4"]


@pytest.mark.parametrize("recipient", ["all", "broadcast", "#build", "project:ink"])
def test_mail_to_many_wakes_nobody_but_is_announced_to_who_works(recipient: str) -> None:
    session = Session(mail=[message("m1", to=recipient)])
    assert session.at(CHANGED)[0] == ""
    assert session.at(TOOL)[1] == ["m1"]
