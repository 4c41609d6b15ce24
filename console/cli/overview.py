"""`signalbox overview`: the fleet's traffic over a span of time as text or JSON."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Annotated

import msgspec

from console.cli.agent_output import UsageRow, usage_row
from console.cli.document import JsonOutput
from console.cli.loading import Loaded, loaded_for_listing, moment_of
from console.cli.options import mailbox_options
from console.cli.plain import bold, columns, put
from console.cli.presences import Presences
from console.overview.model import AgentLine, OverviewModel, model_steps
from console.overview.text import TextSection, overview_text
from console.render.timestamps import iso_time
from console.state.unread_mail import unread_count
from console.words.agent_words import presence_symbol, state_words
from mailstore.overview.bars import SPANS, TimeBars, bars_of, bars_since
from mailstore.overview.counting import traffic_picture
from mailstore.overview.picture import Median
from mailstore.overview.standing import standing
from mailstore.queries.concerns import ConcernKind
from mailstore.records.protocol import PERSON
from mailstore.steps import at_once


class MedianRow(msgspec.Struct, frozen=True):
    """A median."""

    median_seconds: Annotated[float | None, "The median in seconds; null of no values."]
    number: Annotated[int, "How many values there are."]


class QuestionRow(msgspec.Struct, frozen=True):
    """An open question."""

    id: Annotated[str, "Its message."]
    since: Annotated[str | None, "When it was asked: ISO 8601; null if unknown."]


class AgentTrafficRow(msgspec.Struct, frozen=True):
    """An agent, the user, or an unregistered name."""

    name: Annotated[str, "Its session id or name."]
    state: Annotated[str, "What it is doing; you for the user, unregistered for a name that is not in the roster."]
    sent: Annotated[int, "How many messages it sent."]
    read: Annotated[int, "How many it read."]
    sent_by_bar: Annotated[tuple[int, ...], "Those it sent, by bar of time."]
    read_by_bar: Annotated[tuple[int, ...], "Those it read, by bar of time."]
    unread: Annotated[int | None, "How many it has not read now; null where reads are not recorded."]
    oldest_question: Annotated[QuestionRow | None, "The oldest open question to it; null if there is none."]
    to_read: Annotated[MedianRow, "From sending to reading."]
    to_answer: Annotated[MedianRow, "From a message to its answer."]
    concern: Annotated[str | None, "Why it needs attention; null if it doesn't."]
    usage: Annotated[UsageRow | None, "What it has used in the last 24 hours; null if its program doesn't say it."]


class ChannelTrafficRow(msgspec.Struct, frozen=True):
    """A channel."""

    tag: Annotated[str, "Its full tag."]
    sent: Annotated[int, "How many messages were sent to it."]
    sent_by_bar: Annotated[tuple[int, ...], "Those by bar of time."]
    senders: Annotated[int, "How many parties sent them."]


class PairRow(msgspec.Struct, frozen=True, rename={"sender": "from", "recipient": "to"}):
    """How many messages a party addressed to another."""

    sender: Annotated[str, "Who sent them."]
    recipient: Annotated[str, "Whom they were addressed to."]
    messages: Annotated[int, "How many there are."]


class HotSpotRow(msgspec.Struct, frozen=True):
    """A concern, as `signalbox attention` lists it."""

    kind: Annotated[ConcernKind, "What kind of concern it is."]
    who: Annotated[str, "The agent, address or channel that it is about."]
    reason: Annotated[str, "Why it needs attention, in words."]
    since: Annotated[str | None, "Since when: ISO 8601; null if unknown."]
    message_id: Annotated[str | None, "The message that it is about; null if it is about none."]


class LeftOutRow(msgspec.Struct, frozen=True):
    """What is not counted."""

    undated: Annotated[int, "Messages without a readable time."]
    later: Annotated[int, "Messages dated after the last bar."]
    undated_reads: Annotated[int, "Read records without a time."]
    early_reads: Annotated[int, "Reads dated before their message."]
    early_answers: Annotated[int, "Answers dated before what they answer."]


class OverviewRow(msgspec.Struct, frozen=True):
    """The fleet's traffic over a span of time, in bars of equal length."""

    since: Annotated[str | None, "The start of the first bar: ISO 8601; null if unknown."]
    until: Annotated[str | None, "The end of the last one: ISO 8601; null if unknown."]
    moment: Annotated[str | None, "The time of the picture: ISO 8601; null if unknown."]
    bar_seconds: Annotated[int, "The length of a bar."]
    sent: Annotated[tuple[int, ...], "Messages sent, by bar."]
    read: Annotated[tuple[int, ...], "Messages read, by bar."]
    agents: Annotated[tuple[AgentTrafficRow, ...], "The agents and other parties, the busiest first."]
    channels: Annotated[tuple[ChannelTrafficRow, ...], "The channels, the busiest first."]
    pairs: Annotated[tuple[PairRow, ...], "Who writes to whom, the most messages first."]
    hot_spots: Annotated[tuple[HotSpotRow, ...], "What needs attention."]
    left_out: Annotated[LeftOutRow, "What is not counted."]


PICTURE = JsonOutput(OverviewRow)
OUTPUTS = (PICTURE,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since", metavar="TIME", default="1d", help=f"Span ({', '.join(SPANS)}) or time to begin at (default: 1d)"
    )
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the heartbeat, agents, channels, who writes to whom, and hot spots."""
    with loaded_for_listing(args) as mail:
        model, presences = overview_of(mail, args.since), Presences(mail)
        if args.json:
            PICTURE.put(_row(mail, model, presences))
        else:
            put("\n\n".join(map(_text, overview_text(model, args.since))))
    return 0


def _text(section: TextSection) -> str:
    title, *lines = section.lines
    return "\n".join([bold(title), *lines, *([columns(section.rows, section.heads)] if section.rows else [])])


def overview_of(mail: Loaded, since: str) -> OverviewModel:
    """Return the picture of a mailbox since a time; raises UsedWrongly for a text that is none."""
    from console.settings.config_file import load_config

    mailbox, presences = mail.mailbox, Presences(mail)
    start = None if since in SPANS else moment_of("--since", since, mail.now, is_past=True)
    offset = datetime.fromtimestamp(mail.now).astimezone().utcoffset()
    ahead = 0.0 if offset is None else offset.total_seconds()

    def bars(first: float) -> TimeBars:
        return bars_of(since, mail.now, first, ahead) if start is None else bars_since(start, mail.now, ahead)

    picture = traffic_picture(mailbox, mail.now, bars)
    limits = load_config().config.attention.limits()
    stands = standing(mailbox, mail.now, limits, presences.usage)
    steps = model_steps(
        mailbox,
        since,
        picture,
        stands,
        lambda agent: presence_symbol(agent, presences.of(agent)),
        lambda name: unread_count(mail.store, mailbox, name),
        presences.usage,
        limits.context_percent,
    )
    [model] = at_once(steps)
    return model


def _row(mail: Loaded, model: OverviewModel, presences: Presences) -> OverviewRow:
    picture = model.picture
    left, bars = picture.left_out, picture.bars
    hot = model.standing.hot if model.standing is not None else ()
    return OverviewRow(
        since=iso_time(bars.start),
        until=iso_time(bars.end),
        moment=iso_time(picture.moment),
        bar_seconds=int(bars.length),
        sent=picture.sent,
        read=picture.read,
        agents=tuple(_agent(mail, line, presences) for line in model.agents),
        channels=tuple(
            ChannelTrafficRow(channel.key, sum(channel.sent), channel.sent, channel.senders)
            for channel in model.channels
        ),
        pairs=tuple(PairRow(pair.sender, pair.recipient, pair.number) for pair in picture.pairs),
        hot_spots=tuple(
            HotSpotRow(concern.kind, concern.who, concern.reason, iso_time(concern.since), concern.message_id)
            for concern in (spot.concern for spot in hot)
        ),
        left_out=LeftOutRow(left.undated, left.later, left.undated_reads, left.early_reads, left.early_answers),
    )


def _agent(mail: Loaded, line: AgentLine, presences: Presences) -> AgentTrafficRow:
    agent = mail.mailbox.roster.get(line.key)
    state = "you" if line.key == PERSON else "unregistered"
    asked, traffic = line.asked, line.traffic
    return AgentTrafficRow(
        name=line.key,
        state=state if agent is None else state_words(presences.of(agent)),
        sent=traffic.all_sent,
        read=traffic.all_read,
        sent_by_bar=traffic.sent,
        read_by_bar=traffic.read,
        unread=line.unread,
        oldest_question=None if asked is None else QuestionRow(asked.message_id, iso_time(asked.since)),
        to_read=_median(traffic.to_read),
        to_answer=_median(traffic.to_answer),
        concern=None if line.hot is None else line.hot.concern.reason,
        usage=usage_row(line.usage),
    )


def _median(median: Median) -> MedianRow:
    return MedianRow(median.seconds, median.number)
