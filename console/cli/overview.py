"""`signalbox overview`: the fleet's traffic over a span of time as text or JSON."""

from __future__ import annotations

import argparse
from datetime import datetime

from console.cli.agent_output import usage_row
from console.cli.document import JsonOutput
from console.cli.loading import Loaded, loaded_for_listing, moment_of
from console.cli.options import mailbox_options
from console.cli.overview_output import (
    AgentTrafficRow,
    ChannelTrafficRow,
    HotSpotRow,
    LeftOutRow,
    MedianRow,
    OverviewRow,
    PairRow,
    QuestionRow,
)
from console.cli.plain import bold, columns, put
from console.cli.presences import Presences
from console.overview.model import AgentLine, OverviewModel, model_steps
from console.overview.text import TextSection, overview_text
from console.render.timestamps import iso_time
from console.state.unread_mail import unread_count
from console.words.agent_presence import presence_symbol, state_words
from mailstore.overview.bars import SPANS, TimeBars, bars_of, bars_since
from mailstore.overview.counting import traffic_picture
from mailstore.overview.picture import Median
from mailstore.overview.standing import standing
from mailstore.records.protocol import PERSON
from mailstore.steps import at_once

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
