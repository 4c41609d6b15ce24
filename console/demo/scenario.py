"""What goes on by itself: conversations, polls, freezes, deaths, successions, questions to the user."""

from __future__ import annotations

from collections.abc import Callable

from console.demo.company import Company
from console.demo.script import Scene, ScriptedMessage, read_script
from mailstore.records.message import Message
from mailstore.records.roster import Agent, Status

ENOUGH_MESSAGES = 5_000
ENOUGH_AGENTS = 24
AT_A_TIME = 3
STAY_AWAKE = 5
OPEN_QUESTIONS = 3
FIRST_DEATH = 180.0
BETWEEN_DEATHS = 420.0
HEIR_AFTER = 25.0
SLEEP = 45.0
MORTAL = ("scribe", "analyst", "engineer", "ontologist")


class _Conversation:
    """A conversation that is going on: what is still to be said, and what was said last."""

    def __init__(self, scene: Scene) -> None:
        self.left = list(scene.lines)
        self.last: Message | None = None


class Scenario:
    """Chooses what happens next, one thing at a time. `clock` gives seconds of the demo's own time."""

    def __init__(self, company: Company, clock: Callable[[], float]) -> None:
        self._company = company
        self._clock = clock
        self._script = read_script("live")
        self._going_on: list[_Conversation] = []
        self._scenes: list[Scene] = []
        self._asked: list[Message] = []
        self._questions = list(self._script.question)
        company.rng.shuffle(self._questions)
        self._asleep: dict[str, float] = {}
        self._vacant: list[tuple[float, str]] = []
        self._next_death = clock() + FIRST_DEATH
        self._acts: dict[Callable[[], bool], float] = {
            self._go_on: 6.0,
            self._begin: 2.5,
            self._poll: 4.0,
            self._turn: 1.0,
            self._ask: 0.5,
            self._freeze: 0.3,
            self._die: 0.2,
        }

    def step(self) -> None:
        """Let one thing happen; nothing, once there is mail enough. Raises what the store raises."""
        if len(self._company.mailbox) >= ENOUGH_MESSAGES:
            return
        now = self._clock()
        if self._vacant and now - self._vacant[0][0] >= HEIR_AFTER:
            self._company.succeed(self._vacant.pop(0)[1])
            return
        if self._company.welcome() or self._resume(now):
            return
        acts = dict(self._acts)
        while acts:
            (act,) = self._company.rng.choices(list(acts), list(acts.values()))
            if act():
                return
            del acts[act]

    def _go_on(self) -> bool:
        for talk in self._company.rng.sample(self._going_on, len(self._going_on)):
            speaker = self._company.holder(talk.left[0].sender)
            if speaker is not None and (talk.last is None or talk.last.id in self._company.mailbox):
                self._company.poll(speaker)
                self._speak(talk, speaker)
                return True
        return False

    def _begin(self) -> bool:
        if len(self._going_on) >= AT_A_TIME:
            return False
        if not self._scenes:
            self._scenes = list(self._script.thread)
            self._company.rng.shuffle(self._scenes)
        talk = _Conversation(self._scenes.pop())
        speaker = self._company.holder(talk.left[0].sender)
        if speaker is None:
            return False
        self._going_on.append(talk)
        self._speak(talk, speaker)
        return True

    def _speak(self, talk: _Conversation, speaker: Agent) -> None:
        line = talk.left.pop(0)
        if not talk.left:
            self._going_on.remove(talk)
        talk.last = self._say(line, speaker, talk.last)

    def _say(self, line: ScriptedMessage, speaker: Agent, above: Message | None) -> Message:
        subject, body = line.filled(self._company.rng, above)
        recipients = line.recipients(speaker.session_id, above)
        thread = above.id if above else None
        return self._company.say(speaker, recipients, body, subject=subject, type=line.type, thread=thread)

    def _poll(self) -> bool:
        agents = self._company.all_that_are(Status.LIVING)
        self._company.rng.shuffle(agents)
        for agent in agents:
            if self._company.mailbox.unread_count(agent.session_id):
                self._company.poll(agent)
                return True
        return False

    def _turn(self) -> bool:
        agents = self._company.all_that_are(Status.LIVING)
        if agents:
            self._company.busy(self._company.rng.choice(agents))
        return bool(agents)

    def _ask(self) -> bool:
        self._asked = [message for message in self._asked if not self._is_answered(message)]
        (question,) = self._questions[0].lines
        agent = self._company.holder(question.sender)
        if agent is None or len(self._asked) >= OPEN_QUESTIONS:
            return False
        self._questions.append(self._questions.pop(0))
        self._asked.append(self._say(question, agent, None))
        return True

    def _is_answered(self, asked: Message) -> bool:
        mailbox = self._company.mailbox
        return asked.id in mailbox and len(mailbox.thread_messages(asked.id)) > 1

    def _freeze(self) -> bool:
        awake = self._company.all_that_are(Status.LIVING)
        if self._asleep or len(awake) <= STAY_AWAKE:
            return False
        agent = self._company.rng.choice(awake)
        self._asleep[agent.session_id] = self._clock()
        self._company.freeze(agent)
        return True

    def _resume(self, now: float) -> bool:
        overdue = next((name for name, since in self._asleep.items() if now - since >= SLEEP), None)
        if overdue is None:
            return False
        del self._asleep[overdue]
        for agent in self._company.all_that_are(Status.FROZEN):
            if agent.session_id == overdue:
                self._company.resume(agent)
        return True

    def _die(self) -> bool:
        now = self._clock()
        if now < self._next_death or self._vacant:
            return False
        awake = self._company.all_that_are(Status.LIVING)
        mortal = [agent for agent in awake if agent.role in MORTAL]
        if not mortal or len(awake) <= STAY_AWAKE or len(self._company.mailbox.roster) >= ENOUGH_AGENTS:
            return False
        agent = self._company.rng.choice(mortal)
        self._vacant.append((now, agent.role))
        self._next_death = now + BETWEEN_DEATHS
        self._company.die(agent)
        return True
