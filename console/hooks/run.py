"""One event of a program's session, from its input to the answer. Imports next to nothing until something is unusual.

The answer is printed before it is remembered: a message that was not printed must never count as announced or read.
"""

from __future__ import annotations

import os
import time

from console.hooks import clock
from console.hooks.events import ASKED, CHANGED, CWD, END, GATE, PROMPT, START, STOP, TOOL, Answer
from console.hooks.log import log_error
from console.hooks.notices.announce import settle
from console.hooks.notices.check_command import check_command
from console.hooks.notices.notice import MailNotice, NoticeWriter
from console.hooks.options import RunOptions
from console.hooks.programs import program
from console.hooks.quick_look import CWD as CWD_FIELD
from console.hooks.quick_look import GONE, stat_mark, token_in
from console.hooks.server_looks import is_recent, note_look
from console.hooks.sessions import registration
from console.hooks.sessions.cleanup import clean
from console.hooks.sessions.identity import VARIABLE
from console.hooks.sessions.mailbox_choice import mailbox_of, store_option
from console.hooks.sessions.printed import PROMPTED
from console.hooks.sessions.session_state import WORKING, opened, read_state
from console.hooks.state_folder import all_folders, held_root, hooks_folder
from console.hooks.unread.look import look
from console.hooks.unread.slow_looks import begin_look, end_look, is_too_slow
from console.hooks.unread.watched import bell_of, mailbox_file, paths_of
from console.hooks.user_prompts import BY_BELL, PATIENCE_SECONDS, TAKES_PROMPTS, prompts_of
from mailstore.errors import MailError
from mailstore.files.scan import record_in
from mailstore.files.whole import open_binary, open_regular
from mailstore.quick_answers import UnreadMail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from console.hooks.events import HookEvent
    from console.hooks.programs import Program
    from console.hooks.sessions.session_state import SessionState
    from console.hooks.user_prompts import UserPrompt

NOTIFYING = (START, PROMPT, TOOL, STOP, CHANGED)
"""The moments at which a session can be notified of its mail."""
REVIVING = (START, PROMPT, TOOL)
"""The moments at which a session that has ended continues; any other event of it is late."""
OWN_WORDS = "Signalbox: "
OWN_NAME = "signalbox"
"""What the input of a tool that ran our commands holds."""
PLACES = ("cwd", "path", "dir", "roots")
"""How the names of fields end that say where a session runs, which may be in a folder of that name."""
ENV_FILE = "CLAUDE_ENV_FILE"
"""What Claude Code calls the file that its shells read; SessionStart hooks may append to it."""
MOST_ENV_BYTES = 1 << 20
COMPACT = "compact"
"""The source of a start in the middle of a session, whose context was compacted."""
REPEAT_SECONDS = 5.0
REMEMBERED = "notified"


def run(words: list[str], data: bytes) -> int:
    """Answer an event; return the exit status. `words` are the program's name and the options of the hook."""
    name = words[0]
    event = ""
    try:
        tool = program(name)
        if tool is None:
            raise ValueError("unknown program; signalbox hook uninstall removes its hooks")
        options = RunOptions(words[1:])
        given = _object(data)
        happened = tool.read(given, options.event, os.environ)
        if happened is None:
            return 0
        event = happened.native
        if happened.moment == GATE:
            from console.hooks.gate import before_tool

            if (refusal := before_tool(tool, happened, options.limits)) is not None:
                _print(refusal)
            return 0
        status = Hook(tool, options, " ".join(words[1:]), happened, data).answer()
        if happened.moment == ASKED and options.has_gate:
            from console.hooks.asked import while_asked

            if (decision := while_asked(tool, happened)) is not None:
                _print(decision)
        return status
    except Exception as error:
        log_error(name, event, error)
        return 0


def _object(data: bytes) -> dict[str, Any]:
    record = record_in(data.decode().strip())
    if record is None:
        raise ValueError("the input is not a JSON object")
    return record


class Hook:
    """One run for one event."""

    def __init__(self, tool: Program, options: RunOptions, typed: str, event: HookEvent, data: bytes) -> None:
        self._tool = tool
        self._options = options
        self._typed = typed
        self._event = event
        self._data = data
        self._cwd_token = token_in(data, CWD_FIELD).decode("utf-8", "replace")
        self._env: Mapping[str, str] = os.environ
        self._now = time.time()
        self._mailbox = self._folder = ""
        self._has_notified = False
        self._given: list[UserPrompt] = []
        """What the plugin gets with the answer, to prompt the session with."""

    def answer(self) -> int:
        """Do what the event asks for, and return the exit status."""
        event = self._event
        mailbox = self._chosen()
        if mailbox is None:
            return 0
        self._mailbox, self._folder = mailbox, hooks_folder(mailbox)
        is_known = has_state(self._folder, self._tool.NAME, event.session_id)
        if not is_known and (event.moment == END or event.is_subagent):
            return 0
        with opened(self._folder, self._tool.NAME, event.session_id) as held:
            state = held.state
            if event.moment == END:
                state.printed = {}
                self._forget_prompts()
                if not state.is_ended:
                    self._log(registration.leave(state, mailbox, self._options.at_end, self._now))
                    held.save()
                    forget_cancellations(self._folder, state.agent_id)
                return 0
            if event.is_subagent:
                self._log(registration.beat(event, state, mailbox, self._now))
                held.save()
                return 0
            if state.is_ended and event.moment not in REVIVING:
                return 0
            answer = self._decided(held)
            clock.stop()
            _print(answer)
            held.save()
            for prompt in self._given:
                prompt.is_given = True
                prompt.save()
            clock.start(answer.status)
            try:
                doing = WORKING if event.moment == STOP and self._has_notified else ""
                self._log(registration.beat(event, state, mailbox, self._now, doing))
                held.save()
                if event.moment == START:
                    clean(self._now)
            except Exception as error:  # the answer stands
                log_error(self._tool.NAME, event.native, error)
        return answer.status

    def _chosen(self) -> str | None:
        """Return the session's mailbox: that of its last event, where nothing suggests another one."""
        event = self._event
        known = None
        if event.moment not in (START, CWD):
            known = known_mailbox(self._tool.NAME, event.session_id, self._typed, self._cwd_token)
        if known and _is_there(known):
            return known
        mailbox = mailbox_of(event.cwd, self._options.store, self._env)
        if known and mailbox is None:
            self._log(f"{known} does not exist any more")
        return mailbox

    def _log(self, problem: str) -> None:
        if problem:
            log_error(self._tool.NAME, self._event.native, problem)

    def _decided(self, held: opened) -> Answer:
        """Return the answer; the state becomes what it is once the answer was printed."""
        event, state = self._event, held.state
        state.mailbox, state.options, state.cwd_token = self._mailbox, self._typed, self._cwd_token
        state.cwd, state.can_wake, state.last_run = event.cwd, self._options.can_wake, self._now
        arrival = None
        if event.moment == START or not state.agent_id or state.is_ended:
            arrival = registration.arrive(event, state, self._mailbox, self._env, self._tool, self._now)
            self._log(arrival.problem)
            held.save()  # registered is registered, even if the look at the mail takes too long
        event.agent_id = state.agent_id
        store = store_option(self._mailbox, event.cwd, self._env)
        if event.moment == START:
            export(self._env, state.agent_id, store)
        if event.moment in NOTIFYING and not event.is_unheard and state.agent_id:
            command = check_command(state.agent_id, store, self._env)
            return self._notify(held, NoticeWriter(state, command, store, self._options.deliver, arrival))
        return self._tool.answer(event, "", self._watched())

    def _notify(self, held: opened, writer: NoticeWriter) -> Answer:
        """Return the answer at a moment when the session can be notified of its mail."""
        state = held.state
        state.extra[TAKES_PROMPTS] = self._event.takes_prompts
        if self._event.moment == START and self._event.source != COMPACT:
            self._forget_prompts()
        coming = prompts_of(self._folder, self._tool.NAME, self._event.session_id)
        arrived = self._arrived(coming)
        answer = self._answer_to(held, writer, coming, arrived)
        state.printed |= dict.fromkeys(arrived, PROMPTED)
        return answer

    def _arrived(self, coming: list[UserPrompt]) -> list[str]:
        """Return which of the user's messages this prompt is; leave out these and what has not come for long."""
        result = []
        is_prompt = self._event.moment == PROMPT
        for prompt in coming[:]:
            has_come = is_prompt and prompt.has_come(self._event.prompt)
            is_late = (is_prompt or prompt.is_given) and self._now - prompt.at > PATIENCE_SECONDS
            if has_come or is_late:
                prompt.forget()
                coming.remove(prompt)
            if has_come:
                result.append(prompt.message_id)
        return result

    def _forget_prompts(self) -> None:
        for prompt in prompts_of(self._folder, self._tool.NAME, self._event.session_id):
            prompt.forget()

    def _answer_to(self, held: opened, writer: NoticeWriter, coming: list[UserPrompt], arrived: list[str]) -> Answer:
        """Return the answer, which leaves out what comes, or has come, as a prompt of the user's."""
        event, state = self._event, held.state
        if event.moment == CHANGED:
            self._given = [prompt for prompt in coming if prompt.prompt and not prompt.is_given]
            event.prompts = [prompt.prompt for prompt in self._given]
            if self._given or not self._options.can_wake:
                return self._tool.answer(event, "", ())
        if event.moment == PROMPT and (event.is_continued or (state.last_block and state.last_block in event.prompt)):
            return self._tool.answer(event, "", ())  # the prompt is an answer of ours
        if event.moment in (START, PROMPT) and is_repeated(
            state, event, self._options, self._now, is_first=writer.is_first(event.moment)
        ):
            return self._tool.answer(event, "", self._watched())
        known = paths_of(self._mailbox)
        paths = known or state.paths
        mark = [stat_mark(path) for path in paths]  # before the mail is read: what comes meanwhile is seen next time
        is_same = not state.printed and paths and (state.unread, state.paths, state.mark) == (0, paths, mark)
        if event.moment == TOOL and not state.printed and is_recent(self._mailbox, state.extra, self._now):
            return self._tool.answer(event, "", self._watched())
        if not is_same and is_too_slow(state, self._folder, self._now):
            return self._tool.answer(event, writer.introduction(event.moment), self._watched())
        mail = UnreadMail() if is_same else self._looked(held)
        if not (known or is_same):
            paths, mark = list(mail.watched), list(mail.watched.values())
        try:
            read, mail.messages = settle(state, mail.messages, event.moment, self._is_printing)
            if read:
                mail.record(read)
            if event.moment == PROMPT and self._is_a_wake(state.agent_id):
                MailNotice("", mail.messages).note(state, CHANGED, self._now)
                notice = MailNotice()
            else:
                ids = {message.id for message in mail.messages if any(one.is_of(message, mail.text) for one in coming)}
                notice = writer.notice(mail, event.moment, self._now, ids.union(arrived), is_rung=event.is_rung)
            answer = self._tool.answer(event, notice.text, self._watched())
        finally:
            mail.close()
        if not notice.text or answer.out or answer.err:
            notice.note(state, event.moment, self._now)
            self._has_notified = bool(notice.text)
            state.unread, state.paths, state.mark = len(mail.messages), paths, mark
        return answer

    def _is_printing(self, message_id: str) -> bool:
        """Say whether the tool that has ended may be the one that printed a message, which no model has seen yet."""
        if message_id.encode("utf-8", "replace") in self._data:
            return True
        given = {name: value for name, value in _object(self._data).items() if not name.lower().endswith(PLACES)}
        return OWN_NAME in str(given)

    def _is_a_wake(self, agent_id: str) -> bool:
        """Say whether a prompt is a notice that was queued to wake the session."""
        return self._event.prompt.startswith(OWN_WORDS) and f" check --as {agent_id}" in self._event.prompt

    def _looked(self, held: opened) -> UnreadMail:
        """Return the agent's unread mail; should the clock end this, the next event knows."""
        if begin_look(held.state, self._mailbox, self._now):
            held.save()
        note_look(self._mailbox, held.state.extra, self._now)
        try:
            mail = look(self._mailbox, held.state.agent_id, self._now, self._env)
        except MailError:  # it has ended, if badly: only what the clock ends is too slow
            end_look(held.state)
            held.save()
            raise
        end_look(held.state)
        return mail

    def _watched(self) -> tuple[str, ...]:
        """Return the files that the program has to watch, so that mail can wake the session."""
        can_wake = self._options.can_wake
        if self._event.moment not in (START, CWD) or not (can_wake or self._tool.NAME in BY_BELL):
            return ()
        bell = bell_of(self._folder, self._tool.NAME, self._event.session_id)
        os.close(open_regular(bell, os.O_WRONLY | os.O_CREAT))
        return tuple(filter(None, (mailbox_file(self._mailbox) if can_wake else "", bell)))


def _is_there(mailbox: str) -> bool:
    path = mailbox_file(mailbox)
    return not path or os.path.exists(path)  # noqa: PTH110 - pathlib costs more than all of this


def _print(answer: Answer) -> None:
    """Write the answer at once, past any buffer. Raises OSError if its reader is gone."""
    for fd, text in ((1, answer.out), (2, answer.err)):
        data = memoryview(text.encode("utf-8", "replace"))
        while data:
            data = data[os.write(fd, data) :]


def forget_cancellations(folder: str, agent_id: str) -> None:
    """Forget what was cancelled for an agent that has ended: any order makes the hooks of all look for theirs."""
    if stat_mark(held_root()) != GONE:
        from console.hooks.orders import place_of, take_cancellations

        take_cancellations(place_of(folder), agent_id)


def has_state(folder: str, tool: str, session_id: str) -> bool:
    """Say whether hooks have run for a session."""
    try:
        return os.stat(f"{folder}/{tool}-{session_id}").st_size > 0  # noqa: PTH116 - pathlib costs too much
    except OSError:
        return False


def known_mailbox(tool: str, session_id: str, options: str, cwd_token: str) -> str | None:
    """Return the mailbox that a session had when its hook last ran in the same folder with the same options.

    None for one on a server, whose secrets are not kept: it has to be chosen again.
    """
    for folder in all_folders():
        try:
            with open_binary(f"{folder}/{tool}-{session_id}") as file:
                state = read_state(file.read(), tool, session_id)
        except OSError:
            continue
        if state.mailbox and cwd_token and (state.options, state.cwd_token) == (options, cwd_token):
            return None if state.mailbox.partition(":")[2].startswith("//") else state.mailbox
    return None


def export(env: Mapping[str, str], agent_id: str, store: str) -> None:
    """Append the agent's id, and its mailbox unless that is empty, to the file that its shells read, each once.

    Raises OSError.
    """
    path = env.get(ENV_FILE, "")
    values = {VARIABLE: agent_id, "SIGNALBOX_STORE": store}
    lines = [f"export {name}={_quoted(value)}\n" for name, value in values.items() if value and value.isprintable()]
    if not lines or not os.path.isabs(path):  # noqa: PTH117 - pathlib costs more than all of this
        return
    fd = open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW)
    try:
        known = os.pread(fd, MOST_ENV_BYTES, 0)
        data = "".join(lines).encode("utf-8", "surrogateescape")
        if not known.endswith(data):  # the last words count, and are there already
            os.write(fd, (b"\n" if known and not known.endswith(b"\n") else b"") + data)
    finally:
        os.close(fd)


def _quoted(text: str) -> str:
    """Return a text as one word of a shell's command, whatever it holds."""
    return "'" + text.replace("'", "'\\''") + "'"


def is_repeated(state: SessionState, event: HookEvent, options: RunOptions, now: float, *, is_first: bool) -> bool:
    """Return whether a start or a prompt was answered already; else remember that it is.

    `is_first` says that the notice introduces the agent.
    """
    copy = "|".join((options.store, options.deliver, options.at_end, str(options.can_wake)))
    last = state.extra.get(REMEMBERED)
    if isinstance(last, list) and len(last) == 5 and isinstance(last[0], int | float):
        at, moment, source, other, was_first = last
        is_recent = abs(now - at) < REPEAT_SECONDS  # the copy that began first may have its turn last
        is_other_copy = other != copy and moment == event.moment and source == event.source
        is_late_start = moment == PROMPT and was_first and event.source in ("startup", "resume")
        if is_recent and (is_other_copy or (event.moment == START and is_late_start)):
            return True
    state.extra[REMEMBERED] = [now, event.moment, event.source, copy, is_first]
    return False
