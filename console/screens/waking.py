"""Wake the agent whose mail is shown: through its program where it has hooks, else with the user's own command."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from console.render.safe import visible_line
from console.render.short_text import plural
from console.screens.base_screen import BaseScreen
from console.screens.mail_screen import MailScreen
from console.screens.writing.composing import Composing, open_tasks
from mailstore.rules.delivery import State

if TYPE_CHECKING:
    from console.hooks.sessions.hooked_agents import LiveHook
    from console.screens.agent_orders import AgentGroup
    from mailstore.records.message import Message


MOST_LOOKED_AT = 5000
"""Messages of threads among whose writers are those that get an order together."""


def nobody_asks(session_id: str, words: str) -> None:
    """Do nothing with what was done."""


class Waking:
    """Wakes the agent whose mail is shown, or one that has not read the selected message, after asking."""

    def __init__(self, screen: MailScreen, composing: Composing) -> None:
        self._screen = screen
        self._composing = composing
        self._agents = AgentWaking(screen)

    def wake(self) -> None:
        """Wake the agent whose mail is shown, else the first that has not read the selected message."""
        view = self._screen.location.view
        name = view.name if view.kind == "agent" else self._sleeper()
        if name is None:
            self._screen.tell("Select an agent, or a message that one has not read")
        else:
            self._agents.wake(name)

    def _sleeper(self) -> str | None:
        message, session = self._screen.conversation.message, self._screen.session
        states = session.mailbox.bare_states(message, session.now()) if message is not None else {}
        unread = (name for name, state in states.items() if state in (State.UNREAD, State.FROZEN))
        return next((name for name in unread if session.mailbox.roster.get(name) is not None), None)

    def choose_status(self) -> None:
        """Ask what to do with the agent whose mail is shown, who sent or got the message, or with its task."""
        from console.screens.agent_status import AgentStatus
        from console.screens.menu import MenuChoice

        message, mailbox, more = self._screen.conversation.message, self._screen.session.mailbox, {}
        if message is not None and (tasks := len(open_tasks(mailbox, message))):
            task = MenuChoice("c", f"cancel {plural(tasks, 'task')} …", message.subject)
            more = {task: partial(self._composing.cancel, message)}
        AgentStatus(self._screen, more=more).choose(self._agent_shown(), self._group_shown())

    def _group_shown(self) -> AgentGroup | None:
        """Return those of the marked threads, else of the role or channel that is shown, else of the thread."""
        from console.hooks.steering import group_of
        from console.screens.agent_orders import AgentGroup

        screen, mailbox = self._screen, self._screen.session.mailbox
        if marked := screen.listing.marked_roots():
            return AgentGroup(f"those in {plural(len(marked), 'marked thread')}", self._writers(marked))
        view = screen.location.view
        if address := {"role": f"role:{view.name}", "channel": view.name}.get(view.kind, ""):
            return AgentGroup(address, tuple(group_of(address, mailbox.roster)))
        message = screen.conversation.message
        return None if message is None else AgentGroup("those in this thread", self._writers([message.id]))

    def _writers(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Return who wrote the messages of threads, got them, or is mentioned in them."""
        mailbox = self._screen.session.mailbox
        mail = (thread_message for one in ids for thread_message in mailbox.thread_messages(mailbox.root_of(one)))
        some = islice(mail, MOST_LOOKED_AT)
        return tuple(
            dict.fromkeys(name for message in some for name in (message.sender, *message.recipients, *message.mentions))
        )

    def _agent_shown(self) -> str:
        view, roster = self._screen.location.view, self._screen.session.mailbox.roster
        message = self._screen.conversation.message
        names = [view.name] if view.kind == "agent" else []
        names += [message.sender, *message.recipients] if message is not None else []
        return next((name for name in names if roster.get(name) is not None), "")


class AgentWaking:
    """Wakes an agent for its unread mail, after asking."""

    def __init__(self, screen: BaseScreen[Any], woken: Callable[[str, str], None] = nobody_asks) -> None:
        self._screen = screen
        self._woken = woken
        """Called with an agent that was woken, and the words that say so."""

    def wake(self, session_id: str) -> None:
        """Wake an agent, unless that can't be done here."""
        session = self._screen.session
        if session.moment is not None:
            self._screen.tell("Can't wake agents while showing the past")
        elif session.observe:
            self._screen.tell("Can't wake agents: observing")
        else:
            self._screen.run_task(self._wake(session_id), group="wake", exclusive=True)

    async def _wake(self, session_id: str) -> None:
        from console.hooks.sessions.live import hooked_agents
        from console.state.unread_mail import shown_to, unread_mail

        session = self._screen.session
        hooked = await asyncio.to_thread(hooked_agents, session.url, session.clock())
        shown = await asyncio.to_thread(shown_to, session.store, session_id)
        unread = unread_mail(session.store, session.mailbox, session_id, session.now(), shown)
        hook = hooked.live.get(session_id)
        if hook is not None and hook.can_be_woken:
            await self._ring(session_id, hook, unread)
        else:
            await self._run_command(session_id, unread)

    async def _ring(self, session_id: str, hook: LiveHook, unread: Sequence[Message]) -> None:
        """Wake a session through its program, for all its unread mail."""
        from console.hooks.waking.ringing import log_wake
        from console.hooks.waking.wake_session import ring
        from console.screens.ask import Ask

        screen, name = self._screen, visible_line(session_id)
        if not unread:
            screen.tell(f"{name} has no unread mail")
        elif not hook.is_idle:
            screen.tell(f"{name} is not idle: it will hear of its mail within a turn")
        elif await screen.ask_and_wait(
            Ask(f"Wake {name}?", f"{_number(unread)}, by {hook.way_to_wake}: starts a turn of {hook.tool}", verb="wake")
        ):
            screen.tell(f"Waking {name}…")
            rung = await asyncio.to_thread(ring, session_id, hook, unread)
            problem = await asyncio.to_thread(log_wake, rung, screen.session.clock())
            self._report(session_id, rung.problem or problem, rung.seconds)

    async def _run_command(self, session_id: str, unread: Sequence[Message]) -> None:
        """Run the user's own command for the unread mail of the types that wake."""
        from console.hooks.waking.wake_command import wake
        from console.screens.ask import Ask
        from mailstore.rules.presence import waking_mail

        screen, session, name = self._screen, self._screen.session, visible_line(session_id)
        mail, command = waking_mail(unread, session.config.wake.types), session.config.wake.command
        if not mail:
            screen.tell(f"{name} has no unread mail that would wake it")
            return
        if not command:
            screen.tell("No wake command: install its hooks with --wake, or set command under [wake] in config.toml")
            return
        detail = f"{' '.join(command)}\nfor {_number(mail)}"
        if not await screen.ask_and_wait(Ask(f"Wake {name}?", visible_line(detail), verb="wake")):
            return
        screen.tell(f"Waking {name}…")
        status, seconds = await wake(command, session.url, session_id, mail, is_quiet=True)
        self._report(session_id, f"{command[0]} ended with {status}" if status else "", seconds)

    def _report(self, session_id: str, problem: str, seconds: float) -> None:
        if problem:
            self._screen.report(problem, title="Not woken")
        else:
            words = f"{visible_line(session_id)} woken in {seconds:.1f} s"
            self._screen.tell(words)
            self._woken(session_id, words)


def _number(mail: Sequence[Message]) -> str:
    return f"{len(mail)} message{'s' * (len(mail) != 1)}"
