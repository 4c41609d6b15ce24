"""What the panes of the overview show: the traffic, the state of the fleet, and its parties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from console.words.concern_words import symbol_of
from console.words.symbols import NEVER_SEEN, SIGNS, Symbol
from mailstore.overview.bars import TimeBars
from mailstore.overview.matrix import PairTable
from mailstore.overview.picture import AgentTraffic, TrafficPicture
from mailstore.overview.standing import FleetStanding, HotSpot, OldQuestion
from mailstore.records.details import AgentUsage
from mailstore.records.message import SOMEBODY
from mailstore.records.protocol import PERSON
from mailstore.records.roster import Agent, Status
from mailstore.state.mailbox import Mailbox
from mailstore.steps import BackgroundWork, Steps

PER_STEP = 32
"""How many agents one step looks at."""

UNKNOWN_PARTY = Symbol("!", "warn")
"""A sender or reader that is not registered."""
YOU = SIGNS["you, among agents"]


def hot_symbol(spot: HotSpot) -> Symbol:
    """Return the glyph and the colour of a hot spot: that of its concern."""
    return symbol_of(spot.concern)


class AgentLine(Struct, frozen=True):
    """An agent, the user or an unregistered name: its traffic and its state.

    `unread` is None where the mailbox doesn't record reads; `is_over` for an agent that has ended.
    """

    traffic: AgentTraffic
    symbol: Symbol
    unread: int | None = 0
    asked: OldQuestion | None = None
    hot: HotSpot | None = None
    is_over: bool = False
    usage: AgentUsage | None = None
    """What it has used; None where that is not known."""

    @property
    def key(self) -> str:
        """Return the name."""
        return self.traffic.name


class ChannelLine(Struct, frozen=True):
    """A channel: its tag, its messages by bar, how many parties sent them, and how many are new to the user."""

    key: str
    sent: tuple[int, ...]
    senders: int
    unseen: int = 0
    hot: HotSpot | None = None


class OverviewModel(Struct, frozen=True):
    """Everything that one drawing shows; `standing` is None until it is computed."""

    span: str
    picture: TrafficPicture
    agents: tuple[AgentLine, ...]
    channels: tuple[ChannelLine, ...]
    standing: FleetStanding | None
    labels: Mapping[str, str]
    """How channels are written."""
    pairs: PairTable
    full_percent: float = 90.0
    """How full a context has to be to need attention."""

    @property
    def bars(self) -> TimeBars:
        """Return the bars of time."""
        return self.picture.bars

    def label(self, name: str) -> str:
        """Return a party as it is shown."""
        return self.labels.get(name, "you" if name == PERSON else name)


def party_words(names: tuple[str, ...], model: OverviewModel) -> str:
    """Return one party, or how many others."""
    return model.label(names[0]) if len(names) == 1 else f"{len(names)} others"


def model_steps(
    mailbox: Mailbox,
    span: str,
    picture: TrafficPicture,
    standing: FleetStanding | None,
    symbol: Callable[[Agent], Symbol],
    unread: Callable[[str], int | None],
    usage: Mapping[str, AgentUsage],
    full_percent: float,
) -> Steps[OverviewModel]:
    """Yield, after some steps, everything to draw; agents and channels are sorted, the busiest first."""
    arranging = BackgroundWork(lambda: PairTable(picture.pairs))
    yield arranging
    agents: list[AgentLine] = []
    for number, line in enumerate(agent_lines(mailbox, picture, standing, symbol, unread, usage), 1):
        agents.append(line)
        if number % PER_STEP == 0:
            yield None
    sorting = BackgroundWork(lambda: tuple(sorted(agents, key=_busiest)))
    yield sorting
    yield OverviewModel(
        span=span,
        picture=picture,
        agents=sorting.found(),
        channels=channel_lines(mailbox, picture, standing),
        standing=standing,
        labels={channel.tag: mailbox.label(channel.tag) for channel in mailbox.channels()},
        pairs=arranging.found(),
        full_percent=full_percent,
    )


def agent_lines(
    mailbox: Mailbox,
    picture: TrafficPicture,
    standing: FleetStanding | None,
    symbol: Callable[[Agent], Symbol],
    unread: Callable[[str], int | None],
    usage: Mapping[str, AgentUsage],
) -> Iterator[AgentLine]:
    """Yield all agents, and all others that sent or read anything."""
    silent = (0,) * picture.bars.number
    traffic = {agent_traffic.name: agent_traffic for agent_traffic in picture.agents}
    for name in dict.fromkeys([*traffic, *(agent.session_id for agent in mailbox.roster)]):
        agent = mailbox.roster.get(name)
        known = agent is not None or name == PERSON
        yield AgentLine(
            traffic.get(name) or AgentTraffic(name, silent, silent),
            _symbol(name) if agent is None else symbol(agent),
            unread(name) if known else 0,
            standing.questions.get(name) if standing is not None else None,
            standing.of(name) if standing is not None else None,
            agent is not None and agent.status is Status.DEAD,
            usage.get(name),
        )


def channel_lines(mailbox: Mailbox, picture: TrafficPicture, standing: FleetStanding | None) -> tuple[ChannelLine, ...]:
    """Return all channels, the busiest first."""
    traffic = {channel.tag: channel for channel in picture.channels}
    known = {channel.tag: channel.unseen for channel in mailbox.channels()}
    lines = []
    for tag in dict.fromkeys([*traffic, *known]):
        channel_traffic = traffic.get(tag)
        sent = channel_traffic.sent if channel_traffic is not None else (0,) * picture.bars.number
        hot = standing.at(tag) if standing is not None else None
        lines.append(
            ChannelLine(
                tag, sent, channel_traffic.senders if channel_traffic is not None else 0, known.get(tag, 0), hot
            )
        )
    return tuple(sorted(lines, key=lambda line: (-sum(line.sent), line.key)))


def _symbol(name: str) -> Symbol:
    """Return the glyph of a party that is not an agent: the user, an unregistered name, or a reader without a name."""
    return YOU if name == PERSON else NEVER_SEEN if name == SOMEBODY else UNKNOWN_PARTY


def _busiest(line: AgentLine) -> tuple[int, int, bool, str]:
    return -line.traffic.all_sent, -line.traffic.all_read, line.is_over, line.key
