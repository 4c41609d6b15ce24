"""What goes on by itself: conversations, polls, freezes, deaths, successions, questions to the person."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from console.demo.lines import Episode, Spoken, fill, live_talk
from console.demo.personas import PERSON
from console.demo.simulation import Company
from mailstore.records.message import Message
from mailstore.records.protocol import TAG_NAMESPACES
from mailstore.records.roster import Agent

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

    def __init__(self, episode: Episode) -> None:
        self.left = list(episode.lines)
        self.figures: dict[str, str] = {}
        self.last: Message | None = None


class Scenario:
    """Chooses what happens next, one thing at a time. `clock` gives seconds of the demo's own time."""

    def __init__(self, company: Company, clock: Callable[[], float]) -> None:
        self._company = company
        self._clock = clock
        self._talk = live_talk()
        self._talks: list[_Conversation] = []
        self._episodes: list[Episode] = []
        self._asked: list[Message] = []
        self._questions = list(self._talk.question)
        company.rng.shuffle(self._questions)
        self._asleep: dict[str, float] = {}
        self._vacant: list[tuple[float, str]] = []
        self._next_death = clock() + FIRST_DEATH

    def step(self) -> None:
        """Let one thing happen; nothing, once there is mail enough. Raises what the store raises."""
        if len(self._company.mailbox) >= ENOUGH_MESSAGES:
            return
        now = self._clock()
        if self._vacant and now - self._vacant[0][0] >= HEIR_AFTER:
            self._company.succeed(self._vacant.pop(0)[1])
            return
        if self._company.welcome():
            return
        overdue = [name for name, since in self._asleep.items() if now - since >= SLEEP]
        if overdue:
            self._resume(overdue[0])
            return
        acts: list[tuple[Callable[[], bool], float]] = [
            (self._go_on, 6.0),
            (self._begin, 2.5),
            (self._poll, 4.0),
            (self._turn, 1.0),
            (self._ask, 0.5),
            (self._freeze, 0.3),
            (self._die, 0.2),
        ]
        while acts:
            weights = [weight for _, weight in acts]
            chosen = self._company.rng.choices(range(len(acts)), weights)[0]
            act, _ = acts.pop(chosen)
            if act():
                return

    def _go_on(self) -> bool:
        for talk in self._company.rng.sample(self._talks, len(self._talks)):
            speaker = self._company.holder(talk.left[0].by)
            if speaker is None or (talk.last is not None and talk.last.id not in self._company.mailbox):
                continue
            self._company.poll(speaker)
            self._speak(talk, speaker)
            return True
        return False

    def _begin(self) -> bool:
        if len(self._talks) >= AT_A_TIME:
            return False
        if not self._episodes:
            self._episodes = list(self._talk.episode)
            self._company.rng.shuffle(self._episodes)
        talk = _Conversation(self._episodes.pop())
        speaker = self._company.holder(talk.left[0].by)
        if speaker is None:
            return False
        self._talks.append(talk)
        self._speak(talk, speaker)
        return True

    def _speak(self, talk: _Conversation, speaker: Agent) -> None:
        line = talk.left.pop(0)
        if not talk.left:
            self._talks.remove(talk)
        above = talk.last
        subject = fill(line.subject, self._company.rng)
        if above is not None:
            subject = above.subject if above.subject.startswith("Re: ") else f"Re: {above.subject}"
        talk.last = self._company.say(
            speaker,
            _recipients(line, above),
            fill(line.body, self._company.rng),
            subject=subject,
            type=line.type,
            thread=above.id if above else None,
        )

    def _poll(self) -> bool:
        agents = self._company.living()
        self._company.rng.shuffle(agents)
        for agent in agents:
            if self._company.mailbox.unread_count(agent.session_id):
                self._company.poll(agent)
                return True
        return False

    def _turn(self) -> bool:
        agents = self._company.living()
        if agents:
            self._company.busy(self._company.rng.choice(agents))
        return bool(agents)

    def _ask(self) -> bool:
        self._asked = [message for message in self._asked if not self._is_answered(message)]
        question = self._questions[0]
        agent = self._company.holder(question.by)
        if agent is None or len(self._asked) >= OPEN_QUESTIONS:
            return False
        self._questions.append(self._questions.pop(0))
        rng = self._company.rng
        subject, body = fill(question.subject, rng), fill(question.body, rng)
        self._asked.append(self._company.say(agent, [PERSON], body, subject=subject, type="question"))
        return True

    def _is_answered(self, asked: Message) -> bool:
        mailbox = self._company.mailbox
        return asked.id in mailbox and len(mailbox.thread_messages(asked.id)) > 1

    def _freeze(self) -> bool:
        awake = self._company.living()
        if self._asleep or len(awake) <= STAY_AWAKE:
            return False
        agent = self._company.rng.choice(awake)
        self._asleep[agent.session_id] = self._clock()
        self._company.freeze(agent)
        return True

    def _resume(self, session_id: str) -> None:
        del self._asleep[session_id]
        for agent in self._company.frozen():
            if agent.session_id == session_id:
                self._company.resume(agent)

    def _die(self) -> bool:
        now = self._clock()
        if now < self._next_death or self._vacant:
            return False
        awake = self._company.living()
        mortal = [agent for agent in awake if agent.role in MORTAL]
        if not mortal or len(awake) <= STAY_AWAKE or len(self._company.mailbox.roster) >= ENOUGH_AGENTS:
            return False
        agent = self._company.rng.choice(mortal)
        self._vacant.append((now, agent.role))
        self._next_death = now + BETWEEN_DEATHS
        self._company.die(agent)
        return True


def _recipients(line: Spoken, above: Message | None) -> Sequence[str]:
    if line.to:
        return (line.to,)
    if above is None:
        return ("all",)
    is_channel = above.recipients[0].partition(":")[0] in TAG_NAMESPACES
    return above.recipients if is_channel else (above.sender,)
