"""Answer from a desk what a program asks its user: a permission for a tool, or a model's questions."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Callable, Coroutine, Sequence
from textwrap import wrap
from typing import Any

from console.hooks.permissions import (
    ALLOW,
    DENY,
    ELSEWHERE,
    END_TURN,
    PermissionAnswer,
    PermissionRequest,
    answer,
    folder_of,
    input_of,
    request_at,
)
from console.hooks.steering import put_record
from console.panes.facts import FactPage, facts
from console.render.safe import visible_line
from console.render.short_text import clock
from console.screens.agent_terminal import AgentTerminal
from console.screens.base_screen import BaseScreen
from console.screens.menu import Menu, MenuChoice
from console.screens.prompt import Prompt
from console.session import PAST, Session
from mailstore.errors import MailError
from mailstore.queries.concerns import Concern, ConcernKind
from mailstore.records.message import Intervention

DONE = {ALLOW: "Allowed once", DENY: "Denied", END_TURN: "Turn ended"}
ENDING_TURNS = frozenset({"claude-code", "opencode"})
"""Programs that end their turn by an answer."""
Asking = Callable[[Concern, PermissionRequest], Coroutine[Any, Any, None]]
LONGEST_NAME = 12
MOST_OPTIONS = 9
IN_WORDS, AT_TERMINAL = "w", "p"
WIDTH = 100
TRIES, PAUSE_SECONDS = 40, 0.1
"""How often, and how far apart, it is looked whether the hook has taken an answer."""
CHOICES = re.compile(r"[\d\s,]+")


def request_of(session: Session, concern: Concern | None) -> PermissionRequest | None:
    """Return what can be answered here of a concern: the oldest that its agent's program asks."""
    if concern is None or concern.kind is not ConcernKind.PERMISSION or session.moment is not None:
        return None
    hook = session.hooked.live.get(concern.who)
    return hook.asked[0] if hook is not None and hook.asked else None


def request_facts(session: Session, concern: Concern, request: PermissionRequest) -> FactPage:
    """Return all that is known of a request: the whole input of the tool, or the questions and their options."""
    asked = [(str(at), line) for at, line in enumerate(_question_lines(request), 1)]
    told = asked or [("tool", request.tool), *_input_lines(request)]
    about = [
        ("folder", request.cwd),
        ("who", f"{concern.who} ({request.program})"),
        ("since", clock(request.since, session.now())),
        ("until", clock(request.until, session.now())),
    ]
    return facts([*told, *about], room=max(len(name[:LONGEST_NAME]) for name, _ in (*told, *about)))


def _question_lines(request: PermissionRequest) -> list[str]:
    return [f"{text} · {' · '.join(_numbered(options))}" for text, options, _ in request.questions]


def _numbered(options: Sequence[str]) -> list[str]:
    return [f"{number}. {option}" for number, option in enumerate(options, 1)]


def _input_lines(request: PermissionRequest) -> list[tuple[str, str]]:
    """Return the input of a tool, a line for each line of it, and how much of it is not shown."""
    lines: list[tuple[str, str]] = []
    for name, value in input_of(request).items():
        first, *more = (value if isinstance(value, str) else str(value)).split("\n")
        lines += [(name, first), *(("", line) for line in more)]
    cut = request.size - len(request.given)
    return [*lines, ("…", f"{cut:,} more characters")] if cut > 0 else lines


class PermissionAnswers:
    """Asks the user, hands the answer to the hook that waits, and says whether it was taken."""

    def __init__(self, screen: BaseScreen[str | None], done: Callable[[Concern, str], None]) -> None:
        self._screen = screen
        self._done = done
        """Called with a concern that was answered, and the words that say how."""

    def ask(self, concern: Concern, request: PermissionRequest) -> None:
        """Ask what to answer, after showing all that is asked."""
        self._begin(concern, request, self._ask)

    def choose(self, concern: Concern, request: PermissionRequest, number: int) -> bool:
        """Answer a model's only question by the number of an option; return whether it has such an option."""
        if len(request.questions) != 1:
            self._screen.tell("No numbered options in this row · y: answer it")
            return False
        text, options, _ = request.questions[0]
        if number > len(options):
            self._screen.tell(f"This question has options 1 to {len(options)} only · y: answer in words")
            return False
        given = PermissionAnswer(ALLOW, self._screen.session.user, choices={text: options[number - 1]})
        self._begin(concern, request, lambda *_: self._give(concern, request, given))
        return True

    def _begin(
        self, concern: Concern, request: PermissionRequest, how: Callable[..., Coroutine[Any, Any, None]]
    ) -> None:
        screen, session = self._screen, self._screen.session
        if reason := PAST if session.moment is not None else "observing" if session.observe else "":
            screen.tell(f"Can't answer here: {reason}")
            return
        screen.run_task(how(concern, request), group="permission", exclusive=True)

    async def _ask(self, concern: Concern, request: PermissionRequest) -> None:
        given = await (self._chosen(request) if request.questions else self._decided(concern, request))
        if given == AT_TERMINAL:
            AgentTerminal(self._screen).go(concern.who)
        elif not isinstance(given, PermissionAnswer):
            self._screen.tell("Nothing was answered")
        else:
            await self._give(concern, request, given)

    async def _decided(self, concern: Concern, request: PermissionRequest) -> PermissionAnswer | str | None:
        # Enter, pressed twice by mistake, must not allow anything
        choices = [MenuChoice("n", "deny …", "the agent reads why"), MenuChoice("y", "allow once")]
        if request.program in ENDING_TURNS:
            choices.append(MenuChoice("e", "deny, and end its turn"))
        choices.append(MenuChoice(AT_TERMINAL, "answer at its terminal"))
        lines = [f"{name}: {line}" if name else line for name, line in _input_lines(request)]
        detail = "\n".join(part for line in lines for part in wrap(visible_line(line), self._width) or [""])
        question = f"{concern.who} asks to use {request.tool} in {request.cwd}"
        at = await self._screen.ask_and_wait(Menu(question, choices, self._screen.text_styles, detail=detail))
        if at is None or choices[at].key == AT_TERMINAL:
            return None if at is None else AT_TERMINAL
        what, user = (DENY, ALLOW, END_TURN)[at], self._screen.session.user
        if what != DENY:
            return PermissionAnswer(what, user)
        words = await self._screen.ask_and_wait(Prompt("Deny: why? The agent reads it"))
        return None if words is None else PermissionAnswer(DENY, user, words or "Denied by your user.")

    async def _chosen(self, request: PermissionRequest) -> PermissionAnswer | str | None:
        """Return what the user chooses of each question, by number or in words; None where one is left."""
        decisions: dict[str, str] = {}
        for text, options, is_several in request.questions:
            words: str | None = None
            if not is_several:
                choices = [*option_choices(options), MenuChoice(AT_TERMINAL, "answer at its terminal")]
                menu = Menu(text, choices, self._screen.text_styles)
                at = await self._screen.ask_and_wait(menu)
                if at is None or choices[at].key == AT_TERMINAL:
                    return None if at is None else AT_TERMINAL
                words = None if choices[at].key == IN_WORDS else options[at]
            if words is None:
                detail = "\n".join(map(visible_line, _numbered(options))) + "\nNumbers, or your own words"
                typed = await self._screen.ask_and_wait(Prompt(visible_line(text), detail=detail))
                if not typed:
                    return None
                words = _of_numbers(typed, options)
            decisions[text] = words
        return PermissionAnswer(ALLOW, self._screen.session.user, choices=decisions)

    async def _give(self, concern: Concern, request: PermissionRequest, given: PermissionAnswer) -> None:
        """Hand an answer to the hook, and say what became of it."""
        screen = self._screen
        hook = screen.session.hooked.live.get(concern.who)
        if hook is None:
            screen.report("Its session has ended meanwhile", title="The answer was not taken")
            return
        folder = folder_of(hook.folder)
        try:
            if not await asyncio.to_thread(answer, folder, request.id, given):
                screen.tell("It was answered here already")
                return
            outcome = await self._outcome(folder, request)
            if outcome == given.what:
                record = await asyncio.to_thread(self._record, concern, request, given)
                screen.session.live.fold([record], screen.session.clock())
        except (MailError, OSError) as error:
            screen.report(error, title="The answer was not recorded")
            return
        chosen = "; ".join(given.choices.values())
        words = f"Answered: {chosen}" if chosen else DONE[given.what]
        if outcome == ELSEWHERE:
            words = "Answered at its terminal meanwhile"
        elif outcome != given.what:
            screen.report("Its hook waits no longer: answer at its terminal", title="The answer was not taken")
            return
        self._done(concern, words)
        screen.tell(visible_line(f"{words} · {concern.who}"))

    @staticmethod
    async def _outcome(folder: str, request: PermissionRequest) -> str:
        for _ in range(TRIES):
            permission_request = await asyncio.to_thread(request_at, folder, request.id)
            if permission_request is not None and permission_request.outcome:
                return permission_request.outcome
            await asyncio.sleep(PAUSE_SECONDS)
        return ""

    def _record(self, concern: Concern, request: PermissionRequest, given: PermissionAnswer) -> Intervention:
        """Record who answered what in the journal, without the tool's input; return the record. Blocks."""
        session = self._screen.session
        details = {"agents": [concern.who], "tool": request.tool}
        record = Intervention(
            str(uuid.uuid4()), given.by, given.what, session.clock(), note=given.words, details=details
        )
        put_record(session.store, record)
        return record

    @property
    def _width(self) -> int:
        return max(20, min(WIDTH, self._screen.size.width - 12))


def option_choices(options: Sequence[str]) -> list[MenuChoice]:
    """Return the options of a question by their numbers, and that it is answered in words."""
    return [
        *(MenuChoice(str(at), option) for at, option in enumerate(options[:MOST_OPTIONS], 1)),
        MenuChoice(IN_WORDS, "in words …"),
    ]


def _of_numbers(typed: str, options: Sequence[str]) -> str:
    """Return the options whose numbers were typed; anything else as it is."""
    numbers = [int(word) for word in re.findall(r"\d+", typed)] if CHOICES.fullmatch(typed) else []
    if numbers and all(0 < number <= len(options) for number in numbers):
        return ", ".join(options[number - 1] for number in numbers)
    return typed
